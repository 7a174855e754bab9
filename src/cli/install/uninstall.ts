/**
 * `lockstep uninstall`: removes objects with our labels, and none that only have such names. The
 * definition of JobSet stays, with the JobSets, unless they are to go too.
 */

import type { KubeObject } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { ENDPOINT_SLICES } from '@lockstep/kube/objects/endpoint-slice.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { someOf } from '@lockstep/kube/runtime/client/pages.ts';
import { unlessGone, unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import type { InstallationSettings, Installed } from '../../deploy/settings.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { HUB_AUTHORITIES_NAME } from '../../jobset/names.ts';
import {
  HUB_AUTHORITIES_SELECTOR,
  HUB_SECRET_NAME,
  HUB_SERVICE_NAME,
  ONLY_MANAGED_LEASE,
  SETTINGS_RECORD_NAME,
} from '../../operator/configuration/object-names.ts';
import { settingValues } from '../../operator/configuration/setting-values.ts';
import type { CommandContext } from './command-context.ts';
import { confinedTo, EXIT_FAILURE, isRefused, POLL_MS } from './install.ts';
import { fromArguments } from './kept-objects.ts';
import { titleOf } from './objects.ts';
import type { InstallOptions } from './options.ts';
import { isOwn, readInstalled, remove } from './removal.ts';
import { liveConfiguration } from './stored-settings.ts';

export interface UninstallOptions extends InstallOptions {
  readonly deleteJobSets: boolean;
}

/** Returns the exit code: 0 it is gone, or would be; 1 something is still being deleted. */
export async function uninstall(
  context: CommandContext,
  options: UninstallOptions,
): Promise<number> {
  const { print } = context;
  if (await isRefused(context, options)) return EXIT_FAILURE;
  const { dryRun, deleteJobSets } = options;
  const removed: Installed[] = [];
  // In reverse order: the webhooks go first, so that JobSets stay usable, and the namespace last.
  const watchNamespaces = await confinedTo(context);
  const configuration = await liveConfiguration(context, options.settings.namespace);
  const isOnlyManaged = await runsBesideUpstream(context, options);
  // Beside upstream's controller the definition has JobSets of both.
  const definition = !isOnlyManaged;
  const settings = { ...options.settings, configuration, watchNamespaces, definition };
  for (const installed of manifest(settings).toReversed()) {
    const { of, object } = installed;
    const isDefinition = of.kind === CUSTOM_RESOURCE_DEFINITIONS.kind;
    if (isDefinition && !deleteJobSets) {
      const found = await readInstalled(context, installed);
      if (found === undefined || !isOwn(installed, found)) continue;
      const count = await countJobSets(context);
      print(`${titleOf(object)} stays, with ${count}; --delete-jobsets removes both`);
      continue;
    }
    const along = isDefinition ? `, with ${await countJobSets(context)}` : '';
    const removal = await remove(context, installed, { dryRun, along });
    if (removal === 'Removed') removed.push(installed);
    const isLeft = removal === 'NotOurs' && of.kind === NAMESPACES.kind;
    if (isLeft && removed.length > 0 && !dryRun) {
      await removeWhatOperatorMade(context, settings, isOnlyManaged);
    }
  }
  if (removed.length === 0) print('Lockstep is not installed');
  await sayWhatStays(context);
  return options.dryRun || removed.length === 0 ? 0 : untilGone(context, options, removed);
}

async function runsBesideUpstream(
  { client, signal }: CommandContext,
  { settings: { namespace } }: InstallOptions,
): Promise<boolean> {
  const get = client.get(DEPLOYMENTS, { namespace, name: OPERATOR_NAME }, { signal });
  return fromArguments(await unlessGone(get)).onlyManaged;
}

/** These would go with a namespace of ours. */
async function removeWhatOperatorMade(
  { client, signal }: CommandContext,
  { namespace, configuration }: InstallationSettings,
  isOnlyManaged: boolean,
): Promise<void> {
  const { webhookSecretName, leaderElectionId } = settingValues(configuration);
  const made: readonly (readonly [Resource, string])[] = [
    [SECRETS, webhookSecretName],
    [SECRETS, HUB_SECRET_NAME],
    [ENDPOINT_SLICES, HUB_SERVICE_NAME],
    [LEASES, isOnlyManaged ? ONLY_MANAGED_LEASE : leaderElectionId],
    [CONFIG_MAPS, SETTINGS_RECORD_NAME],
  ];
  for (const [of, name] of made)
    await unlessGone(client.delete(of, { namespace, name }, { signal }));
}

/** These are in users' namespaces, where groups run on and may meet the next installation. */
async function sayWhatStays({ client, signal, print }: CommandContext): Promise<void> {
  const selected = { labelSelector: HUB_AUTHORITIES_SELECTOR, signal };
  const all = counted('namespace', (page) =>
    client.listMetadata(CONFIG_MAPS, { ...selected, ...page }),
  );
  const count = await unlessRefused(all, 'Forbidden');
  if (count === 'no namespaces') return;
  const where = count === undefined ? '' : ` in ${count}`;
  print(
    `ConfigMap ${HUB_AUTHORITIES_NAME} stays${where}, so that running groups find the hub of the next ` +
      `installation; to remove: kubectl delete configmaps --all-namespaces -l ${HUB_AUTHORITIES_SELECTOR} ` +
      `--field-selector metadata.name=${HUB_AUTHORITIES_NAME}`,
  );
}

/**
 * The namespace ends within seconds, the definition after its JobSets have gone; until then nothing
 * could be installed again.
 */
async function untilGone(
  context: CommandContext,
  { timeoutMs }: InstallOptions,
  removed: readonly Installed[],
): Promise<number> {
  const { clock, signal, print, warn } = context;
  const slow = [NAMESPACES.kind, CUSTOM_RESOURCE_DEFINITIONS.kind];
  const deadlineMs = clock.monotonic() + timeoutMs;
  for (const installed of removed.filter(({ of }) => slow.includes(of.kind))) {
    while ((await readInstalled(context, installed)) !== undefined) {
      if (clock.monotonic() >= deadlineMs) {
        warn(`${titleOf(installed.object)} is still being deleted after ${timeoutMs / 1000} s`);
        return EXIT_FAILURE;
      }
      await sleep(clock, POLL_MS, signal);
    }
  }
  print('Lockstep is gone');
  return 0;
}

/** `no JobSets`, `1 JobSet`, `7 JobSets`. */
async function countJobSets({ client, signal }: CommandContext): Promise<string> {
  const all = counted('JobSet', (page) => client.listMetadata(JOBSETS, { ...page, signal }));
  // A definition that is not served yet has no JobSets.
  return (await unlessGone(all)) ?? 'no JobSets';
}

/**
 * How many objects there are, up to a bound: with a selector, an API server does not say how many
 * are left after a page.
 */
async function counted(
  noun: string,
  read: Parameters<typeof someOf<KubeObject, null>>[0],
): Promise<string> {
  const { items, isAll } = await someOf(read, () => null);
  const number = items.length === 0 ? 'no' : String(items.length);
  return `${isAll ? '' : 'at least '}${number} ${noun}${items.length === 1 ? '' : 's'}`;
}
