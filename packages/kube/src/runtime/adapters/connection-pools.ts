/**
 * The connections of a client's transport. Short requests share a bounded pool of kept-alive
 * connections. Long-running ones (watches, followed logs) each take a connection of their own, so
 * short requests never wait behind them. TLS identifies the client once per connection, so a
 * renewed client certificate needs pools of its own.
 */

import http from 'node:http';
import https from 'node:https';
import { createSecureContext } from 'node:tls';
import { defined } from '../../json/defined.ts';
import type { ClientTls } from '../credentials/cluster-access.ts';
import type { ClientCertificate } from '../ports/transport.ts';

/** The server that connections lead to. */
export interface Endpoint {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
}

export interface Pools {
  readonly short: http.Agent;
  readonly longRunning: http.Agent;
}

/** Below the idle time-out of API servers (90 s), so that no request meets a closing connection. */
const IDLE_CONNECTION_TIMEOUT_MS = 30_000;

export class ConnectionPools {
  readonly #endpoint: Endpoint;
  readonly #tls: ClientTls;
  readonly #maxConnections: number;
  readonly #own: Pools;
  #renewed: { readonly of: ClientCertificate; readonly pools: Pools } | undefined;
  /** Pools of earlier certificates, kept while requests are under way in them. */
  #retired: readonly Pools[] = [];

  /** `maxConnections` is for short requests. Throws `TypeError` if TLS cannot use its options. */
  constructor(endpoint: Endpoint, tls: ClientTls, maxConnections: number) {
    this.#endpoint = endpoint;
    this.#tls = tls;
    this.#maxConnections = maxConnections;
    this.#own = this.#open(tls);
  }

  /** The pools for this certificate; without one, those for the transport's own. */
  of(certificate: ClientCertificate | undefined): Pools {
    if (certificate === undefined) return this.#own;
    const renewed = this.#renewed;
    if (renewed?.of.certificate === certificate.certificate && renewed.of.key === certificate.key) {
      return renewed.pools;
    }
    const { certificate: clientCertificate, key: clientKey } = certificate;
    const pools = this.#open({ ...this.#tls, clientCertificate, clientKey });
    if (renewed !== undefined) this.#retire(renewed.pools);
    this.#renewed = { of: certificate, pools };
    return pools;
  }

  /** Ends all connections, including busy ones. */
  destroy(): void {
    const renewed = this.#renewed === undefined ? [] : [this.#renewed.pools];
    for (const { short, longRunning } of [this.#own, ...renewed, ...this.#retired]) {
      short.destroy();
      longRunning.destroy();
    }
  }

  /** Lets requests under way finish, and closes their connections then. */
  #retire(pools: Pools): void {
    pools.short.maxFreeSockets = 0;
    for (const sockets of Object.values(pools.short.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    this.#retired = [...this.#retired, pools].filter(isInUse);
  }

  #open(tls: ClientTls): Pools {
    const { isSecure, host, port } = this.#endpoint;
    const to = isSecure ? { host, port, ...secured(tls) } : { host, port };
    const kept = {
      keepAlive: true,
      maxSockets: this.#maxConnections,
      timeout: IDLE_CONNECTION_TIMEOUT_MS,
    };
    const agent = (options: https.AgentOptions): http.Agent =>
      isSecure ? new https.Agent(options) : new http.Agent(options);
    return { short: agent({ ...to, ...kept }), longRunning: agent({ ...to, keepAlive: false }) };
  }
}

function isInUse({ short, longRunning }: Pools): boolean {
  return [short.sockets, short.requests, short.freeSockets, longRunning.sockets].some(
    (some) => Object.keys(some).length > 0,
  );
}

/**
 * One TLS context for all connections: parsing certificates takes longer than a resumed handshake.
 */
function secured(tls: ClientTls): https.AgentOptions {
  try {
    return {
      secureContext: createSecureContext({
        ca: tls.certificateAuthority,
        cert: tls.clientCertificate,
        key: tls.clientKey,
      }),
      ...defined({ servername: tls.serverName }),
      rejectUnauthorized: tls.insecureSkipVerify !== true,
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`the certificates or the key for TLS cannot be used: ${why}`, {
      cause: error,
    });
  }
}
