import { expect, test } from 'vitest';
import { VirtualClock } from '../memory/virtual-clock.ts';
import type { ByteChannel, HttpRequest } from '../ports/transport.ts';
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  encodeFrame,
  type Frame,
  FrameReader,
  MESSAGE_TOO_BIG,
  NORMAL_CLOSURE,
  PROTOCOL_ERROR,
} from './frames.ts';
import { acceptWebSocket, type ServerConnection } from './server-connection.ts';

const MASK = Uint8Array.of(1, 2, 3, 4);
const IDLE_MS = 60_000;

test('the protocol is the one that the client prefers', () => {
  const accept = (wanted: string) =>
    acceptWebSocket(request(wanted), ['a', 'b'], options(new VirtualClock()))?.protocol;
  expect(accept('x, b, a')).toBe('b');
  expect(accept('x')).toBeUndefined();
  expect(accept('')).toBeUndefined();
});

test('messages arrive whole, however they are cut into frames', async () => {
  const { client, messages } = open();
  client.send(BINARY, 'one', true);
  client.send(BINARY, 'tw', false);
  client.send(CONTINUATION, 'o', true);
  client.send(CLOSE, '', true);
  expect(await all(messages)).toEqual(['one', 'two']);
  expect(await client.closeCode()).toBe(NORMAL_CLOSURE);
});

test.each([
  ['a continuation of nothing', [[CONTINUATION, 'x', true]], PROTOCOL_ERROR],
  [
    'a message within another',
    [
      [BINARY, 'x', false],
      [BINARY, 'y', true],
    ],
    PROTOCOL_ERROR,
  ],
  [
    'parts that are too long together',
    [
      [BINARY, 'x'.repeat(80), false],
      [CONTINUATION, 'x'.repeat(80), true],
    ],
    MESSAGE_TOO_BIG,
  ],
] as const)('%s ends the connection, and says why', async (_, frames, code) => {
  const { client, messages } = open();
  for (const [opcode, text, isFinal] of frames) client.send(opcode, text, isFinal);
  expect(await all(messages)).toEqual([]);
  expect(await client.closeCode()).toBe(code);
});

test('a connection that is silent for too long is closed; one that is not is kept', async () => {
  const { clock, client, messages } = open();
  const end = all(messages);
  await clock.advance(IDLE_MS - 1);
  client.send(BINARY, 'here', true);
  await clock.advance(IDLE_MS - 1);
  expect(client.frames).toEqual([]);
  await clock.advance(IDLE_MS);
  expect(await client.closeCode()).toBe(NORMAL_CLOSURE);
  expect(await end).toEqual(['here']);
});

test('a client that does not close in its turn is not waited for', async () => {
  const { clock, connection, messages } = open();
  const end = all(messages);
  await connection.close();
  await clock.advance(10_000);
  expect(await end).toEqual([]);
});

function open() {
  const clock = new VirtualClock();
  const accepted = acceptWebSocket(request('p'), ['p'], options(clock));
  const { response, connection } = accepted ?? {};
  if (response?.channel === undefined || connection === undefined) throw new Error('refused');
  return {
    clock,
    connection,
    client: new Client(response.channel),
    messages: connection.messages(),
  };
}

class Client {
  readonly frames: Frame[] = [];
  readonly #channel: ByteChannel;
  readonly #over: Promise<void>;

  constructor(channel: ByteChannel) {
    this.#channel = channel;
    this.#over = this.#read();
  }

  send(opcode: number, text: string, isFinal: boolean): void {
    const frame = encodeFrame(opcode, Buffer.from(text), { isFinal, mask: MASK });
    void this.#channel.write(frame);
  }

  async closeCode(): Promise<number | undefined> {
    await this.#over;
    const last = this.frames.at(-1);
    return last?.opcode === CLOSE ? Buffer.from(last.payload).readUInt16BE(0) : undefined;
  }

  async #read(): Promise<void> {
    const reader = new FrameReader({ maxPayloadBytes: 1000, from: 'server' });
    try {
      for await (const chunk of this.#channel.incoming) this.frames.push(...reader.push(chunk));
    } catch {
      // The server broke it off.
    }
    this.#channel.end();
  }
}

async function all(messages: ReturnType<ServerConnection['messages']>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const message of messages) texts.push(Buffer.from(message).toString());
  return texts;
}

function options(clock: VirtualClock) {
  return { clock, idleTimeoutMs: IDLE_MS, maxMessageBytes: 100 };
}

function request(protocols: string): HttpRequest {
  const headers = { upgrade: 'websocket', 'sec-websocket-protocol': protocols };
  return { method: 'GET', path: '/', headers, signal: new AbortController().signal };
}
