/**
 * The server's side of a SPDY/3.1 session over a ByteChannel: the client opens streams, each of
 * which is a ByteChannel. A stream that is not read holds the whole session back, because SPDY's
 * windows are not used, as in Kubernetes' own ends.
 */
import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import type { ByteChannel } from '@lockstep/kube/runtime/ports/transport.ts';
import type { HeaderInflater } from '../../ports/streaming-ports.ts';
import {
  CANCEL,
  encodeControl,
  encodeData,
  FIN_FLAG,
  GOAWAY,
  HEADERS,
  headerBlock,
  NO_HEADERS,
  PING,
  parseHeaders,
  REFUSED_STREAM,
  RST_STREAM,
  type SpdyControl,
  type SpdyData,
  SpdyReader,
  SYN_REPLY,
  SYN_STREAM,
  streamOf,
  word,
} from './frames.ts';
import { HeaderPacker } from './header-compression.ts';

export interface SpdyStream {
  readonly headers: Readonly<Record<string, string>>;
  readonly channel: ByteChannel;
}

export interface ServerSessionOptions {
  readonly inflater: HeaderInflater;
  /** Called for each stream that the client opens. */
  readonly onStream: (stream: SpdyStream) => void;
  readonly maxStreams: number;
}

interface OpenStream {
  /** Our end of the stream's channel. */
  readonly near: ByteChannel;
  hasClientEnded: boolean;
  hasServerEnded: boolean;
}

/** Data goes out in pieces of this size. */
const MAX_DATA_BYTES = 32 * 1024;

export class ServerSession {
  readonly #channel: ByteChannel;
  readonly #options: ServerSessionOptions;
  readonly #packer = new HeaderPacker();
  readonly #streams = new Map<number, OpenStream>();
  readonly #sending = new Set<Promise<void>>();

  constructor(channel: ByteChannel, options: ServerSessionOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  /** Serves until the client goes; then all streams are broken off. Never rejects. */
  async run(): Promise<void> {
    const reader = new SpdyReader();
    try {
      for await (const chunk of this.#channel.incoming) {
        for (const frame of reader.push(chunk)) {
          if (frame.type === 'data') await this.#data(frame);
          else await this.#control(frame);
        }
      }
    } catch {
      // The client has gone or speaks nonsense: either way it gets no answer.
      this.#channel.destroy();
    } finally {
      for (const { near } of this.#streams.values()) near.destroy();
      this.#streams.clear();
      this.#options.inflater.close();
    }
  }

  /** Ends the session once the users of all streams have ended theirs, and everything is sent. */
  async end(): Promise<void> {
    await Promise.all(this.#sending);
    this.#channel.end();
  }

  async #data({ stream: id, bytes, isLast }: SpdyData): Promise<void> {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    await stream.near.write(bytes);
    if (isLast) this.#clientEnded(id, stream);
  }

  async #control({ kind, flags, payload }: SpdyControl): Promise<void> {
    switch (kind) {
      case SYN_STREAM:
        await this.#open(streamOf(payload), flags, payload);
        break;
      case HEADERS:
        // Ignored, but part of the stream in which headers are compressed.
        await this.#options.inflater.inflate(headerBlock(kind, payload));
        break;
      case RST_STREAM: {
        const id = streamOf(payload);
        this.#streams.get(id)?.near.destroy();
        this.#streams.delete(id);
        break;
      }
      case PING:
        await this.#channel.write(encodeControl(PING, 0, payload));
        break;
      case GOAWAY:
        if (this.#streams.size === 0) this.#channel.end();
        break;
    }
  }

  async #open(id: number, flags: number, payload: Uint8Array): Promise<void> {
    const block = await this.#options.inflater.inflate(headerBlock(SYN_STREAM, payload));
    if (this.#streams.size >= this.#options.maxStreams) {
      await this.#reset(id, REFUSED_STREAM);
      return;
    }
    const [far, near] = channelPair();
    const stream = { near, hasClientEnded: false, hasServerEnded: false };
    this.#streams.set(id, stream);
    const headers = this.#packer.pack(NO_HEADERS);
    const reply = Buffer.concat([word(id), headers]);
    await this.#channel.write(encodeControl(SYN_REPLY, 0, reply));
    if ((flags & FIN_FLAG) !== 0) this.#clientEnded(id, stream);
    const sending = this.#send(id, stream).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    this.#options.onStream({ headers: parseHeaders(block), channel: far });
  }

  async #send(id: number, stream: OpenStream): Promise<void> {
    try {
      for await (const chunk of stream.near.incoming) {
        for (let at = 0; at < chunk.byteLength; at += MAX_DATA_BYTES) {
          const piece = chunk.subarray(at, at + MAX_DATA_BYTES);
          await this.#channel.write(encodeData(id, piece, false));
        }
      }
      await this.#channel.write(encodeData(id, new Uint8Array(), true));
      stream.hasServerEnded = true;
      this.#forgetIfOver(id, stream);
    } catch {
      // The user of the stream broke it off; if the client did, it knows already.
      if (this.#streams.delete(id)) await this.#reset(id, CANCEL);
    }
  }

  #clientEnded(id: number, stream: OpenStream): void {
    stream.near.end();
    stream.hasClientEnded = true;
    this.#forgetIfOver(id, stream);
  }

  #forgetIfOver(id: number, { hasClientEnded, hasServerEnded }: OpenStream): void {
    if (hasClientEnded && hasServerEnded) this.#streams.delete(id);
  }

  async #reset(id: number, status: number): Promise<void> {
    const payload = Buffer.concat([word(id), word(status)]);
    await this.#channel.write(encodeControl(RST_STREAM, 0, payload));
  }
}
