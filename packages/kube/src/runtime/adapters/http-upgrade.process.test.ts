/** Connections that leave HTTP, through a real server and a real client. */
import { afterEach, describe, expect, it } from 'vitest';
import { channelPair } from '../byte-channel.ts';
import type { ByteChannel, HttpHandler, HttpResponse } from '../ports/transport.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';

describe('a connection that leaves HTTP', () => {
  let server: HttpServer | undefined;
  let transport: HttpTransport | undefined;

  afterEach(async () => {
    transport?.close();
    await server?.close();
  });

  async function ask(handler: HttpHandler, signal = new AbortController().signal) {
    server = await startHttpServer({ handler, host: '127.0.0.1', port: 0 });
    transport = createHttpTransport({ server: server.url });
    const headers = { connection: 'Upgrade', upgrade: 'spdy/3.1' };
    return transport.send({ method: 'GET', path: '/leave', headers, signal });
  }

  it('carries bytes both ways, under the headers with which the handler agreed', async () => {
    const response = await ask(async () => {
      const [far, near] = channelPair();
      echo(near).catch(() => undefined);
      return agreed(far);
    });
    expect(response.status).toBe(101);
    expect(response.headers).toMatchObject({ upgrade: 'spdy/3.1', 'x-protocol': 'v4' });
    const { channel } = response;
    await channel?.write(Buffer.from('hello'));
    const first = await channel?.incoming[Symbol.asyncIterator]().next();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('hello');
  });

  it('is refused with an ordinary answer', async () => {
    const response = await ask(async () => ({
      status: 404,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('no such place'),
    }));
    expect(response.status).toBe(404);
    expect(response.channel).toBeUndefined();
    expect(await textOf(response.body)).toBe('no such place');
  });

  it('aborts the signal of the handler when the client goes', async () => {
    let aborted: Promise<void> | undefined;
    const client = new AbortController();
    const response = await ask(async ({ signal }) => {
      aborted = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      return agreed(channelPair()[0]);
    }, client.signal);
    expect(response.status).toBe(101);
    client.abort();
    await aborted;
  });

  it('ends for the client when the server closes', async () => {
    const response = await ask(async () => agreed(channelPair()[0]));
    const rest = textOf(response.channel?.incoming ?? new Uint8Array()).catch(() => 'broken');
    await server?.close();
    expect(['', 'broken']).toContain(await rest);
  });
});

function agreed(channel: ByteChannel): HttpResponse {
  const headers = { connection: 'Upgrade', upgrade: 'spdy/3.1', 'x-protocol': 'v4' };
  return { status: 101, headers, body: new Uint8Array(), channel };
}

async function echo(channel: ByteChannel): Promise<void> {
  for await (const chunk of channel.incoming) await channel.write(chunk);
  channel.end();
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
