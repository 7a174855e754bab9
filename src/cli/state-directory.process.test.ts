import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  openStateDirectory,
  StateDirectoryInUse,
  StateDirectoryUnusable,
} from './state-directory.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-state-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('it is made with all directories above it, and given up again', () => {
  const path = join(directory, 'a/b/c');
  const state = openStateDirectory(path);
  expect(() => openStateDirectory(path)).toThrow(StateDirectoryInUse);
  state.release(false);
  openStateDirectory(path).release(true);
  expect(existsSync(path)).toBe(false);
});

test('what a killed process left is taken over', () => {
  writeFileSync(join(directory, 'owner.pid'), '999999999\n');
  openStateDirectory(directory).release(false);
});

test('an owner that has written nothing but its number keeps what it has', () => {
  writeFileSync(join(directory, 'owner.pid'), `${process.pid}\n`);
  expect(() => openStateDirectory(directory)).toThrow(StateDirectoryInUse);
});

test.runIf(process.platform === 'linux')('another process with its number is not its owner', () => {
  openStateDirectory(directory);
  const lock = join(directory, 'owner.pid');
  // As after a reboot: the number belongs to a living process with another start time.
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/ \d+$/m, ' 1'));
  openStateDirectory(directory).release(false);
});

test.each([
  ['a file', () => join(directory, 'file')],
  ['below a file', () => join(directory, 'file/state')],
])('a place that cannot be one is named: %s', (_what, place) => {
  writeFileSync(join(directory, 'file'), '');
  expect(() => openStateDirectory(place())).toThrow(StateDirectoryUnusable);
  expect(() => openStateDirectory(place())).toThrow(/choose another --state-dir$/);
});

test.runIf(process.platform === 'linux')('below /proc it is refused, at once', () => {
  expect(() => openStateDirectory('/proc/lockstep/state')).toThrow(StateDirectoryUnusable);
});
