import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSessionFile } from './session-file.ts';

const PEER = { url: 'https://hub:9445', authorities: 'PEM' };
const SESSION = Buffer.from('a secret of two');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-session-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const fileOf = (peer = PEER, at = directory) => createSessionFile(at, peer, new MemoryLogger());

it('keeps the last session for the next process, in a file that others cannot read', async () => {
  const file = fileOf();
  file.write(Buffer.from('an older one'));
  file.write(SESSION);
  await until('it is kept', async () => expect(await fileOf().read()).toEqual(SESSION));
  expect(await readdir(directory)).toEqual(['hub-session.json']);
  expect((await stat(join(directory, 'hub-session.json'))).mode & 0o777).toBe(0o600);
});

it.each([
  ['another address', { ...PEER, url: 'https://hub:9446' }],
  ['other authorities', { ...PEER, authorities: 'another PEM' }],
])('has none for %s', async (_what, peer) => {
  fileOf().write(SESSION);
  await until('it is kept', async () => expect(await fileOf().read()).toEqual(SESSION));
  expect(await fileOf(peer).read()).toBeUndefined();
});

it('forgets one that leads nowhere', async () => {
  const file = fileOf();
  file.write(SESSION);
  file.write(undefined);
  await until('it is gone', async () => expect(await readdir(directory)).toEqual([]));
  expect(await file.read()).toBeUndefined();
});

it.each(['', '{', 'null', '[]', '{"peer":1,"session":2}'])('takes %j for none', async (content) => {
  await writeFile(join(directory, 'hub-session.json'), content);
  expect(await fileOf().read()).toBeUndefined();
});

it('continues where there is no directory to keep it in', async () => {
  const logger = new MemoryLogger();
  const file = createSessionFile(join(directory, 'none'), PEER, logger);
  file.write(SESSION);
  await until('it says so', () => expect(logger.records).toHaveLength(1));
  expect(await file.read()).toBeUndefined();
});
