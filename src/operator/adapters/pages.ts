/** The pages that the operator serves over HTTP, one port for each: metrics and probes. */
import {
  type HttpServer,
  type ServerTlsOptions,
  startHttpServer,
} from '@lockstep/kube/runtime/adapters/http-server.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { followCertificateFiles } from '@lockstep/kube/runtime/adapters/tls/certificate-files.ts';
import {
  createCertificateAuthority,
  issueCertificate,
  type KeyPair,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import type { BindAddress } from '../configuration/bind-address.ts';
import type { TlsSettings } from '../configuration/tls-settings.ts';
import { PAGE_LIMITS } from './server-limits.ts';

/** The content of one port of the operator. */
export interface Page {
  readonly what: 'metrics' | 'health';
  readonly address: BindAddress | 'off';
  readonly handler: HttpHandler;
  /** Directory of the certificate. */
  readonly certificateDirectory?: string | undefined;
  /**
   * Without a directory: whether to serve over TLS with a self-signed certificate, or plain HTTP.
   */
  readonly isSecure?: boolean;
}

/**
 * Serves the pages. Rejects if a port is taken. A page with a certificate is served as soon as the
 * certificate can be read, and follows its changes.
 */
export async function servePages(
  pages: readonly Page[],
  context: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly tls?: TlsSettings | undefined;
  },
): Promise<{ close(): Promise<void> }> {
  const ends: (() => Promise<void>)[] = [];
  for (const { what, address, handler, isSecure, certificateDirectory: directory } of pages) {
    if (address === 'off') continue;
    const start = async (tls?: ServerTlsOptions): Promise<HttpServer> => {
      const { logger } = context;
      const server = await startHttpServer({ ...address, ...PAGE_LIMITS, handler, tls, logger });
      context.logger.info('serving', { what, url: server.url });
      return server;
    };
    if (directory === undefined) {
      const server = await start(isSecure === true ? { ...context.tls, ...ownPair() } : undefined);
      ends.push(() => server.close());
    } else ends.push(serveOverTls(directory, start, context));
  }
  return { close: async () => void (await Promise.all(ends.map((end) => end()))) };
}

/**
 * Longer than any process lives. A self-signed certificate proves nothing, so its lifetime does not
 * matter.
 */
const OWN_CERTIFICATE_DAYS = 3_650;

/** A self-signed pair, which encrypts but proves no identity. */
function ownPair(): KeyPair {
  const commonName = 'lockstep-operator';
  const authority = createCertificateAuthority({
    commonName,
    clock: nodeClock,
    days: OWN_CERTIFICATE_DAYS,
  });
  return issueCertificate(authority, {
    commonName,
    dnsNames: [commonName],
    usages: ['server'],
    days: OWN_CERTIFICATE_DAYS,
  });
}

/** Returns a function that stops it. */
function serveOverTls(
  directory: string,
  start: (tls: ServerTlsOptions) => Promise<HttpServer>,
  { tls, ...context }: Parameters<typeof servePages>[1],
): () => Promise<void> {
  let starting: Promise<HttpServer | undefined> | undefined;
  const files = followCertificateFiles({
    ...context,
    directory,
    onChange: (pair) => {
      starting ??= start({ ...tls, ...pair }).catch((error: unknown) => {
        context.logger.error('a page is not served', { directory, err: error });
        return undefined;
      });
      void starting.then((server) => server?.useCertificate(pair));
    },
  });
  return async () => {
    files.stop();
    await (await starting)?.close();
  };
}
