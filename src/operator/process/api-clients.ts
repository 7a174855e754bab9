/**
 * The operator's clients, one for each purpose. Each has its own connections and rate, so requests
 * for agents, users and webhooks can delay neither the lease nor a restart.
 */
import {
  type ClientConnection,
  type ConnectionOptions,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { rateLimited } from '@lockstep/kube/runtime/client/rate-limit.ts';
import type { ClusterAccess } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';

export interface ApiClients {
  /** Takes, renews and releases the lease. */
  readonly lease: Client;
  /** Watches, decides and acts; keeps certificates and the hub's endpoint. */
  readonly reconcile: Client;
  /** Requests that agents cause. */
  readonly hub: Client;
  /** Events, reviews and look-ups for webhooks and pages, and features of nodes. */
  readonly other: Client;
}

export interface ApiConnections {
  readonly clients: ApiClients;
  /** A transport to the same server, without limits. */
  readonly transport: Transport;
  /** Ends all connections. Requests under way fail. */
  close(): void;
}

export interface ApiClientsOptions extends Omit<ConnectionOptions, 'maxConnections' | 'through'> {
  /** The rate of all clients together, except the lease; a negative `perSecond`: no limit. */
  readonly rate: Rate;
  /** Wraps the transport, for example in counters. */
  readonly through: (transport: Transport) => Transport;
}

/** On top of the rate of all others, because one delayed renewal can lose the lease. */
const LEASE_RATE: Rate = { perSecond: 5, burst: 10 };
/** The largest share for agents' look-ups; reconciling gets the rest. */
export const HUB_SHARE = 0.4;
export const OTHER_SHARE = 0.1;

/** Short requests in flight; each takes a place in the API server. */
const CONNECTIONS = { lease: 2, reconcile: 64, hub: 16, other: 16 } as const;

export function connectApiClients(
  access: ClusterAccess,
  { rate, through, ...options }: ApiClientsOptions,
): ApiConnections {
  const limit = requestLimits(rate, options);
  const connect = (purpose: keyof ApiClients): ClientConnection =>
    connectClient(access, {
      ...options,
      maxConnections: CONNECTIONS[purpose],
      through: (transport) => limit(purpose, through(transport)),
    });
  const lease = connect('lease');
  const reconcile = connect('reconcile');
  const hub = connect('hub');
  const other = connect('other');
  return {
    clients: {
      lease: lease.client,
      reconcile: reconcile.client,
      hub: hub.client,
      other: other.client,
    },
    transport: reconcile.transport,
    close: () => {
      for (const connection of [lease, reconcile, hub, other]) connection.close();
    },
  };
}

/**
 * Reconciling waits for the bucket that all clients use. The other clients use it too, but each waits
 * only for a small bucket of its own. Together they never exceed the rate, and none delays another.
 */
export function requestLimits(
  rate: Rate,
  { clock }: Pick<ApiClientsOptions, 'clock'>,
): (purpose: keyof ApiClients, transport: Transport) => Transport {
  const lease = new TokenBucket(LEASE_RATE, clock);
  const all = new TokenBucket(rate, clock);
  const hub = new TokenBucket(shareOf(rate, HUB_SHARE), clock);
  const other = new TokenBucket(shareOf(rate, OTHER_SHARE), clock);
  return (purpose, transport) => {
    if (purpose === 'lease') return rateLimited(transport, { bucket: lease, clock });
    if (rate.perSecond < 0) return transport;
    switch (purpose) {
      case 'reconcile':
        return rateLimited(transport, { bucket: all, clock });
      case 'hub':
        return rateLimited(transport, { bucket: hub, alsoPays: all, clock });
      case 'other':
        return rateLimited(transport, { bucket: other, alsoPays: all, clock });
    }
  };
}

function shareOf({ perSecond, burst }: Rate, share: number): Rate {
  return { perSecond: perSecond * share, burst: Math.max(1, burst * share) };
}
