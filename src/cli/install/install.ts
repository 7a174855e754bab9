/**
 * `lockstep install`. Returns its exit code: 0 done, 1 not. The installed objects are exactly the
 * objects of `deploy/`.
 */

import { namespaceOf } from '@lockstep/kube/meta.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { groupResourceOf } from '@lockstep/kube/resource.ts';
import { unlessGone, unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { manifest, manifestYaml } from '../../deploy/manifest.ts';
import { CONFINED_NAME } from '../../deploy/permissions.ts';
import { INSTALLED_LABELS, type Installed } from '../../deploy/settings.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import type { CommandContext } from './command-context.ts';
import { type HealthFinding, type HealthOptions, installationHealth } from './health.ts';
import { readLiveObjects, withKeptObjects } from './kept-objects.ts';
import {
  FIELD_MANAGER,
  isOurDefinition,
  isOurs,
  keyOf,
  otherPlace,
  PART_OF,
  releaseOfHelm,
  titleOf,
} from './objects.ts';
import type { InstallOptions } from './options.ts';
import { preflight } from './preflight.ts';
import { remove } from './removal.ts';
import { readConfigMap, settle } from './stored-settings.ts';

export const EXIT_FAILURE = 1;
/** In the API server's version. */
export const EMBEDDED_VERSION_SUFFIX = '+lockstep';
const EMBEDDED =
  'this is the embedded cluster of "lockstep up", which runs its own operator, so there is nothing to install; "lockstep doctor" shows its state; for another cluster use --kubeconfig or --context';
export const POLL_MS = 1_000;

/** The manifest as text, without a look at a cluster. */
export function installationYaml(
  options: InstallOptions,
): { readonly yaml: string } | { readonly problems: readonly string[] } {
  const settled = settle(options, undefined);
  return 'problems' in settled ? settled : { yaml: manifestYaml(manifest(settled.settings)) };
}

export async function install(context: CommandContext, asked: InstallOptions): Promise<number> {
  const { client, signal, print, warn } = context;
  if (await isRefused(context, asked)) return EXIT_FAILURE;
  const { namespace } = asked.settings;
  const map = await readConfigMap(context, namespace);
  const kept = withKeptObjects(asked, await readLiveObjects(context, namespace), map);
  const given = await withOurDefinition(context, kept.options);
  const settled = settle(given, map);
  if ('problems' in settled) {
    for (const line of settled.problems) warn(line);
    return EXIT_FAILURE;
  }
  for (const line of [...kept.lines, ...settled.lines]) print(line);
  const options = { ...given, settings: settled.settings };
  const all = settled.objects;
  const others = await namespaceOfOthers(context, all);
  for (const one of others) print(`${titleOf(one.object)} exists already and stays unchanged`);
  const objects = all.filter((one) => !others.includes(one));
  const found = await preflight({
    ...context,
    objects,
    replaceCrd: options.replaceCrd,
    onlyManaged: options.settings.onlyManaged,
  });
  for (const line of found.warnings) warn(`warning: ${line}`);
  for (const line of found.problems) warn(line);
  if (found.problems.length > 0) return EXIT_FAILURE;
  for (const one of await leftOver(context, options)) await remove(context, one, options);
  const said = options.dryRun ? 'would be applied' : 'applied';
  for (const { of, object } of objects) {
    if (!options.dryRun) {
      const how = { fieldManager: FIELD_MANAGER, force: true } as const;
      await client.patch(of, keyOf(object), { type: 'apply', patch: object, ...how }, { signal });
    }
    print(`${titleOf(object)} ${said}`);
  }
  return options.dryRun ? 0 : untilHealthy(context, options, objects);
}

/** Beside another controller, our definition is brought up to date where it has replaced theirs. */
async function withOurDefinition(
  { client, signal }: CommandContext,
  options: InstallOptions,
): Promise<InstallOptions> {
  if (options.settings.definition) return options;
  const name = groupResourceOf(JOBSETS);
  const get = client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }, { signal });
  const crd = await unlessGone(get);
  const definition = crd !== undefined && isOurDefinition(crd);
  return { ...options, settings: { ...options.settings, definition } };
}

/**
 * Objects of an earlier installation that this one does not have: unanswered webhooks, a network
 * policy, those for Prometheus, rights in namespaces where the operator no longer acts.
 */
async function leftOver(
  context: CommandContext,
  { settings }: InstallOptions,
): Promise<readonly Installed[]> {
  const kept = new Set(manifest(settings).map(({ object }) => titleOf(object)));
  const watchNamespaces = await confinedTo(context);
  const all = manifest({
    ...settings,
    webhooks: true,
    networkPolicy: true,
    monitoring: true,
    watchNamespaces,
  });
  return all.filter(({ object }) => !kept.has(titleOf(object))).toReversed();
}

/** Namespaces with rights of a confined operator, of this installation or an earlier one. */
export async function confinedTo({ client, signal }: CommandContext): Promise<readonly string[]> {
  const labelSelector = `${PART_OF}=${INSTALLED_LABELS[PART_OF]}`;
  const namespaces = new Set<string>();
  for (const of of [ROLES, ROLE_BINDINGS]) {
    const { items } = await client.listMetadata(of, { labelSelector, signal });
    for (const { metadata } of items) {
      if (metadata.name === CONFINED_NAME) namespaces.add(namespaceOf(metadata));
    }
  }
  return [...namespaces];
}

/**
 * Whether Lockstep is in another namespace or a release of Helm, or the cluster belongs to
 * `lockstep up`, which brings its own operator. Reports the reason.
 */
export async function isRefused(
  { client, serverVersion, signal, warn }: CommandContext,
  { settings }: InstallOptions,
): Promise<boolean> {
  if (serverVersion.endsWith(EMBEDDED_VERSION_SUFFIX)) {
    warn(EMBEDDED);
    return true;
  }
  const problem =
    (await releaseOfHelm(client, signal)) ?? (await otherPlace(client, settings.namespace, signal));
  if (problem !== undefined) warn(problem);
  return problem !== undefined;
}

/** A namespace that existed before us may hold anything, so we neither label nor delete it. */
async function namespaceOfOthers(
  { client, signal }: CommandContext,
  objects: readonly Installed[],
): Promise<readonly Installed[]> {
  const [namespace] = objects.filter(({ of }) => of.kind === NAMESPACES.kind);
  if (namespace === undefined) return [];
  const get = client.get(NAMESPACES, keyOf(namespace.object), { signal });
  const found = await unlessRefused(get, 'NotFound', 'Forbidden');
  return found === undefined || isOurs(found) ? [] : [namespace];
}

async function untilHealthy(
  context: CommandContext,
  options: InstallOptions,
  objects: readonly Installed[],
): Promise<number> {
  const { clock, print, warn, signal } = context;
  const deadlineMs = clock.monotonic() + options.timeoutMs;
  let told = '';
  for (;;) {
    const findings = await installationHealth(healthOf(context, options, objects));
    const open = findings.filter(({ problem }) => problem !== undefined);
    if (open.length === 0) {
      print(`Lockstep ${options.settings.version} is ready`);
      return 0;
    }
    const lines = open.map(lineOf);
    if (clock.monotonic() >= deadlineMs) {
      warn(`not ready after ${options.timeoutMs / 1000} s:`);
      for (const line of lines) warn(`  ${line}`);
      return EXIT_FAILURE;
    }
    if (lines.join() !== told) print(`waiting for ${lines.join('; ')}`);
    told = lines.join();
    await sleep(clock, POLL_MS, signal);
  }
}

function healthOf(
  { client, clock, signal }: CommandContext,
  { settings }: InstallOptions,
  objects: readonly Installed[],
): HealthOptions {
  return { client, settings, objects, nowMs: clock.now(), signal };
}

function lineOf({ part, problem = '' }: HealthFinding): string {
  return `${part}: ${problem}`;
}
