import {
  createHttpTransport,
  type HttpTransport,
} from '../../../runtime/adapters/http-transport.ts';
import type { Transport } from '../../../runtime/ports/transport.ts';
import type { WebhookEndpoint } from '../webhooks/webhook-endpoint.ts';

/** The real way to admission webhooks: HTTPS, over connections that are kept for the next request. */
export interface WebhookTransports {
  readonly to: (endpoint: WebhookEndpoint) => Transport;
  /** Ends all connections. */
  close(): void;
}

/**
 * Endpoints that are known at a time. Certificates change every few months, so more than this are the
 * doing of somebody who changes configurations all the time.
 */
const MAX_ENDPOINTS = 64;

/** Webhooks are near, and who asks them is waiting. */
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
      // It may be in use: its connections end by themselves when they have been idle for a while.
      if (transports.size > MAX_ENDPOINTS && oldest !== undefined) transports.delete(oldest);
      return transport;
    },
    close: () => {
      for (const transport of transports.values()) transport.close();
      transports.clear();
    },
  };
}
