import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tlsSettings } from '../configuration/tls-settings.ts';
import { servePages } from './pages.ts';

const HANDLER: HttpHandler = () =>
  Promise.resolve({ status: 200, headers: {}, body: Buffer.from('ok') });

let directory: string;
let authority: CertificateAuthority;
let logger: MemoryLogger;
/** Callbacks that wait for the next read of the files. */
let looks: (() => void)[];
let clock: Clock;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-pages-'));
  authority = createCertificateAuthority({ commonName: 'test', clock: nodeClock });
  logger = new MemoryLogger();
  looks = [];
  clock = {
    ...nodeClock,
    setTimer: (_delayMs, look) => {
      looks.push(look);
      return { cancel: () => undefined };
    },
  };
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(commonName: string, parts: readonly ('tls.crt' | 'tls.key')[]): void {
  const { certificate, key } = issueCertificate(authority, {
    commonName,
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  if (parts.includes('tls.crt')) writeFileSync(join(directory, 'tls.crt'), certificate);
  if (parts.includes('tls.key')) writeFileSync(join(directory, 'tls.key'), key);
}

/** Triggers another read of the files, and waits for its end. */
async function look(): Promise<void> {
  await until('a read of the files is due', () => looks.length > 0);
  looks.pop()?.();
  await until('the read has ended', () => looks.length > 0);
}

/** The subject of the certificate that a new connection is shown, or why there is none. */
function shown(port: number, options: ConnectionOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ...options });
    socket.once('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

test('metrics over TLS follow the files of their certificate, and obey the settings of TLS', async () => {
  const port = await freePort(systemRandom);
  const pages = await servePages(
    [
      {
        what: 'metrics',
        address: { host: '127.0.0.1', port },
        handler: HANDLER,
        certificateDirectory: directory,
      },
    ],
    { clock, logger, tls: tlsSettings('VersionTLS13', []) },
  );
  try {
    await until('a warning', () => logger.records.some(({ level }) => level === 'warn'));
    expect(await shown(port), 'there is no certificate yet').toBe('ECONNREFUSED');
    write('first', ['tls.crt', 'tls.key']);
    await look();
    await until('the first is shown', async () => expect(await shown(port)).toBe('first'));
    write('half', ['tls.crt']);
    await look();
    expect(await shown(port), 'its key has not come yet').toBe('first');
    expect(logger.records.at(-1)?.fields['err']).toContain('tls.key is not the key of tls.crt');
    write('second', ['tls.crt', 'tls.key']);
    await look();
    await until('the second is shown', async () => expect(await shown(port)).toBe('second'));
    expect(await shown(port, { maxVersion: 'TLSv1.2' })).not.toBe('second');
  } finally {
    await pages.close();
  }
  expect(await shown(port)).toBe('ECONNREFUSED');
});

test('plain pages are served at once, and those that are off are not', async () => {
  const port = await freePort(systemRandom);
  const address = { host: '127.0.0.1', port };
  const pages = await servePages(
    [
      { what: 'metrics', address: 'off', handler: HANDLER },
      { what: 'health', address, handler: HANDLER },
    ],
    { clock, logger },
  );
  try {
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('ok');
    expect(logger.records).toHaveLength(1);
    const taken = servePages([{ what: 'health', address, handler: HANDLER }], { clock, logger });
    await expect(taken).rejects.toThrow('EADDRINUSE');
  } finally {
    await pages.close();
  }
});
