/** A SPDY session as a client sees it, with headers packed by a real zlib with the dictionary. */

import { createHash } from 'node:crypto';
import { constants, createDeflate, createInflate } from 'node:zlib';
import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import type { ByteChannel } from '@lockstep/kube/runtime/ports/transport.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeaderInflater } from '../../adapters/header-inflater.ts';
import {
  encodeControl,
  encodeData,
  PING,
  RST_STREAM,
  SpdyError,
  type SpdyFrame,
  SpdyReader,
  SYN_REPLY,
  SYN_STREAM,
  streamOf,
  word,
} from './frames.ts';
import { HeaderPacker } from './header-compression.ts';
import { HEADER_DICTIONARY } from './header-dictionary.ts';
import { ServerSession, type SpdyStream } from './server-session.ts';

describe('frames', () => {
  it('are read as they were written, however the bytes are cut', () => {
    const data = fc.record({
      type: fc.constant('data' as const),
      stream: fc.integer({ min: 1, max: 0x7fff_ffff }),
      isLast: fc.boolean(),
      bytes: fc.uint8Array({ maxLength: 50, size: 'max' }),
    });
    const control = fc.record({
      type: fc.constant('control' as const),
      kind: fc.integer({ min: 1, max: 9 }),
      flags: fc.integer({ min: 0, max: 255 }),
      payload: fc.uint8Array({ maxLength: 50, size: 'max' }),
    });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(data, control)),
        fc.integer({ min: 1, max: 40 }),
        (frames, size) => {
          const bytes = Buffer.concat(frames.map(encoded));
          const reader = new SpdyReader();
          const read: SpdyFrame[] = [];
          for (let at = 0; at < bytes.length; at += size) {
            read.push(...reader.push(bytes.subarray(at, at + size)));
          }
          expect(Buffer.concat(read.map(encoded)).equals(bytes)).toBe(true);
          expect(read.length).toBe(frames.length);
        },
      ),
    );
  });

  it.each([
    ['of another version', Uint8Array.of(0x80, 2, 0, 1, 0, 0, 0, 0)],
    ['that are too long', Uint8Array.of(0, 0, 0, 1, 0, 0xff, 0xff, 0xff)],
  ])('%s are refused', (_, bytes) => {
    expect(() => new SpdyReader().push(bytes)).toThrow(SpdyError);
  });

  function encoded(frame: SpdyFrame): Uint8Array {
    return frame.type === 'data'
      ? encodeData(frame.stream, frame.bytes, frame.isLast)
      : encodeControl(frame.kind, frame.flags, frame.payload);
  }
});

describe('headers', () => {
  it('are primed with the dictionary of SPDY 3.1', () => {
    expect(HEADER_DICTIONARY.byteLength).toBe(1423);
    expect(createHash('sha256').update(HEADER_DICTIONARY).digest('hex')).toBe(
      '51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02',
    );
  });

  it('that we pack can be read, block by block, by any zlib', async () => {
    const packer = new HeaderPacker();
    const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    for (const text of ['one', '', 'three']) {
      inflate.write(packer.pack(Buffer.from(text)));
      await new Promise<void>((resolve) => inflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
      expect(String(inflate.read() ?? '')).toBe(text);
    }
  });
});

describe('a session', () => {
  it('opens streams, carries both directions, and ends them one by one', async () => {
    const client = new Client();
    await client.open(1, { streamType: 'data', port: '80' });
    await client.open(3, { streamType: 'error', port: '80' });
    const [first, second] = client.streams;
    expect(first?.headers).toEqual({ streamtype: 'data', port: '80' });
    expect(second?.headers).toEqual({ streamtype: 'error', port: '80' });
    client.send(encodeData(1, Buffer.from('to the server'), true));
    expect(await textOf(first?.channel)).toBe('to the server');
    await first?.channel.write(Buffer.from('to the client'));
    first?.channel.end();
    await client.until((frames) => frames.some((frame) => frame.type === 'data' && frame.isLast));
    expect(client.dataOf(1)).toBe('to the client');
    expect(client.frames.filter(isKind(SYN_REPLY)).map(streamOfFrame)).toEqual([1, 3]);
  });

  it('refuses more streams than it may have', async () => {
    const client = new Client(1);
    await client.open(1, { a: 'b' });
    await client.open(3, { a: 'b' });
    await client.until((frames) => frames.some(isKind(RST_STREAM)));
    expect(client.streams.length).toBe(1);
  });

  it('breaks off a stream that the client resets, and no other', async () => {
    const client = new Client();
    await client.open(1, { a: 'b' });
    await client.open(3, { a: 'b' });
    client.send(encodeControl(RST_STREAM, 0, Buffer.concat([word(1), word(5)])));
    client.send(encodeData(3, Buffer.from('alive'), true));
    await expect(textOf(client.streams[0]?.channel)).rejects.toThrow('broken off');
    expect(await textOf(client.streams[1]?.channel)).toBe('alive');
  });

  it('answers pings', async () => {
    const client = new Client();
    client.send(encodeControl(PING, 0, word(7)));
    await client.until((frames) => frames.some(isKind(PING)));
  });

  it('ends with all of its streams when the client goes', async () => {
    const client = new Client();
    await client.open(1, { a: 'b' });
    client.channel.destroy();
    await client.over;
    await expect(textOf(client.streams[0]?.channel)).rejects.toThrow('broken off');
  });

  it('ends when the client speaks nonsense', async () => {
    const client = new Client();
    client.send(Buffer.alloc(64, 0xff));
    await client.over;
  });

  it('sends everything before it ends', async () => {
    const client = new Client();
    await client.open(1, { a: 'b' });
    const [stream] = client.streams;
    void stream?.channel.write(Buffer.alloc(100_000, 'x'));
    stream?.channel.end();
    await client.session.end();
    await client.until((frames) => frames.some((frame) => frame.type === 'data' && frame.isLast));
    expect(client.dataOf(1).length).toBe(100_000);
  });
});

class Client {
  readonly streams: SpdyStream[] = [];
  readonly frames: SpdyFrame[] = [];
  readonly session: ServerSession;
  readonly channel: ByteChannel;
  readonly over: Promise<void>;
  readonly #deflate = createDeflate({ dictionary: HEADER_DICTIONARY });

  constructor(maxStreams = 10) {
    const [mine, theirs] = channelPair();
    this.channel = mine;
    this.session = new ServerSession(theirs, {
      inflater: createHeaderInflater(),
      onStream: (stream) => {
        this.streams.push(stream);
      },
      maxStreams,
    });
    this.over = this.session.run();
    void this.#read();
  }

  send(bytes: Uint8Array): void {
    void this.channel.write(bytes);
  }

  async open(id: number, headers: Readonly<Record<string, string>>): Promise<void> {
    const texts = Object.entries(headers)
      .flat()
      .map((text) => Buffer.from(text));
    const block = Buffer.concat([
      word(texts.length / 2),
      ...texts.flatMap((text) => [word(text.length), text]),
    ]);
    const packed: Buffer[] = [];
    const collect = (chunk: Buffer): void => void packed.push(chunk);
    this.#deflate.on('data', collect);
    this.#deflate.write(block);
    await new Promise<void>((done) => this.#deflate.flush(constants.Z_SYNC_FLUSH, () => done()));
    this.#deflate.off('data', collect);
    const payload = Buffer.concat([word(id), word(0), Buffer.alloc(2), ...packed]);
    const replies = this.frames.length;
    this.send(encodeControl(SYN_STREAM, 0, payload));
    await this.until((frames) => frames.length > replies);
  }

  async until(condition: (frames: readonly SpdyFrame[]) => boolean): Promise<void> {
    await until('the frames come', () => condition(this.frames));
  }

  dataOf(id: number): string {
    const data = this.frames.flatMap((frame) =>
      frame.type === 'data' && frame.stream === id ? [frame.bytes] : [],
    );
    return Buffer.concat(data).toString();
  }

  async #read(): Promise<void> {
    const reader = new SpdyReader();
    try {
      for await (const chunk of this.channel.incoming) {
        this.frames.push(...reader.push(chunk));
      }
    } catch {
      // The session has ended.
    }
  }
}

function isKind(kind: number): (frame: SpdyFrame) => boolean {
  return (frame) => frame.type === 'control' && frame.kind === kind;
}

function streamOfFrame(frame: SpdyFrame): number {
  return frame.type === 'data' ? frame.stream : streamOf(frame.payload);
}

async function textOf(channel: ByteChannel | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of channel?.incoming ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
