import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createCertificateAuthority } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hubAuthorities } from './hub-authorities.ts';

let directory: string;
let path: string;
let logger: MemoryLogger;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-authorities-'));
  path = join(directory, 'ca.crt');
  logger = new MemoryLogger();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function authority(): string {
  const options = { commonName: 'hub', clock: nodeClock, days: 1 };
  return `${createCertificateAuthority(options).certificate.trimEnd()}\n`;
}

it('trusts authorities of the template alone while there is no file, and says nothing of it', async () => {
  const told = authority();
  expect(await hubAuthorities(told, path, logger)()).toBe(told);
  expect(logger.records).toEqual([]);
});

it('adds authorities of the file as they change, each once', async () => {
  const [told, next, last] = [authority(), authority(), authority()];
  const current = hubAuthorities(told, path, logger);
  await writeFile(path, `${next}${told}`);
  expect(await current()).toBe(`${told}${next}`);
  await writeFile(path, last);
  expect(await current()).toBe(`${told}${last}`);
  expect(logger.records).toEqual([]);
});

it.each([
  ['nothing', '', 'no certificate'],
  ['no PEM', 'trust me', 'no certificate'],
  [
    'PEM of no certificate',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    'no certificate',
  ],
  ['more than it may', `${'x'.repeat(64 * 1024)}y`, 'more than 65536 bytes'],
])(
  'stays with authorities of the template for a file with %s, and says so once',
  async (_what, text, why) => {
    const told = authority();
    const current = hubAuthorities(told, path, logger);
    await writeFile(path, text);
    expect(await current()).toBe(told);
    expect(await current()).toBe(told);
    expect(logger.records).toHaveLength(1);
    expect(JSON.stringify(logger.records)).toContain(why);
  },
);
