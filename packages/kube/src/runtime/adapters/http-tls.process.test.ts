import tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { PODS } from '../../objects/pod.ts';
import { until } from '../../until.fixture.ts';
import { createClient } from '../client/http-client.ts';
import { createInformer } from '../informer/create-informer.ts';
import { waitFor } from '../informer/wait-for.ts';
import { MemoryCollection } from '../memory/memory-collection.ts';
import { SILENT } from '../ports/logger.ts';
import type { HttpHandler, HttpRequest, Peer } from '../ports/transport.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';
import {
  createHttpTransport,
  type HttpTransport,
  type HttpTransportOptions,
} from './http-transport.ts';
import { nodeClock } from './node-clock.ts';
import { systemRandom } from './system-random.ts';
import { createCertificateAuthority, issueCertificate } from './tls/certificates.ts';

const authority = createCertificateAuthority({ commonName: 'the-ca', clock: nodeClock });
const stranger = createCertificateAuthority({ commonName: 'the-ca', clock: nodeClock });
const serverPair = issueCertificate(authority, {
  commonName: 'server',
  ipAddresses: ['127.0.0.1'],
  dnsNames: ['kubernetes'],
  usages: ['server'],
  days: 1,
});
const ME = {
  commonName: 'system:node:n1',
  organizations: ['system:nodes', 'others'],
  usages: ['client'],
  days: 1,
} as const;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(
  handler: HttpHandler,
  options: Partial<HttpServerOptions> = {},
): Promise<HttpServer> {
  const server = await startHttpServer({
    handler,
    host: '127.0.0.1',
    port: 0,
    tls: { ...serverPair, clientAuthority: authority.certificate },
    ...options,
  });
  cleanups.push(() => server.close());
  return server;
}

function connect(server: string, of: HttpTransportOptions['tls'] = {}): HttpTransport {
  const trust = { certificateAuthority: authority.certificate };
  const transport = createHttpTransport({ server, tls: { ...trust, ...of } });
  cleanups.push(() => transport.close());
  return transport;
}

function clientPair(of: typeof authority, request: Parameters<typeof issueCertificate>[1] = ME) {
  const { certificate, key } = issueCertificate(of, request);
  return { clientCertificate: certificate, clientKey: key };
}

function get(path: string, signal = new AbortController().signal): HttpRequest {
  return { method: 'GET', path, headers: {}, signal };
}

const whoAmI: HttpHandler = async (request) => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify(request.peer)),
});

async function peerSeen(transport: HttpTransport, path = '/'): Promise<Peer> {
  const response = await transport.send(get(path));
  const chunks: Uint8Array[] = [];
  if (response.body instanceof Uint8Array) chunks.push(response.body);
  else for await (const chunk of response.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Peer;
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => /TCP|TLS/.test(kind)).length;
}

describe('TLS', () => {
  it('tells the server who the client is, by its certificate', async () => {
    const server = await serve(whoAmI);
    expect(await peerSeen(connect(server.url, clientPair(authority)))).toEqual({
      address: '127.0.0.1',
      port: expect.any(Number),
      certificate: { commonName: 'system:node:n1', organizations: ['system:nodes', 'others'] },
    });
  });

  it.each([
    ['none', {}],
    ['one of somebody else with the same name', clientPair(stranger)],
    ['one that is not for clients', clientPair(authority, { ...ME, usages: ['server'] })],
  ])('proves nothing with a certificate: %s', async (_, pair) => {
    const server = await serve(whoAmI);
    expect(await peerSeen(connect(server.url, pair))).toEqual({
      address: '127.0.0.1',
      port: expect.any(Number),
    });
  });

  it('resumes a session, and still knows the client', async () => {
    const server = await serve(whoAmI);
    const transport = connect(server.url, clientPair(authority));
    const first = await peerSeen(transport);
    const reused: boolean[] = [];
    const original = tls.TLSSocket.prototype.emit;
    tls.TLSSocket.prototype.emit = function (this: tls.TLSSocket, ...args: unknown[]) {
      if (args[0] === 'secureConnect') reused.push(this.isSessionReused());
      return Reflect.apply(original, this, args) as boolean;
    } as typeof original;
    cleanups.push(() => {
      tls.TLSSocket.prototype.emit = original;
    });
    // Each watch has its own connection: the first one makes the session that others resume.
    await peerSeen(transport, '/?watch=true');
    expect(await peerSeen(transport, '/?watch=true')).toMatchObject({
      certificate: first.certificate,
    });
    expect(reused).toEqual([false, true]);
  });

  it.each([
    ['an authority that the client does not trust', { certificateAuthority: stranger.certificate }],
    ['the system authorities only', { certificateAuthority: undefined }],
    ['a name that the server does not have', { serverName: 'elsewhere' }],
  ])('refuses a server for %s, unless it need not verify', async (_, options) => {
    const server = await serve(whoAmI);
    await expect(connect(server.url, options).send(get('/'))).rejects.toMatchObject({
      name: 'TransportError',
    });
    const blind = connect(server.url, { ...options, insecureSkipVerify: true });
    expect(await peerSeen(blind)).toEqual({ address: '127.0.0.1', port: expect.any(Number) });
  });

  it('takes the server by another of its names', async () => {
    const server = await serve(whoAmI);
    const transport = connect(server.url, { serverName: 'kubernetes' });
    expect(await peerSeen(transport)).toEqual({ address: '127.0.0.1', port: expect.any(Number) });
  });

  it('says that certificates cannot be used before anything is sent', () => {
    expect(() => connect('https://127.0.0.1', { clientCertificate: 'x', clientKey: 'y' })).toThrow(
      'the certificates or the key for TLS cannot be used',
    );
    expect(() =>
      connect('https://127.0.0.1', { ...clientPair(authority), clientKey: serverPair.key }),
    ).toThrow('cannot be used');
  });

  it('takes another certificate for new connections, and keeps those that are open', async () => {
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    let hasArrived = false;
    const server = await serve(async ({ path }) => {
      if (path === '/held?watch=true') {
        hasArrived = true;
        await held;
      }
      return { status: 200, headers: {}, body: Buffer.from('"ok"') };
    });
    const old = connect(server.url);
    const pending = old.send(get('/held?watch=true'));
    await until('the request arrives', () => hasArrived);
    const renewed = createCertificateAuthority({ commonName: 'the-ca', clock: nodeClock });
    const pair = issueCertificate(renewed, {
      commonName: 's',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
      days: 1,
    });
    server.useCertificate(pair);
    const after = connect(server.url, { certificateAuthority: renewed.certificate });
    expect((await after.send(get('/'))).status).toBe(200);
    await expect(connect(server.url).send(get('/'))).rejects.toMatchObject({
      name: 'TransportError',
    });
    expect(() => server.useCertificate({ ...pair, key: serverPair.key })).toThrow();
    expect((await after.send(get('/?watch=true'))).status).toBe(200);
    end();
    expect((await pending).status).toBe(200);
  });

  it('leaves no connection behind, however the exchanges ended', async () => {
    const server = await serve(async (request) => {
      if (request.path === '/never') return new Promise(() => undefined);
      return {
        status: 200,
        headers: {},
        body: {
          async *[Symbol.asyncIterator]() {
            yield Buffer.from('one\n');
            await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
          },
        },
      };
    });
    const transport = connect(server.url, clientPair(authority));
    const early = AbortSignal.abort(new Error('early'));
    await expect(transport.send(get('/', early))).rejects.toThrow('early');
    const aborted = Array.from({ length: 20 }, async (_, i) => {
      const controller = new AbortController();
      if (i % 2 === 0) {
        const sending = transport.send(get('/never', controller.signal));
        setImmediate(() => controller.abort(new Error('enough')));
        await expect(sending).rejects.toThrow('enough');
      } else {
        const response = await transport.send(get('/?watch=true', controller.signal));
        if (i % 4 === 1) {
          for await (const _chunk of response.body as AsyncIterable<Uint8Array>) break;
        } else controller.abort(new Error('enough'));
      }
    });
    await Promise.all(aborted);
    transport.close();
    await server.close();
    await until('no socket is open', () => expect(openSockets()).toBe(0));
  });
});

describe('an informer over sockets', () => {
  it('follows a server through its restart, and leaves nothing behind', async () => {
    const collection = new MemoryCollection();
    for (let i = 0; i < 1_000; i++) collection.set(`p${i}`);
    let server = await serve(collection.handler);
    const transport = connect(server.url, clientPair(authority));
    const runtime = { clock: nodeClock, random: systemRandom };
    const client = createClient({ ...runtime, transport, userAgent: 'test/1' });
    const informer = createInformer({ ...runtime, client, resource: PODS, logger: SILENT });
    await informer.whenSynced();
    expect(informer.store.size).toBe(1_000);

    const { port } = server;
    await server.close();
    collection.set('while-down');
    collection.delete('p0');
    collection.compact();
    server = await serve(collection.handler, { port });
    await until('it knows the new Pod', () => informer.store.get('ns/while-down') !== undefined);
    expect(informer.store.get('ns/p0')).toBeUndefined();

    collection.set('later');
    const at = { namespace: 'ns', name: 'later' };
    const options = { ...runtime, timeoutMs: 10_000 };
    await waitFor(client, PODS, at, (pod) => pod !== undefined, options);
    await until('it knows the last Pod', () => informer.store.get('ns/later') !== undefined);
    await informer.stop();
    transport.close();
    await server.close();
    await until('no socket is open', () => expect(openSockets()).toBe(0));
  });
});
