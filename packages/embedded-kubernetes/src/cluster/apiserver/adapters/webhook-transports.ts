/** HTTPS connections to admission webhooks, kept open between requests. */
import {
  createHttpTransport,
  type HttpTransport,
} from '@lockstep/kube/runtime/adapters/http-transport.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import type { WebhookEndpoint } from '../webhooks/webhook-endpoint.ts';

export interface WebhookTransports {
  readonly to: (endpoint: WebhookEndpoint) => Transport;
  /** Ends all connections. */
  close(): void;
}

/**
 * How many endpoints are kept. Certificates change every few months, so only constant changes of
 * the configurations lead to more.
 */
const MAX_ENDPOINTS = 64;

/** Webhooks are near, and a client waits for the answer. */
const CONNECT_TIMEOUT_MS = 5_000;

export function createWebhookTransports(): WebhookTransports {
  const transports = new Map<string, HttpTransport>();
  return {
    to: (endpoint) => {
      const { server, serverName, certificateAuthority } = endpoint;
      const key = JSON.stringify([server, serverName, certificateAuthority]);
      const known = transports.get(key);
      if (known !== undefined) return known;
      const transport = createHttpTransport({
        server,
        tls: { certificateAuthority, serverName },
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
      });
      transports.set(key, transport);
      const [oldest] = transports.keys();
      // The dropped transport may be in use: its connections close after some idle time.
      if (transports.size > MAX_ENDPOINTS && oldest !== undefined) transports.delete(oldest);
      return transport;
    },
    close: () => {
      for (const transport of transports.values()) transport.close();
      transports.clear();
    },
  };
}
