/** The flags of `lockstep install` and `uninstall`. */
import { defaultSettings, type InstallationSettings, memoryFor } from '../../deploy/settings.ts';
import { AGENT_CHANNELS } from '../../jobset/injection/agent-hub.ts';
import { dns1123LabelErrors } from '../../kube/name-rules.ts';
import { compareQuantities, parseQuantity } from '../../kube/quantity.ts';
import { MAX_NAMESPACES } from '../../operator/configuration/flag-values.ts';
import { HIGHEST_MAX_STREAMS } from '../../operator/configuration/stream-memory.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';

/** The texts of the flags as commander read them; each command has some of them. */
export interface InstallFlags extends ConnectionFlags {
  readonly namespace: string;
  readonly operatorImage?: string;
  readonly agentImage?: string;
  readonly agentChannel?: string;
  readonly agentRights?: boolean;
  readonly maxStreams?: string;
  readonly operatorMemory?: string;
  readonly webhooks?: string;
  readonly monitoring?: boolean;
  readonly networkPolicy?: boolean;
  readonly watchNamespace?: readonly string[];
  readonly timeout?: string;
  readonly replaceCrd?: boolean;
  readonly dryRun?: boolean;
  readonly output?: string;
}

export interface InstallOptions {
  readonly settings: InstallationSettings;
  readonly connection: ConnectionFlags;
  readonly timeoutMs: number;
  readonly replaceCrd: boolean;
  readonly dryRun: boolean;
  /** Print the manifest and do nothing else. */
  readonly output: 'yaml' | undefined;
}

const MAX_TIMEOUT_SECONDS = 3_600;

/** The options, or one line for each wrong flag: its name, its value and what is allowed. */
export function parseInstallFlags(
  flags: InstallFlags,
  version: string,
): { readonly options: InstallOptions } | { readonly errors: readonly string[] } {
  const { namespace, webhooks = 'on', timeout = '120', output } = flags;
  const watchNamespaces = [...new Set(flags.watchNamespace)];
  const seconds = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  const defaults = defaultSettings(version);
  const { maxStreams = `${defaults.maxStreams}` } = flags;
  const streams = /^\d{1,9}$/.test(maxStreams) ? Number(maxStreams) : 0;
  const { operatorMemory = memoryFor(streams) } = flags;
  const { agentChannel = defaults.agentChannel } = flags;
  const channel = AGENT_CHANNELS.find((one) => one === agentChannel);
  const images = [
    ['--operator-image', flags.operatorImage],
    ['--agent-image', flags.agentImage],
  ] as const;
  const errors = [
    ...dns1123LabelErrors(namespace).map((why) => `--namespace is "${namespace}": ${why}`),
    ...watchNamespaces.flatMap((watched) =>
      dns1123LabelErrors(watched).map((why) => `--watch-namespace is "${watched}": ${why}`),
    ),
    ...(watchNamespaces.length <= MAX_NAMESPACES
      ? []
      : [`--watch-namespace names ${watchNamespaces.length}, allowed are ${MAX_NAMESPACES}`]),
    ...images.flatMap(([flag, image]) =>
      image === undefined || /^\S+$/.test(image)
        ? []
        : [`${flag} is "${image}", allowed is the name of an image`],
    ),
    ...(channel === undefined
      ? [`--agent-channel is "${agentChannel}", allowed are ${AGENT_CHANNELS.join(', ')}`]
      : []),
    ...(streams >= 1 && streams <= HIGHEST_MAX_STREAMS
      ? memoryErrors(operatorMemory, streams)
      : [`--max-streams is "${maxStreams}", allowed are 1 to ${HIGHEST_MAX_STREAMS}`]),
    ...(webhooks === 'on' || webhooks === 'off'
      ? []
      : [`--webhooks is "${webhooks}", allowed are on, off`]),
    ...(seconds >= 1 && seconds <= MAX_TIMEOUT_SECONDS
      ? []
      : [`--timeout is "${timeout}", allowed are seconds from 1 to ${MAX_TIMEOUT_SECONDS}`]),
    ...(output === undefined || output === 'yaml'
      ? []
      : [`--output is "${output}", allowed is yaml`]),
  ];
  if (errors.length > 0 || channel === undefined) return { errors };
  const options: InstallOptions = {
    settings: {
      ...defaults,
      namespace,
      operatorImage: flags.operatorImage ?? defaults.operatorImage,
      agentImage: flags.agentImage ?? defaults.agentImage,
      agentChannel: channel,
      agentRights: flags.agentRights === true,
      maxStreams: streams,
      operatorMemory,
      webhooks: webhooks === 'on',
      monitoring: flags.monitoring === true,
      networkPolicy: flags.networkPolicy === true,
      watchNamespaces,
    },
    connection: { kubeconfig: flags.kubeconfig, context: flags.context },
    timeoutMs: seconds * 1000,
    replaceCrd: flags.replaceCrd === true,
    dryRun: flags.dryRun === true,
    output: output === 'yaml' ? output : undefined,
  };
  return { options };
}

function memoryErrors(text: string, streams: number): readonly string[] {
  const least = memoryFor(streams);
  const given = parseQuantity(text);
  const needed = parseQuantity(least);
  if (given !== undefined && needed !== undefined && compareQuantities(given, needed) >= 0)
    return [];
  return [`--operator-memory is "${text}", allowed is ${least} or more with ${streams} streams`];
}
