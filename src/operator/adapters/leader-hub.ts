/**
 * The hub on the network. Every replica keeps its certificates, and the keys of agents' tokens,
 * ready. While it leads, it also serves streams, and writes the EndpointSlice by which the Service
 * leads to it.
 */

import { startStreamServer } from '@lockstep/kube/runtime/adapters/stream-server.ts';
import { signatureKey } from '@lockstep/kube/runtime/adapters/tls/json-web-keys.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import type { AgentChannel } from '../../jobset/injection/agent-hub.ts';
import {
  ENV_POD_IP,
  HUB_GROUPS_PATH,
  HUB_MEMBERS_PATH,
  HUB_PATH,
  HUB_PROTOCOL,
} from '../../jobset/names.ts';
import type { OperatorFlags } from '../configuration/operator-flags.ts';
import type { HubSettings } from '../hub/hub-connection.ts';
import { publishHubEndpoint } from '../hub/hub-endpoint.ts';
import { type HubDoor, startHubListener } from '../hub/hub-listener.ts';
import { PodTokens } from '../hub/pod-tokens.ts';
import type { OperatorOptions } from '../operator.ts';

export interface LeaderHub {
  readonly settings: HubSettings;
  /** Resolves when it listens. Nothing is written any more when the signal aborts. */
  open(signal: AbortSignal): Promise<OpenHub>;
  stop(): Promise<void>;
}

export interface OpenHub {
  /** Answers agents with `door` from now on. */
  serve(door: HubDoor): void;
  /** Resolves when all streams have ended and the port is free. */
  close(): Promise<void>;
}

/** The operator's own Pod. */
export interface OwnPod {
  readonly namespace: string;
  /** The address to which the hub's Service leads; absent: the Service leads nowhere. */
  readonly podIP: string | undefined;
}

type Runtime = Omit<OperatorOptions, 'config' | 'hub'> & {
  /** For requests that agents cause. */
  readonly lookupClient: Client;
  readonly signal: AbortSignal;
};

/** Rejects without certificates if agents use only the hub: the operator must not continue then. */
export async function leaderHubIfPossible(
  flags: OperatorFlags,
  own: OwnPod,
  runtime: Runtime,
): Promise<LeaderHub | undefined> {
  try {
    return await hubOf(flags, own, runtime);
  } catch (error) {
    if (channelOf(flags) === 'Hub' || !(error instanceof DeadlineError)) throw error;
    runtime.logger.error('no certificates for the hub: goes on without it', { err: error });
    return undefined;
  }
}

/** The default channel. A hub also serves JobSets that choose it, whatever the default is. */
function channelOf({ agentChannel = 'Hub' }: OperatorFlags): AgentChannel {
  return agentChannel;
}

async function hubOf(
  flags: OperatorFlags,
  { namespace, podIP: address }: OwnPod,
  { lookupClient, ...runtime }: Runtime,
): Promise<LeaderHub | undefined> {
  const { hubBindAddress: at, hubService } = flags;
  if (at === 'off') return undefined;
  const url =
    hubService === undefined ? flags.hubUrl : `https://${hubService}.${namespace}.svc:${at.port}`;
  // Agents remember a port that the system chose, so it stays the same when we lead again.
  let { port } = at;
  const listener = await startHubListener({
    ...runtime,
    operatorNamespace: namespace,
    secretName: flags.hubSecretName,
    url,
    host: at.host,
    channel: channelOf(flags),
    listen: async (door, tls, dropped) => {
      const server = await startStreamServer({
        host: at.host,
        port,
        dropped,
        acceptor: door.accept,
        pages: new Map([
          [HUB_MEMBERS_PATH, door.listMembers],
          [HUB_GROUPS_PATH, door.listGroups],
        ]),
        tls,
        path: HUB_PATH,
        protocol: HUB_PROTOCOL,
        maxStreams: flags.maxStreams,
        logger: runtime.logger,
      });
      ({ port } = server);
      return server;
    },
  });
  const isPublished = hubService !== undefined && address !== undefined;
  if (hubService !== undefined && !isPublished) {
    runtime.logger.warn(
      `${ENV_POD_IP} is not set: the Service of the hub does not lead to this replica`,
    );
  }
  const tokens = new PodTokens({ ...runtime, client: lookupClient, importKey: signatureKey });
  void tokens.keepKeys(runtime.signal);
  return {
    settings: {
      access: () => listener.access(),
      podOf: (token: string) => tokens.podOf(token),
      maxStreams: flags.maxStreams,
      client: lookupClient,
    },
    open: async (signal) => {
      await listener.open();
      const published = { namespace, service: hubService ?? '', address: address ?? '', port };
      const endpoint = isPublished
        ? publishHubEndpoint({ ...runtime, ...published, signal })
        : undefined;
      return {
        serve: (door) => listener.serve(door),
        close: async () => {
          await Promise.all([endpoint?.stop(), listener.close()]);
        },
      };
    },
    stop: () => listener.stop(),
  };
}
