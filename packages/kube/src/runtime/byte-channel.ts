/**
 * Two ends of a connection in memory, and a pump between connections. What is written at one end is
 * read at the other, in order. A writer waits once `BUFFER_BYTES` are unread, so nothing that flows
 * through is held in full.
 */
import { type ByteChannel, TransportError } from './ports/transport.ts';

/** What may be under way in one direction: as much as a socket takes at once. */
const BUFFER_BYTES = 64 * 1024;

/** What is written to one comes out of the other. */
export function channelPair(): readonly [ByteChannel, ByteChannel] {
  const [there, back] = [new Pipe(), new Pipe()];
  return [endOf(back, there), endOf(there, back)];
}

/**
 * Carries everything from one channel to another, including its end. If either breaks, both do,
 * because only a broken connection can tell the other side. Never rejects.
 */
export async function carryBytes(from: ByteChannel, to: ByteChannel): Promise<void> {
  try {
    for await (const chunk of from.incoming) await to.write(chunk);
    to.end();
  } catch {
    from.destroy();
    to.destroy();
  }
}

function endOf(source: Pipe, target: Pipe): ByteChannel {
  return {
    incoming: { [Symbol.asyncIterator]: () => source.read() },
    write: (chunk) => target.write(chunk),
    end: () => target.end(),
    destroy: () => {
      source.break();
      target.break();
    },
  };
}

/** One direction. */
class Pipe {
  readonly #chunks: Uint8Array[] = [];
  readonly #writers: (() => void)[] = [];
  #size = 0;
  #state: 'open' | 'ended' | 'broken' = 'open';
  #wakeReader: () => void = () => undefined;

  write(chunk: Uint8Array): Promise<void> {
    if (this.#state !== 'open' || chunk.byteLength === 0) return Promise.resolve();
    this.#chunks.push(chunk);
    this.#size += chunk.byteLength;
    this.#wakeReader();
    if (this.#size <= BUFFER_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    this.#wakeReader();
  }

  break(): void {
    this.#state = this.#state === 'ended' && this.#size === 0 ? 'ended' : 'broken';
    this.#chunks.length = 0;
    this.#size = 0;
    this.#releaseWriters();
    this.#wakeReader();
  }

  async *read(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#size -= chunk.byteLength;
          if (this.#size <= BUFFER_BYTES) this.#releaseWriters();
          yield chunk;
        } else if (this.#state === 'broken') {
          throw new TransportError('the connection was broken off', { code: 'ECONNRESET' });
        } else if (this.#state === 'ended') {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      // The reader has stopped: a writer must not wait for it.
      this.break();
    }
  }

  #releaseWriters(): void {
    for (const resolve of this.#writers.splice(0)) resolve();
  }
}
