/** The codes that Node really gives. */
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createStreamConnector } from '@lockstep/kube/runtime/adapters/stream-connector.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { staticToken } from '@lockstep/kube/runtime/credentials/credential-source.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failedTry, type Sight, unreached } from './unreached.ts';

const HOST = '127.0.0.1';
const authority = createCertificateAuthority({ commonName: 'hub', clock: nodeClock });
const stranger = createCertificateAuthority({ commonName: 'stranger', clock: nodeClock });

/** Answers every request with this status. */
function secure(signer: typeof authority, ipAddress: string, status: number): net.Server {
  const pair = issueCertificate(signer, {
    commonName: 'hub',
    ipAddresses: [ipAddress],
    usages: ['server'],
    days: 1,
  });
  return https.createServer({ cert: pair.certificate, key: pair.key }, (_request, response) => {
    response.writeHead(status).end();
  });
}

const servers = {
  trusted: secure(authority, HOST, 503),
  untrusted: secure(stranger, HOST, 200),
  renamed: secure(authority, '127.0.0.2', 200),
  plain: net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  }),
  rude: net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.resetAndDestroy());
  }),
  closed: net.createServer(),
};

beforeAll(async () => {
  for (const server of Object.values(servers)) {
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  }
});

afterAll(() => {
  for (const server of Object.values(servers)) server.close();
});

async function seen(url: string): Promise<Sight> {
  const connector = createStreamConnector({
    server: url,
    path: '/hub',
    protocol: 'test/1',
    certificateAuthority: authority.certificate,
    credentials: staticToken('token'),
  });
  const listener = { received: () => undefined, closed: () => undefined };
  const failure = await connector
    .connect(listener, AbortSignal.timeout(10_000))
    .then(() => undefined, failedTry);
  if (failure === undefined) throw new Error(`${url} was reached`);
  return unreached(failure).sight;
}

test.each<[keyof typeof servers, Sight]>([
  ['trusted', 'Answered'],
  ['untrusted', 'Untrusted'],
  ['renamed', 'OtherName'],
  ['plain', 'NoTls'],
  ['rude', 'BrokenOff'],
  ['closed', 'Refused'],
])('a server that is %s is seen as %s', async (name, sight) => {
  const server = servers[name];
  const { port } = server.address() as AddressInfo;
  if (name === 'closed') server.close();
  expect(await seen(`https://${HOST}:${port}`)).toBe(sight);
});

test('a name that does not exist is a matter of the name service', async () => {
  expect(['UnknownName', 'NoNameService']).toContain(await seen('https://hub.invalid:1'));
});
