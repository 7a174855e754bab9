import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeClock } from '../node-clock.ts';
import {
  createCertificateAuthority,
  issueCertificate,
  type KeyPair,
  loadCertificateAuthority,
} from './certificates.ts';

const authority = createCertificateAuthority({ commonName: 'lockstep-ca', clock: nodeClock });
const server = issueCertificate(authority, {
  commonName: 'apiserver',
  dnsNames: ['localhost', 'kubernetes.default.svc'],
  ipAddresses: ['127.0.0.1', '::1'],
  usages: ['server'],
  days: 1,
});

/** Connects over TLS and returns the client that the server saw, or rejects as the client does. */
async function handshake(
  client: KeyPair | undefined,
  servername: string,
  ca = authority.certificate,
): Promise<PeerCertificate | undefined> {
  const listener = createServer({
    cert: server.certificate,
    key: server.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const seen = new Promise<PeerCertificate | undefined>((resolve) => {
    listener.on('secureConnection', (socket: TLSSocket) => {
      resolve(socket.authorized ? socket.getPeerCertificate() : undefined);
      socket.on('error', () => undefined);
      socket.end();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const credentials = client === undefined ? {} : { cert: client.certificate, key: client.key };
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, ca, servername, ...credentials });
  try {
    await once(socket, 'secureConnect');
    return await seen;
  } finally {
    socket.destroy();
    listener.close();
  }
}

describe('certificates', () => {
  it('let both ends of a TLS connection know each other', async () => {
    const client = issueCertificate(authority, {
      commonName: 'system:node:n1',
      organizations: ['system:nodes', 'second group'],
      usages: ['client'],
      days: 1,
    });
    const peer = await handshake(client, 'localhost');
    expect(peer?.subject).toMatchObject({
      CN: 'system:node:n1',
      O: ['system:nodes', 'second group'],
    });
  });

  it('are refused for another name, from another authority, and for another usage', async () => {
    await expect(handshake(undefined, 'example.com')).rejects.toThrow(/altname/i);
    const other = createCertificateAuthority({ commonName: 'lockstep-ca', clock: nodeClock });
    await expect(handshake(undefined, 'localhost', other.certificate)).rejects.toThrow();
    const stranger = issueCertificate(other, { commonName: 'x', usages: ['client'], days: 1 });
    expect(await handshake(stranger, 'localhost')).toBeUndefined();
    expect(await handshake(server, 'localhost')).toBeUndefined();
  });

  it('name addresses of both families', () => {
    const names = new X509Certificate(server.certificate).subjectAltName;
    expect(names).toBe(
      'DNS:localhost, DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
  });

  it('are valid from a little before now, for as long as they were asked for', () => {
    const { validFrom, validTo } = new X509Certificate(server.certificate);
    expect(Date.parse(validFrom)).toBeLessThan(Date.now() - 60_000);
    expect(Date.parse(validTo) - Date.now()).toBeGreaterThan(86_000_000);
    const long = createCertificateAuthority({ commonName: 'x', clock: nodeClock, days: 20_000 });
    expect(new X509Certificate(long.certificate).validTo).toMatch(/ 20[78]\d /);
  });

  it('continue being issued by an authority that was loaded from PEM', async () => {
    const { certificate, key } = authority;
    const loaded = loadCertificateAuthority({ certificate, key }, nodeClock);
    const client = issueCertificate(loaded, { commonName: 'u', usages: ['client'], days: 1 });
    expect((await handshake(client, 'localhost'))?.subject.CN).toBe('u');
    expect(() => loadCertificateAuthority(server, nodeClock)).toThrow(/no certificate authority/);
    expect(() => loadCertificateAuthority({ certificate, key: server.key }, nodeClock)).toThrow(
      /does not belong/,
    );
  });

  it('satisfy the strictest verification of OpenSSL, where it is installed', () => {
    const directory = mkdtempSync(join(tmpdir(), 'lockstep-certificates-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const [ca, leaf] = [join(directory, 'ca.pem'), join(directory, 'leaf.pem')];
    writeFileSync(ca, authority.certificate);
    writeFileSync(leaf, server.certificate);
    let output: string;
    try {
      output = execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', ca, leaf]).toString();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      throw error;
    }
    expect(output).toContain('OK');
  });
});
