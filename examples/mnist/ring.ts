/**
 * A ring of workers over TCP: each listens for its predecessor and connects to its successor. The
 * all-reduce sends every element 2 (n - 1) / n times per worker, for any number of workers. First
 * each chunk travels once around and is summed, then the sums travel around once.
 */
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net';

const CONNECT_TIMEOUT_MS = 60_000;
const CONNECT_RETRY_MS = 5;
const BYTES_PER_FLOAT = 4;

export interface RingOptions {
  readonly rank: number;
  readonly size: number;
  /** The address to listen on, and the port that every worker listens on. */
  readonly address: string;
  readonly port: number;
  /** The successor's port, if it differs. */
  readonly successorPort?: number;
  /**
   * Finds the successor's address; called for each attempt, because the successor may appear late.
   */
  readonly successor: () => Promise<string | undefined>;
}

/** The connection to a neighbour ended, so some worker of the ring has gone. */
export class NeighbourLost extends Error {
  override readonly name = 'NeighbourLost';
}

export class Ring {
  readonly rank: number;
  readonly size: number;
  private readonly next: Socket;
  private readonly previous: Receiver;
  private readonly server: Server;

  private constructor(options: RingOptions, next: Socket, previous: Socket, server: Server) {
    this.rank = options.rank;
    this.size = options.size;
    this.next = next;
    this.previous = new Receiver(previous);
    this.server = server;
  }

  /** Resolves when both neighbours are connected. A ring of one is connected to itself. */
  static async join(options: RingOptions): Promise<Ring> {
    const server = createServer();
    const previous = new Promise<Socket>((resolve, reject) => {
      server.once('connection', resolve);
      server.once('error', reject);
    });
    previous.catch(() => undefined);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.address, resolve);
    });
    const next = await connectWithin(options, CONNECT_TIMEOUT_MS);
    const accepted = await previous;
    accepted.setNoDelay(true);
    return new Ring(options, next, accepted, server);
  }

  /** Replaces every element of `values` by its sum over all workers. */
  async allReduce(values: Float32Array): Promise<void> {
    if (this.size === 1) return;
    const chunk = (index: number): Float32Array => {
      const which = ((index % this.size) + this.size) % this.size;
      const bound = (n: number): number => Math.floor((n * values.length) / this.size);
      return values.subarray(bound(which), bound(which + 1));
    };
    for (let turn = 0; turn < this.size - 1; turn++) {
      const target = chunk(this.rank - turn - 1);
      const received = await this.exchange(chunk(this.rank - turn), target.length);
      for (let i = 0; i < target.length; i++) {
        target[i] = (target[i] as number) + (received[i] as number);
      }
    }
    for (let turn = 0; turn < this.size - 1; turn++) {
      const target = chunk(this.rank - turn);
      target.set(await this.exchange(chunk(this.rank - turn + 1), target.length));
    }
  }

  /** Replaces `values` by the values of rank 0. */
  async broadcast(values: Float32Array): Promise<void> {
    if (this.size === 1) return;
    if (this.rank > 0) values.set(await this.previous.receive(values.length));
    if (this.rank < this.size - 1) await this.send(values);
  }

  close(): void {
    this.next.destroy();
    this.previous.close();
    this.server.close();
  }

  private async exchange(out: Float32Array, length: number): Promise<Float32Array> {
    const [received] = await Promise.all([this.previous.receive(length), this.send(out)]);
    return received;
  }

  private send(values: Float32Array): Promise<void> {
    const bytes = Buffer.from(values.slice().buffer);
    return new Promise((resolve, reject) => {
      this.next.write(bytes, (error) => {
        if (error) reject(new NeighbourLost(error.message, { cause: error }));
        else resolve();
      });
    });
  }
}

/** Collects the predecessor's bytes until as many floats as asked for are there. */
class Receiver {
  private readonly socket: Socket;
  private readonly chunks: Buffer[] = [];
  private buffered = 0;
  private wanted = 0;
  private wake: (() => void) | undefined;
  private lost: NeighbourLost | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    const end = (error?: Error): void => {
      this.lost ??= new NeighbourLost(error?.message ?? 'the connection was closed');
      this.wake?.();
    };
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.buffered += chunk.length;
      if (this.buffered >= this.wanted) this.wake?.();
    });
    socket.once('error', end);
    socket.once('close', () => end());
  }

  async receive(floats: number): Promise<Float32Array> {
    this.wanted = floats * BYTES_PER_FLOAT;
    while (this.buffered < this.wanted) {
      if (this.lost !== undefined) throw this.lost;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    const all = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
    const rest = all.subarray(this.wanted);
    this.chunks.length = 0;
    if (rest.length > 0) this.chunks.push(rest);
    this.buffered = rest.length;
    return new Float32Array(new Uint8Array(all.subarray(0, this.wanted)).buffer);
  }

  close(): void {
    this.socket.destroy();
  }
}

async function connectWithin(options: RingOptions, timeoutMs: number): Promise<Socket> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const address = await options.successor();
    const socket =
      address === undefined
        ? undefined
        : await tryConnect(address, options.successorPort ?? options.port);
    if (socket !== undefined) return socket;
    if (performance.now() > deadline) {
      throw new Error(
        `rank ${options.rank} reached no successor at ${address ?? 'an unknown address'} within ${timeoutMs} ms`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, CONNECT_RETRY_MS));
  }
}

function tryConnect(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = tcpConnect({ host, port, noDelay: true });
    socket.once('connect', () => {
      // A neighbour that dies later shows as a failed write, or as the end of the received data.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', () => resolve(undefined));
  });
}
