/**
 * What an installation keeps of the one that the cluster has, where this call has no flag about it:
 * without `--only-managed` of the first call, a second one would take over the JobSets of others.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { ConfigMap } from '@lockstep/kube/objects/core.ts';
import { compareQuantities, parseQuantity } from '@lockstep/kube/quantity.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  NETWORK_POLICIES,
  SERVICE_MONITORS,
} from '../../deploy/kinds.ts';
import {
  NAMESPACES_ARGUMENT,
  ONLY_MANAGED,
  WEBHOOKS_OFF,
} from '../../deploy/operator-deployment.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import {
  defaultOperatorImage,
  type InstallationSettings,
  memoryFor,
} from '../../deploy/settings.ts';
import { defaultAgentImage } from '../../operator/configuration/object-names.ts';
import type { CommandContext } from './command-context.ts';
import { isOurs } from './objects.ts';
import type { GivenObjects, InstallOptions } from './options.ts';
import { liveSettings, recordIn, VERSION_ANNOTATION } from './stored-settings.ts';

/** What the cluster has. */
export interface LiveObjects {
  readonly operator: Deployment;
  readonly networkPolicy: boolean;
  readonly monitoring: boolean;
}

/** Undefined if nothing is installed. */
export async function readLiveObjects(
  context: CommandContext,
  namespace: string,
): Promise<LiveObjects | undefined> {
  const { client, signal } = context;
  const at = { namespace, name: OPERATOR_NAME };
  const operator = await unlessGone(client.get(DEPLOYMENTS, at, { signal }));
  if (operator === undefined) return undefined;
  const isThere = async (of: Resource): Promise<boolean> => {
    const found = await unlessGone(client.get(of, at, { signal }));
    return found !== undefined && isOurs(found);
  };
  const [networkPolicy, monitoring] = await Promise.all([
    isThere(NETWORK_POLICIES),
    isThere(SERVICE_MONITORS),
  ]);
  return { operator, networkPolicy, monitoring };
}

/** What the arguments of an operator say about its installation. */
export function fromArguments(
  operator: Deployment | undefined,
): Pick<InstallationSettings, 'webhooks' | 'onlyManaged' | 'watchNamespaces'> {
  const args = containerOf(operator)?.args ?? [];
  const confined = args.find((argument) => argument.startsWith(NAMESPACES_ARGUMENT));
  return {
    webhooks: !args.includes(WEBHOOKS_OFF),
    onlyManaged: args.includes(ONLY_MANAGED),
    watchNamespaces: confined?.slice(NAMESPACES_ARGUMENT.length).split(',') ?? [],
  };
}

/** The options with what stays, and lines for the user; with `--reset` nothing stays. */
export function withKeptObjects(
  options: InstallOptions,
  live: LiveObjects | undefined,
  map: ConfigMap | undefined,
): { readonly options: InstallOptions; readonly lines: readonly string[] } {
  if (live === undefined) return { options, lines: [] };
  const { settings, given } = options;
  const pod = live.operator.spec?.template?.spec;
  const byArguments = fromArguments(live.operator);
  const found: GivenObjects = {
    ...byArguments,
    // Somebody may have edited the file by hand; webhooks and the definition are to follow.
    onlyManaged: byArguments.onlyManaged || liveSettings(map)?.onlyManaged === true,
    imagePullSecrets: (pod?.imagePullSecrets ?? []).map(({ name = '' }) => name),
    networkPolicy: live.networkPolicy,
    monitoring: live.monitoring,
  };
  const kept = FLAGS.flatMap(([name, flag]) => {
    if (given.objects[name] !== undefined || deepEqual(found[name], settings[name])) return [];
    return [{ name, text: `${flag}${wordsOf(found[name])}` }];
  });
  const memory = keptMemory(options, live, map);
  const texts = [
    ...kept.map(({ text }) => text),
    ...(memory === undefined ? [] : [`--operator-memory ${memory}`]),
  ];
  if (given.isReset) return { options, lines: texts.map((text) => `dropped: ${printable(text)}`) };
  const images = keptImages(options, live, map);
  const objects = {
    ...settings,
    ...Object.fromEntries(kept.map(({ name }) => [name, found[name]])),
    operatorImage: images.operatorImage,
  };
  const definition = !objects.onlyManaged || options.replaceCrd;
  return {
    options: {
      ...options,
      settings: { ...objects, definition },
      given: {
        ...given,
        flagged: { ...images.agent, ...given.flagged },
        operatorMemory: memory ?? given.operatorMemory,
      },
    },
    lines: [
      ...texts.map((text) => `kept: ${printable(text)} (set by an earlier installation)`),
      ...images.lines,
    ],
  };
}

const FLAGS = [
  ['webhooks', '--webhooks off'],
  ['onlyManaged', '--only-managed'],
  ['watchNamespaces', '--watch-namespace'],
  ['networkPolicy', '--network-policy'],
  ['monitoring', '--monitoring'],
  ['imagePullSecrets', '--image-pull-secret'],
] as const satisfies readonly (readonly [keyof GivenObjects, string])[];

function wordsOf(value: unknown): string {
  return Array.isArray(value) ? ` ${value.join(' ')}` : '';
}

function containerOf(operator: Deployment | undefined) {
  return operator?.spec?.template?.spec?.containers?.[0];
}

/** A limit that does not follow from the number of streams, and suffices for the new one. */
function keptMemory(
  { given }: InstallOptions,
  { operator }: LiveObjects,
  map: ConfigMap | undefined,
): string | undefined {
  const text = containerOf(operator)?.resources?.limits?.['memory'] ?? '';
  const limit = parseQuantity(text);
  if (given.operatorMemory !== undefined || limit === undefined) return undefined;
  const before = liveSettings(map) ?? {};
  const after = { ...(given.file ?? before), ...given.flagged };
  const isMore = (settings: typeof before) => {
    const least = parseQuantity(memoryFor(settings));
    return least !== undefined && compareQuantities(limit, least) > 0;
  };
  return isMore(before) && isMore(after) ? text : undefined;
}

interface KeptImages {
  readonly operatorImage: string;
  readonly agent: { readonly agentImage?: string };
  readonly lines: readonly string[];
}

/** An image belongs to a version, and its registry to the cluster. */
function keptImages(
  { settings, given }: InstallOptions,
  { operator }: LiveObjects,
  map: ConfigMap | undefined,
): KeptImages {
  const { version, operatorImage } = settings;
  const isSameVersion = map?.metadata.annotations?.[VERSION_ANNOTATION] === version;
  const stays = (live: string, own: string): string => {
    if (isSameVersion) return live;
    const [name = ''] = own.split(':');
    const [path = ''] = live.split(/@|:(?!.*\/)/);
    return path.endsWith(`/${name}`) ? path.slice(0, -name.length) + own : own;
  };
  const ofOperator = containerOf(operator)?.image;
  const ofAgent = agentImageIn(operator) ?? imageOfFlag(map);
  const isOperatorGiven = given.objects.operatorImage !== undefined;
  const isAgentGiven = (given.flagged.agentImage ?? given.file?.agentImage) !== undefined;
  const images = {
    operator:
      isOperatorGiven || ofOperator === undefined
        ? operatorImage
        : stays(ofOperator, defaultOperatorImage(version)),
    agent:
      isAgentGiven || ofAgent === undefined
        ? undefined
        : stays(ofAgent, defaultAgentImage(version)),
  };
  const isAgentOwn = images.agent !== undefined && images.agent !== defaultAgentImage(version);
  const isKept = images.operator !== operatorImage;
  const isChanged = ofOperator !== undefined && ofOperator !== images.operator;
  return {
    operatorImage: images.operator,
    agent: isAgentOwn ? { agentImage: images.agent ?? '' } : {},
    lines: [
      ...(isChanged
        ? [`changed: image of the operator from ${printable(ofOperator)} to ${images.operator}`]
        : isKept
          ? [`kept: image of the operator ${printable(images.operator)}`]
          : []),
      ...(isAgentOwn && images.agent === ofAgent
        ? [`kept: agent.image ${printable(ofAgent ?? '')}`]
        : []),
    ],
  };
}

/** Edits by hand, and what a file has set, are kept like all settings. */
function imageOfFlag(map: ConfigMap | undefined): string | undefined {
  const live = liveSettings(map)?.agentImage;
  const record = recordIn(map);
  if (record === undefined) return live;
  return record.given.agentImage === undefined && record.installed.agentImage === live
    ? live
    : undefined;
}

const AGENT_IMAGE_ARGUMENT = '--agent-image=';

/** As a patch of Kustomize says it. */
function agentImageIn(operator: Deployment): string | undefined {
  const args = containerOf(operator)?.args ?? [];
  const found = args.find((argument) => argument.startsWith(AGENT_IMAGE_ARGUMENT));
  return found?.slice(AGENT_IMAGE_ARGUMENT.length);
}
