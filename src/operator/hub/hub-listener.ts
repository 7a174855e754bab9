/**
 * The hub's certificates and its port. Every replica keeps the certificates, like the certificates of
 * the webhooks. The port is open while this replica leads.
 */

import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import {
  API_PATIENCE_MS,
  isPassing,
  tellOfWait,
} from '@lockstep/kube/runtime/client/passing-failures.ts';
import { DeadlineError, withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { ConnectionDrop } from '@lockstep/kube/runtime/ports/stream.ts';
import type { AgentChannel, ServedHub } from '../../jobset/injection/agent-hub.ts';
import { CertificateKeeper } from '../certificates/certificate-keeper.ts';
import { bundleOf } from '../certificates/certificate-secret.ts';
import type { WebhookCertificates } from '../certificates/certificates.ts';
import { DroppedConnections } from './dropped-connections.ts';
import type { HubConnection } from './hub-connection.ts';

export interface HubListenerOptions extends MeasuredPorts {
  /** The namespace of the Secret with the certificates. */
  readonly operatorNamespace: string;
  readonly secretName: string;
  /** `https://HOST:PORT` at which agents reach it; absent: the address on which it listens. */
  readonly url?: string | undefined;
  /** The host on which it listens. */
  readonly host: string;
  readonly channel: AgentChannel;
  /** Serves streams over TLS. Rejects if it cannot listen. */
  readonly listen: (
    door: HubDoor,
    pair: KeyPair,
    dropped: (why: ConnectionDrop, address: string) => void,
  ) => Promise<StreamPort>;
  readonly signal: AbortSignal;
}

/** The handlers behind the port. */
export type HubDoor = Pick<HubConnection, 'accept' | 'listMembers' | 'listGroups'>;

export interface StreamPort {
  readonly url: string;
  useCertificate(pair: KeyPair): void;
  close(): Promise<void>;
}

export interface HubListener {
  /**
   * The settings for agents. Without a configured `url`, there is no address until the port was open
   * once.
   */
  access(): ServedHub;
  /**
   * Resolves when it listens; until `serve`, it asks agents to come again. Rejects if it cannot listen.
   */
  open(): Promise<void>;
  /** Answers with `door` from now on. */
  serve(door: HubDoor): void;
  /** Resolves when all streams have ended and the port is free. It may be opened again. */
  close(): Promise<void>;
  stop(): Promise<void>;
}

/** An operator that may not keep a Secret works without a hub after this time. */
const CERTIFICATES_TIMEOUT_MS = 15_000;

/**
 * Resolves when it has certificates. Rejects with `DeadlineError` if it gets none, and when the
 * signal aborts. If agents depend on the hub, it waits longer for an API server that does not answer
 * or answers with temporary failures.
 */
export async function startHubListener(options: HubListenerOptions): Promise<HubListener> {
  const { clock, logger, metrics } = options;
  const drops = new DroppedConnections(clock, logger.with({ logger: 'hub' }), metrics);
  let certificates: WebhookCertificates | undefined;
  let port: StreamPort | undefined;
  let url = options.url ?? '';
  let door: HubDoor | undefined;
  let failure: unknown;
  let arrived: (first: WebhookCertificates) => void = () => undefined;
  const first = new Promise<WebhookCertificates>((resolve) => {
    arrived = resolve;
  });
  const knock: HubDoor = {
    accept: (request) => (door ?? CLOSED_DOOR).accept(request),
    listMembers: (request) => (door ?? CLOSED_DOOR).listMembers(request),
    listGroups: (request) => (door ?? CLOSED_DOOR).listGroups(request),
  };
  const keeper = new CertificateKeeper({
    ...options,
    name: 'hub-certificates',
    namespace: options.operatorNamespace,
    hosts: [hostOf(options)],
    // Agents get the authorities with their Pods, so the one in use counts as published.
    isPublished: (authority) => certificates?.authorities.includes(authority) ?? false,
    onChange: (next) => {
      certificates = next;
      port?.useCertificate(next.serving);
      arrived(next);
    },
    onFailure: (error) => {
      failure = error;
    },
  });
  const arrivesWithin = (limitMs: number): Promise<unknown> =>
    withDeadline(clock, limitMs, options.signal, (within) => orAborted(first, within));
  try {
    await arrivesWithin(CERTIFICATES_TIMEOUT_MS).catch(async (error: unknown) => {
      const isWorthWaiting = failure === undefined || isPassing(failure);
      if (options.signal.aborted || options.channel !== 'Hub' || !isWorthWaiting) throw error;
      tellOfWait(logger, 'keep the certificates of the hub', failure ?? error);
      await arrivesWithin(API_PATIENCE_MS - CERTIFICATES_TIMEOUT_MS);
    });
  } catch (error) {
    await keeper.stop();
    if (!(error instanceof DeadlineError) || !(failure instanceof Error)) throw error;
    const message = `no certificates for the hub; last: ${failure.message}`;
    throw new DeadlineError(message, { cause: failure });
  }
  const close = async (): Promise<void> => {
    door = undefined;
    const open = port;
    port = undefined;
    await open?.close();
  };
  return {
    access: () => ({
      url,
      authorities: certificates === undefined ? '' : bundleOf(certificates),
      channel: options.channel,
    }),
    open: async () => {
      const { serving } = await first;
      const pair = certificates?.serving ?? serving;
      port = await options.listen(knock, pair, (why, address) => drops.add(why, address));
      if (options.url === undefined) url = port.url;
      logger.info('serving', { what: 'hub', url: port.url, for: url });
    },
    serve: (to) => {
      door = to;
    },
    close,
    stop: async () => {
      await Promise.all([keeper.stop(), close()]);
      drops.stop();
    },
  };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject);
  });
}

const NOT_LEADING = 'this replica does not lead yet';

const closed = () => Promise.resolve({ kind: 'Refuse', status: 503, reason: NOT_LEADING } as const);

const CLOSED_DOOR: HubDoor = { accept: closed, listMembers: closed, listGroups: closed };

function hostOf({ url, host }: HubListenerOptions): string {
  return url === undefined ? host : new URL(url).hostname.replace(/^\[|\]$/g, '');
}
