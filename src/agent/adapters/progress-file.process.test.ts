import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openProgressFile } from './progress-file.ts';

const MIB = 1024 * 1024;

let directory: string;
let path: string;
let logger: MemoryLogger;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-progress-'));
  path = join(directory, 'progress');
  logger = new MemoryLogger();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const opened = (mayBeOld = false) => openProgressFile({ path, mayBeOld, logger });
const problems = () => logger.records.map(({ fields }) => fields['problem']);

describe('a progress file', () => {
  it('gives its newest line after each change', async () => {
    const file = opened();
    expect(await file.read()).toBeUndefined();
    writeFileSync(path, '1\n2\n');
    expect(await file.read()).toBe('2');
    expect(await file.read()).toBeUndefined();
    appendFileSync(path, '3 phase=save\n4');
    expect(await file.read()).toBe('3 phase=save');
    appendFileSync(path, '5\n');
    expect(await file.read()).toBe('45');
    writeFileSync(`${path}.next`, '6\n');
    renameSync(`${path}.next`, path);
    expect(await file.read()).toBe('6');
    expect(logger.records).toEqual([]);
  });

  it('may be one line without an end, once that stays or is written again', async () => {
    const file = opened();
    writeFileSync(path, '7');
    expect(await file.read()).toBeUndefined();
    expect(await file.read()).toBe('7');
    expect(await file.read()).toBeUndefined();
    const said: (string | undefined)[] = [];
    for (const step of ['8', '9', '10']) {
      writeFileSync(`${path}.next`, step);
      renameSync(`${path}.next`, path);
      said.push(await file.read());
    }
    expect(said).toEqual([undefined, '8', '9']);
  });

  it('tells of all whole lines at its end, however fast they came', async () => {
    const heard: string[] = [];
    const file = openProgressFile({ path, logger, heard: (line) => void heard.push(line) });
    appendFileSync(path, 'phase=standby\n1\n2\n3 phase=');
    expect(await file.read()).toBe('2');
    expect(heard.splice(0)).toEqual(['phase=standby', '1', '2']);
    writeFileSync(path, `${'x'.repeat(100)}\n${'7\n'.repeat(2047)}`);
    expect(await file.read()).toBe('7');
    expect(heard).toEqual(Array(2047).fill('7'));
  });

  it('that is from before counts when it changes', async () => {
    writeFileSync(path, '500\n');
    const file = opened(true);
    expect(await file.read()).toBeUndefined();
    appendFileSync(path, '1\n');
    expect(await file.read()).toBe('1');
  });

  it('is emptied when it is large, and zero bytes are skipped', async () => {
    const file = opened();
    writeFileSync(path, '');
    truncateSync(path, 10 * 1024 * MIB);
    appendFileSync(path, '\n8\n');
    expect(await file.read()).toBe('8');
    expect(statSync(path).size).toBe(0);
    expect(await file.read()).toBeUndefined();
    truncateSync(path, 2 * MIB);
    appendFileSync(path, '\0\x009\n');
    appendFileSync(path, '10\n');
    expect(await file.read()).toBe('10');
    expect(problems()).toEqual(['it was larger than 1 MiB, and was emptied']);
  });

  it('takes no line of a mebibyte, and the one after it', async () => {
    const file = opened();
    for (let times = 0; times < 3; times++) {
      writeFileSync(path, `${'1'.repeat(MIB - 1)}\n`);
      expect(await file.read()).toBeUndefined();
    }
    appendFileSync(path, '3\n');
    expect(await file.read()).toBe('3');
    expect(problems()).toEqual([
      'its newest line is too long',
      'it was larger than 1 MiB, and was emptied',
    ]);
  });

  it.each<[string, () => unknown, string]>([
    ['a FIFO', () => execFileSync('/bin/sh', ['-c', `mkfifo ${path}`]), 'it is no regular file'],
    ['a directory', () => mkdirSync(path), 'it is no regular file'],
    ['a symbolic link', () => symlinkSync('/etc/passwd', path), 'it is a symbolic link'],
    ['a socket', () => createServer().listen(path).unref(), 'it cannot be opened: ENXIO'],
  ])('that is %s is reported once', async (_what, make, problem) => {
    const file = opened();
    await make();
    for (let times = 0; times < 3; times++) expect(await file.read()).toBeUndefined();
    expect(problems()).toEqual([problem]);
    rmSync(path, { recursive: true });
    writeFileSync(path, '1\n');
    expect(await file.read()).toBe('1');
  });
});
