/**
 * A client's end of one forwarded connection (`portforward.k8s.io` over SPDY/3.1): sends a request
 * to a port of a Pod, and returns the whole answer. One session carries one connection.
 */
import type { ByteChannel } from '@lockstep/kube/runtime/ports/transport.ts';
import {
  encodeControl,
  encodeData,
  FIN_FLAG,
  GOAWAY,
  PING,
  RST_STREAM,
  SpdyError,
  SpdyReader,
  SYN_STREAM,
  streamOf,
  word,
} from './frames.ts';
import { HeaderPacker } from './header-compression.ts';

/** For a request to forward ports. */
export const PORT_FORWARD_HEADERS = {
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'x-stream-protocol-version': 'portforward.k8s.io',
} as const;

/** A client's streams have odd numbers. */
const ERROR_STREAM = 1;
const DATA_STREAM = 3;
const MAX_ERROR_BYTES = 4096;

/** The other end could not reach the port, or says why it gave up. */
export class ForwardError extends Error {
  override readonly name = 'ForwardError';
}

/**
 * Rejects with `ForwardError`, `SpdyError`, or the channel's error. The channel cannot be used
 * after that.
 */
export async function forwardedExchange(
  channel: ByteChannel,
  port: number,
  request: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const packer = new HeaderPacker();
  await channel.write(openStream(packer, ERROR_STREAM, FIN_FLAG, 'error', port));
  await channel.write(openStream(packer, DATA_STREAM, 0, 'data', port));
  await channel.write(encodeData(DATA_STREAM, request, false));
  const answer = new Answer(maxBytes);
  const reader = new SpdyReader();
  for await (const chunk of channel.incoming) {
    for (const frame of reader.push(chunk)) {
      if (frame.type === 'data') {
        answer.add(frame.stream, frame.bytes, frame.isLast);
        // The other end keeps a connection that has ended in one direction only.
        if (frame.stream === DATA_STREAM && frame.isLast) {
          await channel.write(encodeData(DATA_STREAM, NOTHING, true));
        }
      } else if (frame.kind === PING) {
        await channel.write(encodeControl(PING, 0, frame.payload));
      } else if (frame.kind === RST_STREAM) answer.add(streamOf(frame.payload), NOTHING, true);
      else if (frame.kind === GOAWAY) answer.end();
    }
    if (answer.isComplete) break;
  }
  return answer.whole();
}

const NOTHING = new Uint8Array();

/** What arrives on the two streams, until both have ended. */
class Answer {
  readonly #data: Chunks;
  readonly #errors = new Chunks(MAX_ERROR_BYTES);
  readonly #open = new Set([ERROR_STREAM, DATA_STREAM]);

  constructor(maxBytes: number) {
    this.#data = new Chunks(maxBytes);
  }

  get isComplete(): boolean {
    return this.#open.size === 0;
  }

  add(stream: number, bytes: Uint8Array, isLast: boolean): void {
    (stream === DATA_STREAM ? this.#data : this.#errors).add(bytes);
    if (isLast) this.#open.delete(stream);
  }

  end(): void {
    this.#open.clear();
  }

  whole(): Uint8Array {
    const problem = this.#errors.whole().toString().trim();
    if (problem !== '') throw new ForwardError(problem);
    return this.#data.whole();
  }
}

/** What has arrived on one stream. */
class Chunks {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(bytes: Uint8Array): void {
    this.#size += bytes.byteLength;
    if (this.#size > this.#maxBytes) {
      throw new SpdyError(`the answer has more than ${this.#maxBytes} bytes`);
    }
    this.#chunks.push(bytes);
  }

  whole(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

function openStream(
  packer: HeaderPacker,
  stream: number,
  flags: number,
  type: 'error' | 'data',
  port: number,
): Uint8Array {
  const headers = { streamtype: type, port: String(port), requestid: '0' };
  const texts = Object.entries(headers).flatMap((pair) =>
    pair.flatMap((text) => [word(text.length), Buffer.from(text)]),
  );
  const block = Buffer.concat([word(Object.keys(headers).length), ...texts]);
  // No associated stream, the highest priority.
  const head = [word(stream), word(0), Uint8Array.of(0, 0)];
  return encodeControl(SYN_STREAM, flags, Buffer.concat([...head, packer.pack(block)]));
}
