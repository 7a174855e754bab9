/** Brings the settings of an installation and the settings of the cluster together. */

import { CONFIG_MAPS, type ConfigMap } from '@lockstep/kube/objects/core.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { DEPLOYMENTS, type Deployment } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { CONFIGURATION_FILE } from '../../deploy/operator-deployment.ts';
import { type InstallationSettings, type Installed, memoryFor } from '../../deploy/settings.ts';
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import { configurationText } from '../../operator/configuration/configuration-text.ts';
import { parseFlags } from '../../operator/configuration/flags.ts';
import { CONFIGURATION_NAME } from '../../operator/configuration/object-names.ts';
import { type GivenSettings, settingValues } from '../../operator/configuration/setting-values.ts';
import type { CommandContext } from './command-context.ts';
import { planSettings, type SettingsRecord, type StoredSettings } from './kept-settings.ts';
import { type InstallOptions, memoryErrors, WEBHOOKS_ARE_NEEDED } from './options.ts';

/** What the last installation wrote, and what of it was asked for. */
const INSTALLED_ANNOTATION = 'lockstep/installed-configuration';
const GIVEN_ANNOTATION = 'lockstep/given-configuration';
/** The version that installed it, whose images the cluster has. */
export const VERSION_ANNOTATION = 'lockstep/installed-version';

interface Problems {
  readonly problems: readonly string[];
}

export interface SettledInstallation {
  readonly settings: InstallationSettings;
  /** The objects of these settings, with what the next installation is to know. */
  readonly objects: readonly Installed[];
  /** What is kept and what changes. */
  readonly lines: readonly string[];
}

/** The ConfigMap of the operator; undefined if there is none. */
export function readConfigMap(
  { client, signal }: CommandContext,
  namespace: string,
): Promise<ConfigMap | undefined> {
  return unlessGone(client.get(CONFIG_MAPS, { namespace, name: CONFIGURATION_NAME }, { signal }));
}

/** What the file of the cluster says; nothing if it cannot be read. */
export async function liveConfiguration(
  context: CommandContext,
  namespace: string,
): Promise<GivenSettings> {
  return liveSettings(await readConfigMap(context, namespace)) ?? {};
}

/** What the file of the ConfigMap says; undefined if it is wrong or absent. */
export function liveSettings(map: ConfigMap | undefined): GivenSettings | undefined {
  return settingsIn(map?.data?.[CONFIGURATION_FILE]);
}

/** The installation, or why there cannot be one; then nothing was applied. */
export function settle(
  { settings, given }: InstallOptions,
  map: ConfigMap | undefined,
): SettledInstallation | Problems {
  const read = given.isReset ? undefined : storedIn(map, settings.namespace);
  if (read !== undefined && 'problems' in read) return read;
  const { configuration, record, lines } = planSettings({ ...given, stored: read });
  const least = memoryFor(configuration);
  const { operatorMemory = least } = given;
  const settled = { ...settings, configuration, operatorMemory };
  const objects = manifest(settled).map((one) => withRecord(one, record, settings.version));
  const text = configurationText(configuration);
  const started = parseFlags(argumentsIn(objects), settings.version, () => text);
  if (settled.onlyManaged && !settled.webhooks) return { problems: [WEBHOOKS_ARE_NEEDED] };
  const problems = [
    ...memoryErrors(operatorMemory, least, settingValues(configuration).maxStreams),
    ...(started.kind === 'Error' ? [started.message] : []),
  ];
  return problems.length > 0 ? { problems } : { settings: settled, objects, lines };
}

function storedIn(
  map: ConfigMap | undefined,
  namespace: string,
): StoredSettings | Problems | undefined {
  if (map === undefined) return undefined;
  const live = readConfiguration(map.data?.[CONFIGURATION_FILE] ?? '');
  if ('problems' in live) {
    const where = `ConfigMap ${namespace}/${CONFIGURATION_NAME} is wrong`;
    const remedy = 'mend it with "kubectl edit", or drop its settings with --reset';
    return { problems: [...live.problems.map((why) => `${where}: ${why}`), remedy] };
  }
  return { live: live.given, record: recordIn(map) };
}

/** What the last installation wrote and what was given to it; undefined if it is unknown. */
export function recordIn(map: ConfigMap | undefined): SettingsRecord | undefined {
  const annotations = map?.metadata.annotations ?? {};
  const installed = settingsIn(annotations[INSTALLED_ANNOTATION]);
  return installed && { installed, given: settingsIn(annotations[GIVEN_ANNOTATION]) ?? {} };
}

/** What this version cannot read counts as absent. */
function settingsIn(text: string | undefined): GivenSettings | undefined {
  const read = text === undefined ? undefined : readConfiguration(text);
  return read !== undefined && 'given' in read ? read.given : undefined;
}

function withRecord(
  { of, object }: Installed,
  { installed, given }: SettingsRecord,
  version: string,
): Installed {
  const { metadata } = object;
  if (of.kind !== CONFIG_MAPS.kind || metadata.name !== CONFIGURATION_NAME) return { of, object };
  const annotations = {
    ...metadata.annotations,
    [INSTALLED_ANNOTATION]: configurationText(installed),
    [GIVEN_ANNOTATION]: configurationText(given),
    [VERSION_ANNOTATION]: version,
  };
  return { of, object: { ...object, metadata: { ...metadata, annotations } } };
}

/** With which the operator is going to read the file. */
function argumentsIn(objects: readonly Installed[]): readonly string[] {
  const found = objects.find(({ of }) => of.kind === DEPLOYMENTS.kind);
  const deployment: Deployment | undefined = found?.object;
  return deployment?.spec?.template?.spec?.containers?.[0]?.args ?? [];
}
