/**
 * What an agent is given to speak to the hub: where it is, whom to trust there, and a token that says
 * which Pod it is in. Only the hub takes the token, so the agent needs no rights. Whom to trust is said
 * twice: as of when the Job was made, and in a file that follows the hub's authorities as they change.
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
  /** PEM, all authorities that the hub's certificate may be of. */
  readonly authorities: string;
  /** `Auto`: the API server is there while the hub is not. */
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

/** It is read once for each stream, so it may be short; kubelets renew it in time. */
const TOKEN_EXPIRATION_SECONDS = 3600;
