/** Probes over a real network: redirects, codes, HTTPS and TCP. */
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProbeTransport } from './probe-transport.ts';

const HOST = '127.0.0.1';
const probes = createProbeTransport();
let server: Server;
let port: number;

beforeEach(async () => {
  server = createServer((request, response) => {
    switch (request.url ?? '') {
      case '/ok':
        response.end(request.headers['x-probe']);
        break;
      case '/moved':
        response.writeHead(302, { location: '/ok' }).end();
        break;
      case '/away':
        response.writeHead(302, { location: 'http://example.invalid/' }).end();
        break;
      case '/circle':
        response.writeHead(302, { location: '/circle' }).end();
        break;
      case '/silent':
        break;
      default:
        response.writeHead(503).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function get(path: string, timeoutMs = 5_000) {
  return probes.get({ scheme: 'HTTP', host: HOST, port, path, headers: {}, timeoutMs });
}

describe('a probe over HTTP', () => {
  it.each([
    ['/ok', 200],
    ['ok', 200],
    ['/moved', 200],
    ['/none', 503],
  ])('of %s is answered with %d', async (path, status) => {
    expect(await get(path)).toEqual({ status, redirectedTo: undefined });
  });

  it.each([
    ['/away', 'http://example.invalid/'],
    ['/circle', '/circle'],
  ])('of %s does not follow for ever', async (path, target) => {
    expect((await get(path)).redirectedTo).toContain(target);
  });

  it('gives up in time', async () => {
    await expect(get('/silent', 50)).rejects.toThrow('no answer within 50 ms');
  });

  it('is refused where nothing listens', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(get('/ok')).rejects.toThrow('ECONNREFUSED');
    await expect(probes.connect(HOST, port, 1_000)).rejects.toThrow('ECONNREFUSED');
    server.listen(0, HOST);
  });
});

it('a probe over HTTPS trusts any certificate', async () => {
  const authority = createCertificateAuthority({ commonName: 'nobody', clock: nodeClock, days: 1 });
  const pair = issueCertificate(authority, { commonName: 'nobody', usages: ['server'], days: 1 });
  const secure = createHttpsServer({ cert: pair.certificate, key: pair.key }, (_, response) => {
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => secure.listen(0, HOST, resolve));
  const address = secure.address();
  const securePort = typeof address === 'object' && address !== null ? address.port : 0;
  const request = {
    scheme: 'HTTPS',
    host: HOST,
    path: '/',
    headers: {},
    timeoutMs: 5_000,
  } as const;
  expect((await probes.get({ ...request, port: securePort })).status).toBe(204);
  secure.closeAllConnections();
  await new Promise((resolve) => secure.close(resolve));
});

it('a probe over TCP succeeds with the connection', async () => {
  await expect(probes.connect(HOST, port, 5_000)).resolves.toBeUndefined();
});
