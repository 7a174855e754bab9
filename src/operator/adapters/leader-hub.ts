/**
 * The hub of the operator that leads, on the network: its streams, its certificates, the keys of its
 * agents' tokens, and the EndpointSlice by which its Service leads to it.
 */
import { ENV_POD_IP, HUB_MEMBERS_PATH, HUB_PATH, HUB_PROTOCOL } from '../../jobset/names.ts';
import { signatureKey } from '../../runtime/adapters/json-web-keys.ts';
import { startStreamServer } from '../../runtime/adapters/stream-server.ts';
import type { Client } from '../../runtime/client.ts';
import { DeadlineError } from '../../runtime/deadline.ts';
import type { OperatorFlags } from '../flags.ts';
import { MAX_STREAMS } from '../hub/hub.ts';
import { publishHubEndpoint } from '../hub/hub-endpoint.ts';
import { type HubListener, startHubListener } from '../hub/hub-listener.ts';
import { PodTokens } from '../hub/pod-tokens.ts';
import type { HubSettings, OperatorOptions } from '../operator.ts';

export interface LeaderHub {
  stop(): Promise<void>;
  readonly listener: HubListener;
  readonly settings: HubSettings;
}

/** Of the operator. */
export interface OwnPod {
  readonly namespace: string;
  /** To which the Service of the hub leads; absent: to nobody. */
  readonly podIP: string | undefined;
}

/** Where agents may speak to the API server as well, the want of certificates must not stop us. */
export async function leaderHubIfPossible(
  flags: OperatorFlags,
  own: OwnPod,
  runtime: Parameters<typeof hubOf>[2],
): Promise<LeaderHub | undefined> {
  try {
    return await hubOf(flags, own, runtime);
  } catch (error) {
    if (flags.agentChannel === 'Hub' || !(error instanceof DeadlineError)) throw error;
    runtime.logger.error('no certificates for the hub: goes on without it', { err: error });
    return undefined;
  }
}

async function hubOf(
  flags: OperatorFlags,
  { namespace, podIP: address }: OwnPod,
  {
    lookupClient,
    ...runtime
  }: Omit<OperatorOptions, 'config' | 'hub'> & {
    /** For what agents make us ask. */
    readonly lookupClient: Client;
    readonly signal: AbortSignal;
  },
): Promise<LeaderHub | undefined> {
  const { hubBindAddress: at, hubService, agentChannel: channel } = flags;
  if (at === 'off' || channel === 'API') return undefined;
  const url =
    hubService === undefined ? flags.hubUrl : `https://${hubService}.${namespace}.svc:${at.port}`;
  const listener = await startHubListener({
    ...runtime,
    operatorNamespace: namespace,
    secretName: flags.hubSecretName,
    url,
    host: at.host,
    channel,
    listen: (door, tls, dropped) =>
      startStreamServer({
        ...at,
        dropped,
        acceptor: door.accept,
        pages: new Map([[HUB_MEMBERS_PATH, door.listMembers]]),
        tls,
        path: HUB_PATH,
        protocol: HUB_PROTOCOL,
        maxStreams: MAX_STREAMS,
        logger: runtime.logger,
      }),
  });
  const endpoint =
    hubService === undefined || address === undefined
      ? undefined
      : publishHubEndpoint({ ...runtime, namespace, service: hubService, address, port: at.port });
  if (hubService !== undefined && endpoint === undefined) {
    runtime.logger.warn(`${ENV_POD_IP} is not set: nobody leads the Service of the hub here`);
  }
  const tokens = new PodTokens({ ...runtime, client: lookupClient, importKey: signatureKey });
  const settings = {
    access: () => listener.access(),
    podOf: (token: string) => tokens.podOf(token),
    client: lookupClient,
  };
  const stop = async (): Promise<void> => {
    await Promise.all([endpoint?.stop(), listener.stop()]);
  };
  return { listener, settings, stop };
}
