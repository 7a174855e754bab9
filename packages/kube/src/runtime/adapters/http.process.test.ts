import http from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../until.fixture.ts';
import { BodyBudget } from '../body-budget.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../ports/transport.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(
  handler: HttpHandler,
  options: Partial<HttpServerOptions> = {},
): Promise<HttpServer> {
  const server = await startHttpServer({ handler, host: '127.0.0.1', port: 0, ...options });
  cleanups.push(() => server.close());
  return server;
}

function connect(
  server: string,
  options: Partial<Parameters<typeof createHttpTransport>[0]> = {},
): HttpTransport {
  const transport = createHttpTransport({ server, ...options });
  cleanups.push(() => transport.close());
  return transport;
}

/** A server that sends raw bytes: answers that no correct server gives. */
async function serveRaw(
  answer: (socket: net.Socket) => void,
): Promise<{ readonly url: string; readonly connections: () => number }> {
  let connections = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as net.AddressInfo;
  return { url: `http://127.0.0.1:${port}`, connections: () => connections };
}

function get(path: string, signal = new AbortController().signal): HttpRequest {
  return { method: 'GET', path, headers: {}, signal };
}

function post(body: Uint8Array): HttpRequest {
  return { ...get('/'), method: 'POST', body };
}

const ok = (text: string): HttpResponse => ({ status: 200, headers: {}, body: Buffer.from(text) });

async function textOf(response: HttpResponse): Promise<string> {
  if (response.body instanceof Uint8Array) return Buffer.from(response.body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const answeredOf = (crowd: readonly { isAnswered(): boolean }[]): number =>
  crowd.filter((one) => one.isAnswered()).length;

/** Yields `chunks`, then waits until the signal aborts, like a quiet watch. */
function endless(signal: AbortSignal, chunks: readonly string[] = []): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const chunk of chunks) yield Buffer.from(chunk);
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      }
    },
  };
}

/** A request whose body never ends. */
function unfinished(
  { host, port }: HttpServer,
  { sends }: { readonly sends: number },
): { readonly answer: Promise<string>; readonly isAnswered: () => boolean } {
  const socket = net.connect(port, host);
  cleanups.push(() => socket.destroy());
  socket.on('error', () => undefined);
  const size = sends === 0 ? 'transfer-encoding: chunked' : 'content-length: 1000000';
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${size}\r\n\r\n`);
  socket.write(Buffer.alloc(sends));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const answer = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  return { answer, isAnswered: () => text !== '' || socket.closed };
}

describe('an exchange over a socket', () => {
  it('carries method, path, headers and body both ways', async () => {
    const server = await serve(async (request) => ({
      status: 201,
      headers: { 'x-answer': 'yes' },
      body: Buffer.from(
        JSON.stringify({
          method: request.method,
          path: request.path,
          header: request.headers['x-question'],
          body: Buffer.from(request.body ?? []).toString(),
          peer: request.peer,
        }),
      ),
    }));
    const transport = connect(`${server.url}/prefix/`);

    const response = await transport.send({
      ...get('/api/v1/pods?limit=1'),
      method: 'PUT',
      headers: { 'x-question': 'well?' },
      body: Buffer.from('bytes'),
    });

    expect(response.status).toBe(201);
    expect(response.headers['x-answer']).toBe('yes');
    expect(JSON.parse(await textOf(response))).toEqual({
      method: 'PUT',
      path: '/prefix/api/v1/pods?limit=1',
      header: 'well?',
      body: 'bytes',
      peer: { address: '127.0.0.1', port: expect.any(Number) },
    });
  });

  it('keeps connections for short requests, within the limit, and queues the rest', async () => {
    const peers = new Set<string | undefined>();
    let running = 0;
    let most = 0;
    const server = await serve(async (request) => {
      running++;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      peers.add(request.peer?.address);
      return ok('');
    });
    const transport = connect(server.url, { maxConnections: 3 });

    const all = Array.from({ length: 50 }, async () => textOf(await transport.send(get('/'))));
    await Promise.all(all);

    expect(most).toBeLessThanOrEqual(3);
  });

  it('lets no number of watches keep a short request waiting', async () => {
    const server = await serve(async (request) =>
      request.path.includes('watch=true')
        ? { status: 200, headers: {}, body: endless(request.signal, ['{}\n']) }
        : ok('quick'),
    );
    const transport = connect(server.url, { maxConnections: 2 });
    const watches = await Promise.all(
      Array.from({ length: 10 }, () => transport.send(get('/pods?watch=true'))),
    );

    expect(await textOf(await transport.send(get('/pods')))).toBe('quick');
    expect(watches.map((watch) => watch.status)).toEqual(Array(10).fill(200));
  });

  it('has the system probe every connection, so that a vanished peer is noticed', async () => {
    const server = await serve(async () => ok(''));
    const probed = vi.spyOn(net.Socket.prototype, 'setKeepAlive');
    cleanups.push(() => probed.mockRestore());
    const transport = connect(server.url);
    await textOf(await transport.send(get('/')));
    await textOf(await transport.send(get('/?watch=true')));
    const firstProbes = probed.mock.calls.filter(([enabled]) => enabled === true);
    expect(firstProbes.filter(([, delayMs]) => delayMs === 30_000).length).toBeGreaterThanOrEqual(
      2,
    );
  });

  it('flushes each chunk of a stream when it is made', async () => {
    let release: () => void = () => undefined;
    const server = await serve(async () => ({
      status: 200,
      headers: {},
      body: {
        async *[Symbol.asyncIterator]() {
          for (const chunk of ['one', 'two']) {
            yield Buffer.from(chunk);
            await new Promise<void>((resolve) => {
              release = resolve;
            });
          }
        },
      },
    }));
    const response = await connect(server.url).send(get('/'));
    const seen: string[] = [];

    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      seen.push(Buffer.from(chunk).toString());
      release();
    }

    expect(seen).toEqual(['one', 'two']);
  });

  it('reads a stream no faster than the peer takes it', async () => {
    let made = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const server = await serve(async () => ({
      status: 200,
      headers: {},
      body: {
        async *[Symbol.asyncIterator]() {
          for (; made < 4_000; made++) yield chunk;
        },
      },
    }));
    const response = await connect(server.url).send(get('/?watch=true'));
    let taken = 0;
    let mostAhead = 0;

    for await (const part of response.body as AsyncIterable<Uint8Array>) {
      taken += part.byteLength;
      mostAhead = Math.max(mostAhead, made * chunk.byteLength - taken);
      if (taken > 20_000_000) break;
    }

    // The buffers of both ends, far below the 250 MB that the server offers.
    expect(mostAhead).toBeLessThan(50_000_000);
  });

  it('tells the handler when the client aborts, and the client the reason of its signal', async () => {
    let aborted = false;
    const server = await serve(async (request) => {
      request.signal.addEventListener('abort', () => {
        aborted = true;
      });
      return { status: 200, headers: {}, body: endless(request.signal, ['{}\n']) };
    });
    const controller = new AbortController();
    const response = await connect(server.url).send(get('/?watch=1', controller.signal));
    const reading = textOf(response);
    controller.abort(new Error('enough'));

    await expect(reading).rejects.toThrow('enough');
    await until('the handler is told', () => aborted);
  });

  it('aborts a request that got no answer yet', async () => {
    let signal: AbortSignal | undefined;
    const server = await serve((request) => {
      signal = request.signal;
      return new Promise((resolve) => {
        request.signal.addEventListener('abort', () => resolve(ok('too late')));
      });
    });
    const controller = new AbortController();
    const sending = connect(server.url).send(get('/', controller.signal));
    await until('the request arrives', () => signal !== undefined);
    controller.abort(new Error('enough'));

    await expect(sending).rejects.toThrow('enough');
    await until('the handler is told', () => signal?.aborted === true);
  });

  it('closes the connection of a client that stops reading', async () => {
    let signal: AbortSignal | undefined;
    const server = await serve(async (request) => {
      signal = request.signal;
      return { status: 200, headers: {}, body: endless(request.signal, ['{}\n']) };
    });
    const response = await connect(server.url).send(get('/?watch=true'));
    for await (const _ of response.body as AsyncIterable<Uint8Array>) break;

    await until('the handler is told', () => signal?.aborted === true);
  });

  it('does not abort the signal of an exchange that ended well', async () => {
    let signal: AbortSignal | undefined;
    const server = await serve(async (request) => {
      signal = request.signal;
      return ok('done');
    });
    const transport = connect(server.url);
    await textOf(await transport.send(get('/')));
    transport.close();
    await server.close();

    expect(signal?.aborted).toBe(false);
  });
});

describe('a transport whose peer fails', () => {
  it('names a refused connection', async () => {
    const { url } = await serve(async () => ok(''));
    await cleanups.pop()?.();
    await expect(connect(url).send(get('/'))).rejects.toMatchObject({
      name: 'TransportError',
      code: 'ECONNREFUSED',
    });
  });

  it('names a connection that is reset before the answer', async () => {
    const { url } = await serveRaw((socket) => socket.resetAndDestroy());
    await expect(connect(url).send(get('/'))).rejects.toMatchObject({
      name: 'TransportError',
      code: 'ECONNRESET',
    });
  });

  const head = 'HTTP/1.1 200 OK\r\n';
  it.each([
    ['a body shorter than announced', `${head}content-length: 9\r\n\r\nshort`],
    ['a chunked body without its end', `${head}transfer-encoding: chunked\r\n\r\n5\r\nshort\r\n`],
  ])('fails on %s, after what arrived', async (_, answer) => {
    const { url } = await serveRaw((socket) => socket.end(answer));
    const response = await connect(url).send(get('/'));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        seen.push(Buffer.from(chunk).toString());
      }
    })();

    await expect(reading).rejects.toMatchObject({ name: 'TransportError' });
    expect(seen).toEqual(['short']);
  });

  it('fails on an answer that is not HTTP', async () => {
    const { url } = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await expect(connect(url).send(get('/'))).rejects.toMatchObject({ name: 'TransportError' });
  });

  it('gives up waiting for the head of the answer', async () => {
    const { url } = await serveRaw(() => undefined);
    await expect(connect(url, { headTimeoutMs: 20 }).send(get('/'))).rejects.toMatchObject({
      name: 'TransportError',
      code: 'ETIMEDOUT',
    });
  });

  it('gives up on a body that falls silent, when asked to', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n5\r\nshort\r\n`);
    });
    const response = await connect(url, { idleTimeoutMs: 20 }).send(get('/?watch=true'));
    await expect(textOf(response)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('gives up on a TLS handshake without an answer', async () => {
    const { url } = await serveRaw(() => undefined);
    const transport = connect(url.replace('http', 'https'), { connectTimeoutMs: 20 });
    await expect(transport.send(get('/'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it.each(['', 'localhost:6443', 'ftp://host', 'https://'])('refuses %j as server', (server) => {
    expect(() => createHttpTransport({ server })).toThrow(
      `server: ${JSON.stringify(server)}: must be an http:// or https:// URL`,
    );
  });

  it('refuses requests after it was closed', async () => {
    const server = await serve(async () => ok(''));
    const transport = connect(server.url);
    transport.close();
    await expect(transport.send(get('/'))).rejects.toMatchObject({ code: 'ECLOSED' });
  });
});

describe('a server whose peer misbehaves', () => {
  it('answers 413 to a body beyond the limit, announced or not, and continues', async () => {
    const server = await serve(async () => ok('fine'), { bodies: { maxBytes: 1_000 } });
    const transport = connect(server.url);
    const announced = await transport.send(post(Buffer.alloc(2_000_000)));
    expect(announced.status).toBe(413);
    expect(JSON.parse(await textOf(announced))).toMatchObject({
      kind: 'Status',
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 1000',
    });
    const chunked = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.request(server.url, { method: 'POST' }, resolve).on('error', reject);
      for (let i = 0; i < 20; i++) request.write(Buffer.alloc(100_000));
      request.end();
    });
    expect(chunked.statusCode).toBe(413);
    chunked.resume();
    const exact = await transport.send(post(Buffer.alloc(1_000)));
    expect(await textOf(exact)).toBe('fine');
  });

  it('answers 408 to a body that does not come in time, and closes the connection', async () => {
    const server = await serve(async () => ok('fine'), { bodies: { timeoutMs: 20 } });
    const socket = unfinished(server, { sends: 10 });
    expect(await socket.answer).toMatch(/^HTTP\/1.1 408 /);
    expect(await socket.answer).toContain('did not arrive within 20 ms');
  });

  it('takes no bodies where it has been told to take none', async () => {
    const server = await serve(async () => ok('fine'), { bodies: { maxBytes: 0 } });
    const announced = unfinished(server, { sends: 10 });
    expect(await announced.answer).toMatch(/^HTTP\/1.1 413 /);
    const chunked = unfinished(server, { sends: 0 });
    expect(await chunked.answer).toMatch(/^HTTP\/1.1 413 /);
    expect(await textOf(await connect(server.url).send(get('/')))).toBe('fine');
  });

  it('turns unfinished bodies away when there are too many, and takes those that come whole', async () => {
    const limits = { maxBytes: 400_000, maxLargeBytes: 300_000, smallBodyBytes: 1_000 };
    const budget = new BodyBudget(limits);
    const server = await serve(async () => ok('fine'), { bodies: { budget } });
    const crowd = Array.from({ length: 20 }, () => unfinished(server, { sends: 90_000 }));
    await until('17 are turned away', () => expect(answeredOf(crowd)).toBe(17));
    const whole = await connect(server.url).send(post(Buffer.alloc(250_000)));
    expect(await textOf(whole)).toBe('fine');
    const refused = crowd.find(({ isAnswered }) => isAnswered());
    expect(await refused?.answer).toMatch(/^HTTP\/1.1 429 /);
    expect(await refused?.answer).toContain('retry-after: 1');
    await until('room is free', () => expect(budget.heldBytes).toBeLessThanOrEqual(100_000));
  });

  it('keeps room for others than a crowd of idle connections', async () => {
    const server = await serve(async () => ok('fine'), { maxConnections: 10 });
    const crowd = Array.from({ length: 30 }, () => unfinished(server, { sends: 10 }));
    const other = net.connect(server.port, server.host);
    cleanups.push(() => other.destroy());
    await until('20 are turned away', () => expect(answeredOf(crowd)).toBeGreaterThanOrEqual(20));
    const answer = new Promise<string>((resolve) =>
      other.once('data', (data) => resolve(`${data}`)),
    );
    other.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each([
    ['a line that is not HTTP', 'what?\r\n\r\n', 400],
    [
      'a head beyond the limit',
      `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(70_000)}\r\n\r\n`,
      431,
    ],
    ['a method that no API has', 'TRACE / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 405],
    ['a target that is no path', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ['a head that never ends', 'GET / HTTP/1.1\r\nhost:', 408],
  ])('answers %s', async (_, bytes, status) => {
    const server = await serve(async () => ok('fine'), { headerTimeoutMs: 50 });
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(server.port, server.host);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.once('close', () => resolve(text));
      socket.once('error', reject);
      socket.write(bytes);
    });

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await textOf(await connect(server.url).send(get('/')))).toBe('fine');
  });

  it('does not call the handler for a request whose peer left in the middle', async () => {
    let calls = 0;
    const server = await serve(async () => {
      calls++;
      return ok('');
    });
    await new Promise<void>((resolve) => {
      const socket = net.connect(server.port, server.host);
      socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nshort', () => {
        socket.destroy();
      });
      socket.once('close', () => resolve());
    });
    await textOf(await connect(server.url).send(get('/')));

    expect(calls).toBe(1);
  });

  it('answers 500 when the handler throws, and breaks the connection when a body does', async () => {
    const server = await serve(async (request) => {
      if (request.path === '/handler') throw new Error('a bug');
      return {
        status: 200,
        headers: {},
        body: {
          async *[Symbol.asyncIterator]() {
            yield Buffer.from('some');
            throw new Error('a bug');
          },
        },
      };
    });
    const transport = connect(server.url);
    const failed = await transport.send(get('/handler'));
    expect(failed.status).toBe(500);
    expect(JSON.parse(await textOf(failed))).toMatchObject({ reason: 'InternalError' });

    const broken = await transport.send(get('/body'));
    await expect(textOf(broken)).rejects.toMatchObject({ name: 'TransportError' });
  });

  it('answers HEAD without a body', async () => {
    const server = await serve(async () => ok('this is never read'));
    const response = await connect(server.url).send({ ...get('/'), method: 'HEAD' });
    expect([response.status, await textOf(response)]).toEqual([200, '']);
  });

  it('reports an address that is taken', async () => {
    const server = await serve(async () => ok(''));
    const second = startHttpServer({
      handler: async () => ok(''),
      host: server.host,
      port: server.port,
    });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('closing a server', () => {
  it('ends streams properly, drops idle connections, and can be asked twice', async () => {
    const server = await serve(async (request) =>
      request.path === '/stream'
        ? { status: 200, headers: {}, body: endless(request.signal, ['first\n']) }
        : ok('quick'),
    );
    const transport = connect(server.url);
    await textOf(await transport.send(get('/')));
    const reading = textOf(await transport.send(get('/stream')));
    await Promise.all([server.close(), server.close()]);

    expect(await reading).toBe('first\n');
    await expect(transport.send(get('/'))).rejects.toMatchObject({ name: 'TransportError' });
  });

  it('cuts off what does not end by itself', async () => {
    let called = false;
    const server = await serve(() => {
      called = true;
      return new Promise(() => undefined);
    });
    const sending = connect(server.url).send(get('/'));
    sending.catch(() => undefined);
    await until('the request arrives', () => called);
    await server.close();

    await expect(sending).rejects.toMatchObject({ name: 'TransportError' });
  });
});
