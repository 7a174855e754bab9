import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { Duplex } from 'node:stream';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defined } from '../../json/defined.ts';
import { until } from '../../until.fixture.ts';
import { staticToken } from '../credentials/credential-source.ts';
import {
  type ByteStream,
  type StreamAcceptor,
  type StreamListener,
  StreamRefusedError,
} from '../ports/stream.ts';
import { processSessionStore, type TlsSessionStore } from '../ports/tls-session.ts';
import { TransportError } from '../ports/transport.ts';
import { nodeClock } from './node-clock.ts';
import { createStreamConnector } from './stream-connector.ts';
import { type StreamServer, startStreamServer } from './stream-server.ts';
import { createCertificateAuthority, issueCertificate } from './tls/certificates.ts';

const authority = createCertificateAuthority({ commonName: 'test', clock: nodeClock });
const pairFor = (address: string) =>
  issueCertificate(authority, {
    commonName: 'hub',
    ipAddresses: [address],
    usages: ['server'],
    days: 1,
  });

/** Sends back what it receives. */
const ECHO: StreamAcceptor = ({ token }) =>
  Promise.resolve(
    token === 'good'
      ? {
          kind: 'Accept',
          open: (stream) => ({ received: (chunk) => stream.write(chunk), closed: () => undefined }),
        }
      : { kind: 'Refuse', status: 401, reason: 'the token is not valid: it has expired' },
  );

const MAX_PENDING = 50;
/** A busy machine needs seconds to begin as many handshakes as may be pending. */
const HANDSHAKE_TIMEOUT_MS = 6000;
const PROTOCOL = 'test/1';

let server: StreamServer;
beforeEach(async () => {
  server = await listen(ECHO);
});
afterEach(() => server.close());

/** The number of requests for the page. */
let pagesAsked = 0;
/** The number of pages whose readers have taken them, or are gone. */
let pagesOver = 0;

function listen(acceptor: StreamAcceptor): Promise<StreamServer> {
  pagesAsked = 0;
  pagesOver = 0;
  return startStreamServer({
    acceptor,
    pages: new Map([
      [
        '/page',
        ({ token }) => {
          pagesAsked++;
          return Promise.resolve(
            token === 'good'
              ? { kind: 'Page', json: Buffer.from('["page"]'), over: () => pagesOver++ }
              : { kind: 'Refuse', status: 429, reason: 'too often', retryAfterSeconds: 3 },
          );
        },
      ],
    ]),
    path: '/hub',
    protocol: PROTOCOL,
    host: '127.0.0.1',
    port: 0,
    tls: pairFor('127.0.0.1'),
    maxStreams: 1000,
    maxPending: MAX_PENDING,
    handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
  });
}

class Client implements StreamListener {
  text = '';
  closes = 0;

  received(chunk: Uint8Array): void {
    this.text += Buffer.from(chunk).toString();
  }

  closed(): void {
    this.closes++;
  }
}

function connect(
  client: StreamListener,
  {
    token = 'good',
    ca = authority.certificate,
    path = '/hub',
    url = server.url,
    sessions = processSessionStore(),
  } = {},
): Promise<ByteStream> {
  const connector = createStreamConnector({
    server: url,
    path,
    protocol: PROTOCOL,
    certificateAuthority: ca,
    credentials: staticToken(token),
    sessions,
  });
  return connector.connect(client, AbortSignal.timeout(20_000));
}

describe('a stream', () => {
  it('carries bytes both ways, and tells both ends once that it is over', async () => {
    const client = new Client();
    const stream = await connect(client);
    stream.write(Buffer.from('one'));
    await until('the answer comes', () => expect(client.text).toBe('one'));
    stream.write(Buffer.from('x'.repeat(200_000)));
    await until('all comes back', () => expect(client.text).toHaveLength(200_003));
    stream.end();
    await until('it is closed', () => client.closes > 0);
    expect(client.closes).toBe(1);
  });

  it('ends when the server closes, which then frees its port', async () => {
    const client = new Client();
    await connect(client);
    await server.close();
    await until('it is closed', () => client.closes === 1);
    await expect(connect(new Client())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('continues when the certificate changes, and new ones are shown the new one', async () => {
    const client = new Client();
    const stream = await connect(client);
    const other = createCertificateAuthority({ commonName: 'other', clock: nodeClock });
    server.useCertificate(
      issueCertificate(other, {
        commonName: 'hub',
        ipAddresses: ['127.0.0.1'],
        usages: ['server'],
        days: 1,
      }),
    );
    await expect(connect(new Client())).rejects.toBeInstanceOf(TransportError);
    await connect(new Client(), { ca: other.certificate });
    stream.write(Buffer.from('still'));
    await until('the answer comes', () => expect(client.text).toBe('still'));
  });
});

describe('a stream through a proxy that ends TLS and speaks HTTP to both sides', () => {
  let proxy: https.Server;
  let url: string;
  beforeEach(async () => {
    proxy = await startProxy();
    const address = proxy.address();
    url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterEach(() => {
    proxy.closeAllConnections();
    proxy.close();
  });

  it('carries bytes both ways, and ends when either side ends', async () => {
    const client = new Client();
    const stream = await connect(client, { url });
    stream.write(Buffer.from('there and back'));
    await until('the answer comes', () => expect(client.text).toBe('there and back'));
    await server.close();
    await until('it is closed', () => client.closes === 1);
  });

  it('is refused with the status and the reason of the server', async () => {
    const refused = connect(new Client(), { url, token: 'old' });
    await expect(refused).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('it has expired'),
    });
  });
});

/** Acts like any reverse proxy: passes the request on and, after 101, the bytes. */
async function startProxy(): Promise<https.Server> {
  const { certificate: cert, key } = pairFor('127.0.0.1');
  const started = https.createServer({ cert, key });
  started.on('upgrade', (request, socket, head) => {
    const { method, url: path, headers } = request;
    const onward = https.request(`${server.url}${path}`, {
      ...defined({ method }),
      headers,
      ca: authority.certificate,
      agent: false,
    });
    onward.once('upgrade', ({ headers: answer }, upstream, first) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${linesOf(answer)}\r\n`);
      socket.write(first);
      upstream.write(head);
      upstream.pipe(socket).on('error', () => upstream.destroy());
      socket.pipe(upstream).on('error', () => socket.destroy());
    });
    onward.once('response', (response) => {
      socket.write(`HTTP/1.1 ${response.statusCode} Refused\r\n${linesOf(response.headers)}\r\n`);
      response.pipe(socket);
    });
    onward.end();
  });
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return started;
}

function linesOf(headers: IncomingHttpHeaders): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return lines.join('');
}

describe('a client that gets no stream gets the reason', () => {
  it('when the acceptor refuses, with status and reason', async () => {
    const refused = connect(new Client(), { token: 'old' });
    await expect(refused).rejects.toBeInstanceOf(StreamRefusedError);
    await expect(refused).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('it has expired'),
    });
  });

  it('on another path', async () => {
    await expect(connect(new Client(), { path: '/other' })).rejects.toMatchObject({ status: 404 });
  });

  it('when it asks for no upgrade', async () => {
    const status = await new Promise((resolve, reject) => {
      https
        .get(`${server.url}/hub`, { ca: authority.certificate }, (response) => {
          response.resume();
          resolve([response.statusCode, response.headers.upgrade]);
        })
        .on('error', reject);
    });
    expect(status).toEqual([426, PROTOCOL]);
  });

  it('when the port is closed, or the server is not trusted', async () => {
    await expect(connect(new Client(), { url: 'https://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    const other = createCertificateAuthority({ commonName: 'other', clock: nodeClock });
    await expect(connect(new Client(), { ca: other.certificate })).rejects.toBeInstanceOf(
      TransportError,
    );
  });
});

describe('a page', () => {
  /** Everything that the server answers to these pieces, sent one after the other. */
  async function answerTo(...pieces: readonly string[]): Promise<string> {
    const { host, port } = server;
    const socket = tls.connect({ host, port, ca: authority.certificate });
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // Writing to a connection that the server has closed fails.
    socket.on('error', () => undefined);
    for (const piece of pieces) {
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    }
    await closed;
    return text;
  }

  const request = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer good\r\n${more}\r\n`;

  it('is answered, and its connection closed', async () => {
    const text = await answerTo(request('/page'));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(text).toContain('["page"]');
    await until('the page is over', () => pagesOver === 1);
  });

  it.each<[string, readonly string[]]>([
    ['in one piece with it', [request('/page').repeat(1000)]],
    ['in pieces of their own', Array.from({ length: 1000 }, () => request('/page'))],
    ['and are for no page', [request('/page'), request('/nothing').repeat(1000)]],
    [
      'and are for a stream',
      [request('/page') + request('/hub', `Connection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n`)],
    ],
  ])('is answered once, whatever requests follow %s', async (_how, pieces) => {
    const text = await answerTo(...pieces);
    expect(pagesAsked).toBe(1);
    expect(text.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(text).not.toContain('101');
  });

  it('has no body to wait for', async () => {
    expect(await answerTo(request('/page', 'Content-Length: 1000000\r\n'))).toContain('["page"]');
  });

  it('is refused with a status, a reason and when to come again', async () => {
    const text = await answerTo(request('/page').replace('good', 'bad'));
    expect(text).toMatch(/^HTTP\/1\.1 429 /);
    expect(text).toMatch(/\r\nretry-after: 3\r\n/i);
    expect(text).toContain('too often\n');
  });
});

describe('those who never say who they are', () => {
  async function strangers(count: number): Promise<readonly net.Socket[]> {
    const sockets = Array.from({ length: count }, () =>
      net.connect(server.port, '127.0.0.1').on('error', () => undefined),
    );
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
    );
    return sockets;
  }

  async function untilClosed(sockets: readonly net.Socket[]): Promise<void> {
    for (const socket of sockets) {
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    }
  }

  it('are cut off, the first first, and do not keep others out', async () => {
    const held = new Client();
    const stream = await connect(held);
    const idle = await strangers(4 * MAX_PENDING);
    const client = new Client();
    const late = await connect(client);
    late.write(Buffer.from('here'));
    await until('the answer comes', () => expect(client.text).toBe('here'));
    stream.write(Buffer.from('still'));
    await until('the answer comes', () => expect(held.text).toBe('still'));
    // All of them end, because none completes a handshake.
    await untilClosed(idle);
    expect(held.closes).toBe(0);
  });

  it('are cut off before those with whom a handshake has begun', async () => {
    const begun = await strangers(MAX_PENDING);
    await Promise.all(begun.map(beginHandshake));
    await untilClosed(await strangers(MAX_PENDING));
    expect(begun.filter((socket) => socket.closed)).toEqual([]);
    await untilClosed(begun);
  });

  /** Resolves when the server has answered; the client never continues its handshake. */
  function beginHandshake(socket: net.Socket): Promise<void> {
    const oneWay = new Duplex({
      read: () => undefined,
      write: (chunk, _encoding, done) => socket.write(chunk, () => done()),
    });
    tls.connect({ socket: oneWay, ca: authority.certificate }).on('error', () => undefined);
    return new Promise((resolve) => socket.once('data', () => resolve()));
  }
});

describe('a session', () => {
  /** A client that has had a stream, and its stored session. */
  async function visitor(
    url = server.url,
    sessions = processSessionStore(),
  ): Promise<TlsSessionStore> {
    const client = new Client();
    const stream = await connect(client, { url, sessions });
    stream.write(Buffer.from('here'));
    await until('the answer comes', () => expect(client.text).toBe('here'));
    stream.end();
    await until('it is closed', () => client.closes === 1);
    return sessions;
  }

  /** Whether the server accepts the session in place of a full handshake. */
  async function isTaken(sessions: TlsSessionStore): Promise<boolean> {
    const { host, port } = server;
    const session = Buffer.from((await sessions.read()) ?? []);
    const socket = tls.connect({ host, port, ca: authority.certificate, session });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    const isReused = socket.isSessionReused();
    socket.destroy();
    return isReused;
  }

  it('spares who comes back a handshake in full', async () => {
    expect(await isTaken(await visitor())).toBe(true);
  });

  it('is over with the certificate for which it began', async () => {
    const sessions = await visitor();
    server.useCertificate(pairFor('127.0.0.1'));
    expect(await isTaken(sessions)).toBe(false);
  });

  it('opens no stream without a token that is good', async () => {
    const sessions = await visitor();
    await expect(connect(new Client(), { token: 'bad', sessions })).rejects.toMatchObject({
      status: 401,
    });
  });

  it('of another server only costs a full handshake', async () => {
    const other = await listen(ECHO);
    const sessions = await visitor(other.url);
    await other.close();
    expect(await sessions.read()).toBeDefined();
    expect(await isTaken(sessions)).toBe(false);
    // The next handshake is spared again: the session is of this server now.
    expect(await isTaken(await visitor(server.url, sessions))).toBe(true);
  });

  it('is kept no longer when a connection has failed with it', async () => {
    const sessions = await visitor();
    const { url } = server;
    await server.close();
    await expect(connect(new Client(), { url, sessions })).rejects.toBeInstanceOf(TransportError);
    expect(await sessions.read()).toBeUndefined();
  });
});
