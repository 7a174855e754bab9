import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workerProgram } from './worker-program.ts';

let directory: string;
let root: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-program-'));
  root = join(directory, 'root');
  mkdirSync(join(directory, 'volume'));
  writeFileSync(join(directory, 'volume/train'), '');
  mkdirSync(join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'bin/bash'), '');
  symlinkSync(join(directory, 'volume'), join(root, 'data'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a program of a volume is led there', () => {
  expect(workerProgram(root, '/data/train')).toBe(join(root, 'data/train'));
});

test.each(['/bin/bash', '/data/missing', 'bash', '/nowhere/train'])(
  '%s stays as it is written, since nothing is mounted there',
  (program) => {
    expect(workerProgram(root, program)).toBe(program);
  },
);

test('without a root everything stays', () => {
  expect(workerProgram('', '/bin/bash')).toBe('/bin/bash');
});
