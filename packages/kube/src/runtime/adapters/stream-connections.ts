/** The connections of a stream server, and which of them to drop when there are too many. */
import type { Socket } from 'node:net';
import type { ConnectionDrop } from '../ports/stream.ts';

/**
 * In a crowd, how long a client that has begun to speak may take to send its request. A crowd of
 * 8,192 needs some 8 s.
 */
const CROWD_PATIENCE_MS = 20_000;

/** Called for connections that end before they ask for anything. */
type Dropped = ((why: ConnectionDrop, address: string) => void) | undefined;

interface Pending {
  readonly key: string;
  /** The raw socket, below TLS. */
  readonly socket: Socket;
  readonly cameMs: number;
  /** The reason to report if it ends now; undefined once it has asked for something. */
  ifEnded: ConnectionDrop | undefined;
}

export class StreamConnections {
  /** By the other end's address. */
  readonly #pending = new Map<string, Pending>();
  /** Pending connections without any data at the last check, oldest first. */
  readonly #silent = new Set<Pending>();
  /** The other pending connections, roughly in order. */
  readonly #speaking = new Set<Pending>();
  readonly #all = new Set<Socket>();
  readonly #streams = new Set<Socket>();
  readonly #maxPending: number;
  readonly #dropped: Dropped;

  constructor(maxPending: number, dropped: Dropped) {
    this.#maxPending = maxPending;
    this.#dropped = dropped;
  }

  came(socket: Socket): void {
    const key = keyOf(socket);
    const address = socket.remoteAddress ?? '';
    const pending: Pending = { key, socket, cameMs: performance.now(), ifEnded: 'NoHandshake' };
    this.#all.add(socket);
    this.#pending.set(key, pending);
    this.#silent.add(pending);
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#forget(pending);
      if (pending.ifEnded !== undefined) this.#dropped?.(pending.ifEnded, address);
    });
    if (this.#pending.size > this.#maxPending) this.#cutOffOne();
  }

  /**
   * Chooses which connection to drop. Not simply the oldest: if there are more honest clients than
   * can be served at once, the oldest has already cost the most work, and would come again.
   */
  #cutOffOne(): void {
    const one = this.#slowest() ?? this.#oldestSilent();
    if (one === undefined) return;
    if (one.ifEnded !== undefined) one.ifEnded = 'Crowded';
    this.#forget(one);
    one.socket.destroy();
  }

  #slowest(): Pending | undefined {
    const [oldest] = this.#speaking;
    const isSlow = oldest !== undefined && performance.now() - oldest.cameMs >= CROWD_PATIENCE_MS;
    return isSlow ? oldest : undefined;
  }

  /** This may be the newest one. */
  #oldestSilent(): Pending | undefined {
    for (const pending of this.#silent) {
      if (pending.socket.bytesRead === 0) return pending;
      this.#silent.delete(pending);
      this.#speaking.add(pending);
    }
    return undefined;
  }

  #forget(pending: Pending): void {
    const { key } = pending;
    if (this.#pending.get(key) === pending) this.#pending.delete(key);
    this.#silent.delete(pending);
    this.#speaking.delete(pending);
  }

  /** `socket` is the one above TLS. */
  shookHands(socket: Socket): void {
    const pending = this.#pending.get(keyOf(socket));
    if (pending !== undefined) pending.ifEnded = 'NoRequest';
  }

  asked(socket: Socket): void {
    const pending = this.#pending.get(keyOf(socket));
    if (pending !== undefined) pending.ifEnded = undefined;
  }

  opened(socket: Socket): void {
    const pending = this.#pending.get(keyOf(socket));
    if (pending !== undefined) this.#forget(pending);
    this.#streams.add(socket);
    socket.once('close', () => this.#streams.delete(socket));
  }

  endStreams(): void {
    for (const socket of this.#streams) socket.end();
    for (const { socket } of this.#pending.values()) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#all) socket.destroy();
  }
}

function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
