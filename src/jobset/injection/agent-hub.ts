/**
 * What an agent gets to reach the hub: its address, its authorities, and a token that identifies
 * the Pod. Only the hub accepts the token, so the agent needs no rights. The authorities come
 * twice: as of the Job's creation, and in a file that follows their changes.
 */
import type { Container, EnvVar, Volume } from '../../kube/objects/pod.ts';
import {
  ENV_AGENT_CHANNEL,
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUDIENCE,
  HUB_AUTHORITIES_KEY,
  HUB_AUTHORITIES_NAME,
  HUB_TOKEN_DIRECTORY,
  HUB_TOKEN_VOLUME_NAME,
} from '../names.ts';

export interface HubAccess {
  /** `https://HOST:PORT` */
  readonly url: string;
  /** PEM, all possible authorities of the hub's certificate. */
  readonly authorities: string;
  /** `Auto`: the API server may be used while the hub is unreachable. */
  readonly channel: 'Auto' | 'Hub';
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
