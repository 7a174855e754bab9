/**
 * How the agents of a JobSet reach the operator. For the hub, an agent gets its address, its
 * authorities, and a token that identifies the Pod. Only the hub accepts the token, so the agent
 * needs no rights, and the Pod keeps its account. The authorities come twice: as of the Job's
 * creation, and in a file that follows their changes.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, EnvVar, Volume } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import {
  AGENT_CHANNEL,
  ENV_AGENT_CHANNEL,
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUDIENCE,
  HUB_AUTHORITIES_KEY,
  HUB_AUTHORITIES_NAME,
  HUB_TOKEN_DIRECTORY,
  HUB_TOKEN_VOLUME_NAME,
} from '../names.ts';

/**
 * `Hub` needs no rights. `API` is the API server, with the rights of the Pod's own account. `Auto`
 * is the hub, or the API server while the hub is unreachable.
 */
export const AGENT_CHANNELS = ['Hub', 'Auto', 'API'] as const;
export type AgentChannel = (typeof AGENT_CHANNELS)[number];

/** A hub that the operator serves. */
export interface ServedHub {
  /** `https://HOST:PORT` */
  readonly url: string;
  /** All possible authorities of the hub's certificate, as PEM. */
  readonly authorities: string;
  /** The channel of JobSets that do not choose one. */
  readonly channel: AgentChannel;
}

/** The settings of an agent that may use the hub. */
export interface HubAccess extends ServedHub {
  readonly channel: Exclude<AgentChannel, 'API'>;
}

/** Undefined: the agents of the JobSet use the API server alone. */
export function hubAccess(
  hub: ServedHub | undefined,
  annotations: StringMap | undefined,
): HubAccess | undefined {
  if (hub === undefined) return undefined;
  const channel = AGENT_CHANNELS.find((one) => one === annotations?.[AGENT_CHANNEL]) ?? hub.channel;
  return channel === 'API' ? undefined : { ...hub, channel };
}

/** Errors for a JobSet that asks for a hub although the operator serves none. */
export function hubErrors(
  annotations: StringMap | undefined,
  isHubServed: boolean,
): readonly FieldError[] {
  if (isHubServed || annotations?.[AGENT_CHANNEL] !== 'Hub') return [];
  const detail =
    'this operator serves no hub (--hub-bind-address); use API, with which agents need rights of the account of their Pods';
  return [invalidValue(`metadata.annotations[${AGENT_CHANNEL}]`, 'Hub', detail)];
}

export function hubEnvironment(hub: HubAccess | undefined): readonly EnvVar[] {
  if (hub === undefined) return [];
  return [
    { name: ENV_HUB_URL, value: hub.url },
    { name: ENV_HUB_CA, value: hub.authorities },
    { name: ENV_AGENT_CHANNEL, value: hub.channel },
  ];
}

export function hubMounts(
  hub: HubAccess | undefined,
): readonly NonNullable<Container['volumeMounts']>[number][] {
  if (hub === undefined) return [];
  return [{ name: HUB_TOKEN_VOLUME_NAME, mountPath: HUB_TOKEN_DIRECTORY, readOnly: true }];
}

export function hubVolumes(hub: HubAccess | undefined): readonly Volume[] {
  if (hub === undefined) return [];
  return [
    {
      name: HUB_TOKEN_VOLUME_NAME,
      projected: {
        sources: [
          {
            serviceAccountToken: {
              path: 'token',
              audience: HUB_AUDIENCE,
              expirationSeconds: TOKEN_EXPIRATION_SECONDS,
            },
          },
          {
            configMap: {
              name: HUB_AUTHORITIES_NAME,
              items: [{ key: HUB_AUTHORITIES_KEY, path: HUB_AUTHORITIES_KEY }],
              optional: true,
            },
          },
        ],
      },
    },
  ];
}

/** The token is read once for each stream, so it may be short-lived; kubelets renew it in time. */
const TOKEN_EXPIRATION_SECONDS = 3600;
