import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { RankFiles } from '../progress/progress-files.ts';
import { openRankFiles } from './rank-files.ts';

const GIB = 1024 ** 3;

let directory: string;
let path: string;
let logger: MemoryLogger;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-ranks-'));
  // With a time before its birth, it does not pass for a directory that is new and empty.
  utimesSync(directory, 0, 0);
  path = join(directory, 'progress');
  logger = new MemoryLogger();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const opened = (mayBeOld = false) => openRankFiles({ path, mayBeOld, logger });
const problems = () => logger.records.map(({ fields }) => fields['problem']);

/** The local ranks whose files are new, with what each says. */
async function said(files: RankFiles): Promise<Readonly<Record<number, string | undefined>>> {
  const found = await files.found();
  const lines = found.map(async ({ local, file }) => [local, await file.read()] as const);
  return Object.fromEntries(await Promise.all(lines));
}

describe('files of ranks', () => {
  it('are found when they appear, each once', async () => {
    const files = opened();
    expect(await said(files)).toEqual({});
    writeFileSync(`${path}.0`, '1\n');
    writeFileSync(`${path}.63`, '1 pid=7\n');
    expect(await said(files)).toEqual({ 0: '1', 63: '1 pid=7' });
    appendFileSync(`${path}.0`, '2\n');
    writeFileSync(`${path}.5`, '9\n');
    expect(await said(files)).toEqual({ 5: '9' });
    expect(await said(files)).toEqual({});
  });

  it('are found soon in a new directory, even if its clock has not moved since its birth', async () => {
    path = join(mkdtempSync(join(directory, 'new-')), 'progress');
    const files = opened();
    writeFileSync(`${path}.3`, '1\n');
    const looks: object[] = [];
    for (let look = 1; look <= 9; look++) looks.push(await said(files));
    expect(looks.filter((found) => Object.keys(found).length > 0)).toEqual([{ 3: '1' }]);
  });

  it('are known from all else that lies beside them', async () => {
    const names = ['', '.64', '.01', '.-1', '.1a', '.1.error', '.7.stacks', '.nccl-1.pipe', '.1 '];
    for (const name of names) writeFileSync(`${path}${name}`, '1\n');
    writeFileSync(join(directory, 'progres.1'), '1\n');
    expect(await said(opened())).toEqual({});
  });

  it('that are from before count when they change', async () => {
    writeFileSync(`${path}.1`, '500\n');
    const files = opened(true);
    const found = await files.found();
    expect(found.map(({ local }) => local)).toEqual([1]);
    expect(await found[0]?.file.read()).toBeUndefined();
    appendFileSync(`${path}.1`, '1\n');
    writeFileSync(`${path}.2`, '1\n');
    expect(await found[0]?.file.read()).toBe('1');
    expect(await said(files)).toEqual({ 2: '1' });
  });

  it('are refused if they are traps, with a line in the log for each', async () => {
    execFileSync('/bin/sh', ['-c', `mkfifo ${path}.1`]);
    mkdirSync(`${path}.2`);
    symlinkSync('/etc/passwd', `${path}.3`);
    symlinkSync('/dev/zero', `${path}.4`);
    const found = await opened().found();
    for (let times = 0; times < 3; times++) {
      for (const { file } of found) expect(await file.read()).toBeUndefined();
    }
    const [irregular, link] = ['it is no regular file', 'it is a symbolic link'];
    expect(problems()).toHaveLength(4);
    expect(new Set(problems())).toEqual(new Set([link, irregular]));
  });

  it('may be 64 of a gibibyte each', async () => {
    for (let local = 0; local < 64; local++) {
      writeFileSync(`${path}.${local}`, '');
      truncateSync(`${path}.${local}`, GIB);
      appendFileSync(`${path}.${local}`, `\n${local}\n`);
    }
    const lines = await said(opened());
    expect(lines).toEqual(Object.fromEntries(Array.from({ length: 64 }, (_, n) => [n, `${n}`])));
  });

  it('may hide behind so many others that the agent stops looking', async () => {
    for (let name = 0; name < 3000; name++) writeFileSync(join(directory, `x${name}`), '');
    const files = opened();
    for (let times = 0; times < 3; times++) await files.found();
    expect(logger.records).toMatchObject([{ message: 'too many files beside a progress file' }]);
  });

  it('are none where there is no directory', async () => {
    rmSync(directory, { recursive: true });
    expect(await said(opened())).toEqual({});
    expect(logger.records).toEqual([]);
  });
});

test('a rank noted that SIGTERM ended it if its file holds anything', async () => {
  writeFileSync(`${path}.1.terminated`, '');
  writeFileSync(`${path}.2.terminated`, 'File train.py');
  mkdirSync(`${path}.3.terminated`);
  symlinkSync('/etc/passwd', `${path}.4.terminated`);
  const files = opened();
  const said = [0, 1, 2, 3, 4].map(async (local) => files.isTerminated(local));
  expect(await Promise.all(said)).toEqual([undefined, false, true, undefined, undefined]);
});

describe('what a rank wrote of its exception', () => {
  const written = (pid: unknown, monotonicNs: unknown): string =>
    JSON.stringify({ pid, monotonicNs, type: 'E', message: { message: 'E: no data' } });

  it('is dated by the clock of the machine', async () => {
    const nowMs = performance.now();
    writeFileSync(`${path}.3.error`, written(42, String(process.hrtime.bigint() - 5_000_000_000n)));
    const failure = await opened().failure(3);
    expect(failure).toMatchObject({ pid: 42, text: 'E: no data' });
    expect(Math.abs((failure?.atMs ?? 0) - (nowMs - 5000))).toBeLessThan(1000);
  });

  it.each<[string, () => unknown]>([
    ['no file', () => undefined],
    ['no JSON', () => writeFileSync(`${path}.3.error`, 'oops')],
    ['a time as a number', () => writeFileSync(`${path}.3.error`, written(42, 5))],
    [
      'a time that is too long',
      () => writeFileSync(`${path}.3.error`, written(42, '9'.repeat(99))),
    ],
    ['no pid', () => writeFileSync(`${path}.3.error`, written('42', '5'))],
    ['a FIFO', () => execFileSync('/bin/sh', ['-c', `mkfifo ${path}.3.error`])],
    ['a link', () => symlinkSync('/etc/passwd', `${path}.3.error`)],
  ])('is none for %s', async (_what, make) => {
    make();
    expect(await opened().failure(3)).toBeUndefined();
  });
});
