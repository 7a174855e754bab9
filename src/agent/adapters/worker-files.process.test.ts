import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FilesOfStart, WorkerFiles } from '../progress/progress-files.ts';
import { createWorkerFiles } from './worker-files.ts';

let directory: string;
let logger: MemoryLogger;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-files-'));
  logger = new MemoryLogger();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const created = (): WorkerFiles => createWorkerFiles(directory, logger);

async function opened(files: WorkerFiles): Promise<FilesOfStart> {
  const open = await files.open();
  if (open === undefined) throw new Error('no files');
  return open;
}

describe('the files of a start', () => {
  it('lie in a directory of its own, in which nothing is yet', async () => {
    const files = created();
    const [one, two] = [await opened(files), await opened(files)];
    expect(dirname(one.progress)).not.toBe(dirname(two.progress));
    for (const path of [one.progress, one.start, one.torchError, two.start]) {
      expect(existsSync(path)).toBe(false);
    }
  });

  it('go in a calm moment once their worker is gone, and files of others stay', async () => {
    const files = created();
    const [one, two] = [await opened(files), await opened(files)];
    one.done();
    expect(existsSync(dirname(one.progress))).toBe(true);
    files.tidy();
    await until('they are gone', () => !existsSync(dirname(one.progress)));
    expect(existsSync(dirname(two.progress))).toBe(true);
    // The directory of the next start is made beforehand.
    await until('it is made', () => expect(readdirSync(directory)).toHaveLength(2));
    await opened(files);
    expect(readdirSync(directory)).toHaveLength(2);
  });

  it('do not pile up where no moment is calm', async () => {
    const files = created();
    for (let start = 0; start < 50; start++) (await opened(files)).done();
    await until('most are gone', () => expect(readdirSync(directory).length).toBeLessThan(10));
  });

  it('have a start file that appears whole, for any user', async () => {
    const files = await opened(created());
    await files.begin('epoch 7\n');
    expect(readFileSync(files.start, 'utf8')).toBe('epoch 7\n');
    expect(readdirSync(dirname(files.start))).toEqual(['start']);
  });

  it('are never written through a link that the worker laid', async () => {
    const files = await opened(created());
    const secret = join(directory, 'secret');
    writeFileSync(secret, 'kept');
    symlinkSync(secret, `${files.start}.next`);
    await expect(files.begin('epoch 7\n')).rejects.toThrow('EEXIST');
    expect(readFileSync(secret, 'utf8')).toBe('kept');
  });
});

describe('an agent that comes after another', () => {
  it.each([
    ['was killed while a standby waited', () => Promise.resolve(), true],
    ['had made it the worker', (files: FilesOfStart) => files.begin('epoch 2\n'), false],
    [
      'had made it the worker, which removed its start file',
      async (files: FilesOfStart) => {
        await files.begin('epoch 2\n');
        rmSync(files.start);
      },
      false,
    ],
    ['had ended it', (files: FilesOfStart) => files.noteStandby(false), false],
  ])('knows that the one before %s', async (_what, before, isFound) => {
    const files = await opened(created());
    await files.noteStandby(true);
    await before(files);
    const next = created();
    expect(await next.hadStandby).toBe(isFound);
    next.tidy();
    await until('only what is needed is there', () => existsSync(dirname(files.start)) === isFound);
    expect(await created().hadStandby).toBe(isFound);
  });
});
