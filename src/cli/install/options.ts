/** The flags of `lockstep install` and `uninstall`. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { compareQuantities, parseQuantity } from '@lockstep/kube/quantity.ts';
import { defaultSettings, type InstallationSettings, memoryFor } from '../../deploy/settings.ts';
import { MAX_NAMESPACES } from '../../operator/configuration/flag-values.ts';
import { defaultAgentImage } from '../../operator/configuration/object-names.ts';
import { Problem, type SettingType } from '../../operator/configuration/setting-types.ts';
import {
  type GivenSettings,
  type SettingName,
  settingValues,
} from '../../operator/configuration/setting-values.ts';
import { Arguments, namespaceErrors, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { readGiven } from './given-file.ts';
import { INSTALL_SETTINGS } from './install-settings.ts';

type SettingFlags = {
  readonly [K in SettingName]?: NonNullable<GivenSettings[K]> extends boolean ? boolean : string;
};

/** The texts of the flags as commander read them; each command has some of them. */
export interface InstallFlags extends ConnectionFlags, SettingFlags {
  readonly namespace: string;
  readonly operatorImage?: string;
  readonly registry?: string;
  readonly imagePullSecret?: readonly string[] | false;
  readonly operatorMemory?: string;
  readonly webhooks?: string;
  readonly monitoring?: boolean;
  readonly networkPolicy?: boolean;
  readonly onlyManaged?: boolean;
  readonly watchNamespace?: readonly string[] | false;
  readonly timeout?: string;
  readonly replaceCrd?: boolean;
  readonly dryRun?: boolean;
  readonly output?: string;
  readonly config?: string;
  readonly reset?: boolean;
}

export interface InstallOptions {
  /** Without what the cluster has. */
  readonly settings: InstallationSettings;
  readonly given: GivenNow;
  readonly connection: ConnectionFlags;
  readonly timeoutMs: number;
  readonly replaceCrd: boolean;
  readonly dryRun: boolean;
  /** Print the manifest and do nothing else. */
  readonly output: 'yaml' | undefined;
}

/** What decides which objects there are, and their images, if flags say it. */
export type GivenObjects = Partial<
  Pick<
    InstallationSettings,
    | 'operatorImage'
    | 'imagePullSecrets'
    | 'webhooks'
    | 'onlyManaged'
    | 'watchNamespaces'
    | 'networkPolicy'
    | 'monitoring'
  >
>;

/** What this call says of settings that may also come from the cluster. */
interface GivenNow {
  /** What `--config` brings. */
  readonly file: GivenSettings | undefined;
  readonly flagged: GivenSettings;
  readonly objects: GivenObjects;
  /** Undefined: it follows the number of streams. */
  readonly operatorMemory: string | undefined;
  /** Whether earlier settings, and edits by hand, are dropped. */
  readonly isReset: boolean;
}

export const WEBHOOKS_ARE_NEEDED =
  '--webhooks is "off", expected "on" with --only-managed: without webhooks nothing keeps the restart mode, as upstream\'s definition drops it from the status';
const MAX_PULL_SECRETS = 16;
/** A host, its port and a path, with a slash at the end. */
const REGISTRY = /^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(\/[A-Za-z0-9._-]+)*\/$/;

export function parseInstallFlags(
  flags: InstallFlags,
  version: string,
  readFile: (path: string) => string = () => '',
): Parsed<InstallOptions> {
  const { namespace } = flags;
  const watchNamespaces = [...new Set(flags.watchNamespace || [])];
  const defaults = defaultSettings(version);
  const { flagged: bySettings, errors: settingErrors } = givenSettings(flags);
  const read = flags.config === undefined ? undefined : readGiven(flags.config, readFile);
  const file = read !== undefined && 'given' in read ? read.given : undefined;
  const fileErrors = read !== undefined && 'problems' in read ? read.problems : [];
  const registry = flags.registry === undefined ? '' : `${flags.registry}/`;
  const { agentImage = defaultAgentImage(version) } = bySettings;
  const hasImage = bySettings.agentImage === undefined && file?.agentImage !== undefined;
  const flagged =
    registry === '' || hasImage ? bySettings : { ...bySettings, agentImage: registry + agentImage };
  const imagePullSecrets = [...new Set(flags.imagePullSecret || [])];
  const configuration = { ...file, ...flagged };
  const least = memoryFor(configuration);
  const { operatorMemory = least, operatorImage = defaults.operatorImage } = flags;
  const given = new Arguments([
    ...namespaceErrors(namespace),
    ...watchNamespaces.flatMap((watched) => namespaceErrors(watched, '--watch-namespace')),
    ...(watchNamespaces.length <= MAX_NAMESPACES
      ? []
      : [`--watch-namespace names ${watchNamespaces.length}, allowed are ${MAX_NAMESPACES}`]),
    ...(/^\S+$/.test(operatorImage)
      ? []
      : [`--operator-image is "${operatorImage}", allowed is the name of an image`]),
    ...(registry === '' || REGISTRY.test(registry)
      ? []
      : [
          `--registry is "${flags.registry}", allowed is a registry and perhaps a path, such as registry.example.com/mirror`,
        ]),
    ...imagePullSecrets.flatMap((name) =>
      dns1123SubdomainErrors(name).map((why) => `--image-pull-secret is "${name}": ${why}`),
    ),
    ...(imagePullSecrets.length <= MAX_PULL_SECRETS
      ? []
      : [`--image-pull-secret names ${imagePullSecrets.length}, allowed are ${MAX_PULL_SECRETS}`]),
    ...settingErrors,
    ...fileErrors.map((why) => `--config ${flags.config}: ${why}`),
    ...memoryErrors(operatorMemory, least, settingValues(configuration).maxStreams),
  ]);
  const webhooks = given.oneOf('--webhooks', flags.webhooks, ['on', 'off']);
  if (webhooks === 'off' && flags.onlyManaged === true) given.refuse(WEBHOOKS_ARE_NEEDED);
  const timeoutMs = given.timeout(flags.timeout ?? '120', 'seconds') * 1000;
  const output = given.oneOf('--output', flags.output, ['yaml']);
  const isImageGiven = registry !== '' || flags.operatorImage !== undefined;
  const objects = defined({
    operatorImage: isImageGiven ? registry + operatorImage : undefined,
    imagePullSecrets: flags.imagePullSecret === undefined ? undefined : imagePullSecrets,
    webhooks: webhooks === undefined ? undefined : webhooks === 'on',
    onlyManaged: flags.onlyManaged,
    watchNamespaces: flags.watchNamespace === undefined ? undefined : watchNamespaces,
    networkPolicy: flags.networkPolicy,
    monitoring: flags.monitoring,
  });
  const options: InstallOptions = {
    settings: {
      ...defaults,
      ...objects,
      namespace,
      configuration,
      operatorMemory,
      definition: flags.onlyManaged !== true || flags.replaceCrd === true,
    },
    given: {
      file,
      flagged,
      objects,
      operatorMemory: flags.operatorMemory,
      isReset: flags.reset === true,
    },
    connection: { kubeconfig: flags.kubeconfig, context: flags.context },
    timeoutMs,
    replaceCrd: flags.replaceCrd === true,
    dryRun: flags.dryRun === true,
    output,
  };
  return given.parsed(options);
}

/** The settings of the operator that flags give. A wrong one counts as absent. */
function givenSettings(flags: SettingFlags): {
  readonly flagged: GivenSettings;
  readonly errors: readonly string[];
} {
  const given: (readonly [SettingName, unknown])[] = [];
  const errors: string[] = [];
  for (const [name, { flag, type }] of INSTALL_SETTINGS) {
    const text = flags[name];
    if (text === undefined) continue;
    const raw = typeof text === 'string' ? rawOf(type, text) : text;
    if (raw instanceof Problem) errors.push(`${flag} is "${text}": ${raw.text}`);
    else given.push([name, raw]);
  }
  // Each type has read its own text.
  return { flagged: Object.fromEntries(given) as GivenSettings, errors };
}

function rawOf(type: SettingType, text: string): unknown {
  const isRight = type.choices === undefined || type.choices.includes(text);
  return isRight ? type.fromText(text) : new Problem(`expected ${type.expected}`);
}

export function memoryErrors(text: string, least: string, streams: number): readonly string[] {
  const given = parseQuantity(text);
  const needed = parseQuantity(least);
  if (given !== undefined && needed !== undefined && compareQuantities(given, needed) >= 0)
    return [];
  return [`--operator-memory is "${text}", allowed is ${least} or more with ${streams} streams`];
}
