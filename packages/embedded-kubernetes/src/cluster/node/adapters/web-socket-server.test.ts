/** The WebSocket server on real sockets: its answer, its messages and its limits. */
import { once } from 'node:events';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { expect, test } from 'vitest';
import type { WebSocketConnection } from '../ports/web-socket.ts';
import { openWebSocket } from '../streaming/web-socket-client.fixture.ts';
import { acceptWebSocket } from './web-socket-server.ts';

const IDLE_MS = 60_000;
const MAX_BYTES = 100;
const HEADERS = {
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'a, p',
};

test('the answer has the protocol and the proof of RFC 6455, section 1.3', () => {
  expect(open().response).toMatchObject({
    status: 101,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'sec-websocket-protocol': 'p',
    },
  });
});

test.each([
  ['no key', { 'sec-websocket-key': '' }, 'Sec-WebSocket-Key'],
  ['a version of long ago', { 'sec-websocket-version': '7' }, 'Sec-WebSocket-Version'],
])('a request with %s is refused with a reason', (_, headers, why) => {
  const accepted = acceptWebSocket(request(headers), 'p', limits(new VirtualClock()));
  expect(accepted).toContain(`Missing or invalid ${why} header`);
});

test('messages arrive whole and in order, and go back', async () => {
  const { client, connection } = await connect();
  client.send('one');
  client.send('tw', { fin: false });
  client.send('o');
  const messages = connection.messages();
  expect([await next(messages), await next(messages)]).toEqual(['one', 'two']);
  const answer = once(client, 'message');
  await connection.send(Buffer.from('three'));
  expect(String((await answer)[0])).toBe('three');
  client.close(1000);
  expect(await all(messages)).toEqual([]);
});

test('a client is held back until the server reads, and loses nothing', async () => {
  const { client, connection } = await connect();
  const count = 20_000;
  let sent = 0;
  for (let i = 0; i < count; i++) client.send('x'.repeat(MAX_BYTES), () => sent++);
  const messages = connection.messages();
  expect(await next(messages)).toHaveLength(MAX_BYTES);
  expect(sent).toBeLessThan(count / 2);
  let read = 1;
  while (read < count) {
    await messages.next();
    read++;
  }
  client.terminate();
  expect(await all(messages)).toEqual([]);
});

// The frames as bytes: head, length, a mask of zeros and the payload.
test.each([
  ['a continuation of nothing', [0x80, 0x81, 0, 0, 0, 0, 120], 1002],
  ['a message within another', [1, 0x81, 0, 0, 0, 0, 120, 0x81, 0x81, 0, 0, 0, 0, 121], 1002],
  ['reserved bits', [0xc2, 0x80, 0, 0, 0, 0], 1002],
  ['an unknown opcode', [0x83, 0x80, 0, 0, 0, 0], 1002],
  ['a ping in fragments', [0x09, 0x80, 0, 0, 0, 0], 1002],
  ['a long close', [0x88, 0xfe, 0, 126, 0, 0, 0, 0], 1002],
  ['no mask', [0x82, 1, 120], 1002],
  ['a long message', [0x82, 0x80 | (MAX_BYTES + 1), 0, 0, 0, 0], 1009],
  ['a length beyond all numbers', [0x82, 0xff, 255, 255, 255, 255, 255, 255, 255, 255], 1009],
  ['parts that are too long together', [...part(2, 80), ...part(0x80, 80)], 1009],
])('%s ends the connection, and says why', async (_, bytes, code) => {
  const { clock, connection, channel, closeCode } = open();
  void channel.write(Uint8Array.from(bytes));
  const end = all(connection.messages());
  await clock.advance(2_000);
  expect(await end).toEqual([]);
  expect(await closeCode).toBe(code);
});

test('a connection that is silent for too long is closed; one that is not is kept', async () => {
  const { clock, connection, channel, closeCode } = open();
  const end = all(connection.messages());
  await clock.advance(IDLE_MS - 1);
  void channel.write(Uint8Array.of(0x82, 0x81, 0, 0, 0, 0, 120));
  await clock.advance(IDLE_MS - 1);
  await connection.send(Buffer.from('y'));
  await clock.advance(IDLE_MS - 1);
  expect(clock.pendingTimers).toBe(1);
  await clock.advance(1);
  await clock.advance(2_000);
  expect(await end).toEqual(['x']);
  expect(await closeCode).toBe(1000);
  expect(clock.pendingTimers).toBe(0);
});

test('a client that does not close in its turn is cut off', async () => {
  const { clock, connection } = open();
  const end = all(connection.messages());
  connection.close();
  await clock.advance(2_000);
  expect(await end).toEqual([]);
  await connection.send(Buffer.from('to nobody'));
});

/** A connection and the far end of its bytes. */
function open() {
  const clock = new VirtualClock();
  const accepted = acceptWebSocket(request({}), 'p', limits(clock));
  if (typeof accepted === 'string') throw new Error(accepted);
  const { response, connection } = accepted;
  const { channel } = response;
  if (channel === undefined) throw new Error('no channel');
  return { clock, response, connection, channel, closeCode: codeOf(channel.incoming) };
}

/** A connection and a client of it. */
async function connect() {
  const connections: WebSocketConnection[] = [];
  const client = await openWebSocket(
    async (asked) => {
      const accepted = acceptWebSocket(asked, 'p', limits(new VirtualClock()));
      if (typeof accepted === 'string') throw new Error(accepted);
      connections.push(accepted.connection);
      return accepted.response;
    },
    '/',
    'p',
  );
  const [connection] = connections;
  if (connection === undefined) throw new Error('not accepted');
  return { client, connection };
}

/** The code of the close frame, the last that the server sends. */
async function codeOf(incoming: AsyncIterable<Uint8Array>): Promise<number | undefined> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk);
  } catch {
    // It was cut off.
  }
  const bytes = Buffer.concat(chunks);
  const at = bytes.indexOf(0x88);
  return at === -1 ? undefined : bytes.readUInt16BE(at + 2);
}

function part(head: number, size: number): readonly number[] {
  return [head, 0x80 | size, 0, 0, 0, 0, ...new Uint8Array(size)];
}

async function next(messages: AsyncGenerator<Uint8Array, void>): Promise<string> {
  const { value } = await messages.next();
  return Buffer.from(value ?? []).toString();
}

async function all(messages: AsyncGenerator<Uint8Array, void>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const message of messages) texts.push(Buffer.from(message).toString());
  return texts;
}

function limits(clock: VirtualClock) {
  return { clock, idleTimeoutMs: IDLE_MS, maxMessageBytes: MAX_BYTES };
}

function request(headers: Record<string, string>): HttpRequest {
  const signal = new AbortController().signal;
  return { method: 'GET', path: '/', headers: { ...HEADERS, ...headers }, signal };
}
