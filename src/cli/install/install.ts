/**
 * `lockstep install`, `status` and `uninstall`. Each returns its exit code: 0 done, 1 not. What is
 * made is the manifest of `deploy/`, object for object.
 */
import { manifest, manifestYaml } from '../../deploy/manifest.ts';
import type { Installed } from '../../deploy/settings.ts';
import { NAMESPACES } from '../../kube/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kube/custom-resource-definition.ts';
import type { Resource } from '../../kube/resource.ts';
import { isReason } from '../../kube/status.ts';
import type { Client, ObjectKey } from '../../runtime/client.ts';
import { type Clock, sleep } from '../../runtime/ports/clock.ts';
import { type Finding, type HealthOptions, installationHealth } from './health.ts';
import { FIELD_MANAGER, keyOf, titleOf } from './objects.ts';
import type { InstallOptions } from './options.ts';
import { preflight } from './preflight.ts';

export interface CommandContext {
  readonly client: Client;
  readonly serverVersion: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Lines for standard output and standard error. */
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
}

const EXIT_FAILURE = 1;
const POLL_MS = 1_000;

/** The manifest as text, for which no cluster is asked. */
export function installationYaml({ settings }: InstallOptions): string {
  return manifestYaml(manifest(settings));
}

export async function install(context: CommandContext, options: InstallOptions): Promise<number> {
  const { client, signal, print, warn } = context;
  const objects = manifest(options.settings);
  const found = await preflight({ ...context, objects, replaceCrd: options.replaceCrd });
  for (const line of found.warnings) warn(`warning: ${line}`);
  for (const line of found.problems) warn(line);
  if (found.problems.length > 0) return EXIT_FAILURE;
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

/** Prints how everything is. */
export async function status(context: CommandContext, options: InstallOptions): Promise<number> {
  const objects = manifest(options.settings);
  const findings = await installationHealth(healthOf(context, options, objects));
  for (const finding of findings) {
    context.print(finding.problem === undefined ? `${finding.part}: ok` : lineOf(finding));
  }
  return findings.some(({ problem }) => problem !== undefined) ? EXIT_FAILURE : 0;
}

/** Removes all but the definition of JobSet, with which every JobSet would go. */
export async function uninstall(
  context: CommandContext,
  options: InstallOptions & { readonly deleteJobSets: boolean },
): Promise<number> {
  const { client, signal, print } = context;
  // In reverse: first nobody is asked about JobSets any more, and the namespace goes last.
  for (const { of, object } of manifest(options.settings).toReversed()) {
    const isDefinition = of.kind === CUSTOM_RESOURCE_DEFINITIONS.kind;
    if (isDefinition && !options.deleteJobSets) {
      print(`${titleOf(object)} stays, with its JobSets; --delete-jobsets removes both`);
      continue;
    }
    if (options.dryRun) {
      print(`${titleOf(object)} would be deleted`);
      continue;
    }
    try {
      await client.delete(of, keyOf(object), { propagationPolicy: 'Background', signal });
      print(`${titleOf(object)} deleted`);
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
  return options.dryRun ? 0 : untilGone(context, options);
}

/**
 * The end of a namespace takes some seconds, and that of the definition as long as its JobSets need to
 * go; until then nothing could be installed again.
 */
async function untilGone(
  { client, clock, signal, print, warn }: CommandContext,
  { settings, timeoutMs, deleteJobSets }: InstallOptions & { readonly deleteJobSets: boolean },
): Promise<number> {
  const slow = deleteJobSets ? [NAMESPACES, CUSTOM_RESOURCE_DEFINITIONS] : [NAMESPACES];
  const awaited = manifest(settings).filter(({ of }) => slow.some(({ kind }) => kind === of.kind));
  const deadlineMs = clock.monotonic() + timeoutMs;
  for (const { of, object } of awaited) {
    while (await isThere(client, of, keyOf(object), signal)) {
      if (clock.monotonic() >= deadlineMs) {
        warn(`${titleOf(object)} is still being deleted after ${timeoutMs / 1000} s`);
        return EXIT_FAILURE;
      }
      await sleep(clock, POLL_MS, signal);
    }
  }
  print('Lockstep is gone');
  return 0;
}

async function isThere(
  client: Client,
  of: Resource,
  at: ObjectKey,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.get(of, at, { signal });
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return false;
    throw error;
  }
}

function healthOf(
  { client, clock, signal }: CommandContext,
  { settings }: InstallOptions,
  objects: readonly Installed[],
): HealthOptions {
  return { client, settings, objects, nowMs: clock.now(), signal };
}

function lineOf({ part, problem = '' }: Finding): string {
  return `${part}: ${problem}`;
}
