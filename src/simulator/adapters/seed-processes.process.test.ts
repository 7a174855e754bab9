import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DIES, ENDLESS, QUICK_VIOLATION, SLOW_VIOLATION } from './seed-processes.fixture.ts';

const PROGRAM = fileURLToPath(new URL('./seed-processes.fixture.ts', import.meta.url));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'seeds-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function started(first: number, last: number, jobs: number): ChildProcess {
  const args = ['--import', 'tsx', PROGRAM, ...[first, last, jobs].map(String), directory];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** All that the program writes. Its pipes close when the last process that writes to them is gone. */
async function written({ stdout, stderr }: ChildProcess): Promise<readonly string[]> {
  if (stdout === null || stderr === null) throw new Error('no pipes');
  return Promise.all([text(stdout), text(stderr)]);
}

it.each([1, 2, 8])('runs each seed once in %i processes', async (jobs) => {
  const [out, err] = await written(started(10, 14, jobs));
  expect(err).toBe('');
  expect(out).toBe('held 10 11 12 13 14, lowest none\n');
});

it('tells the lowest seed that violates a property, and ends those above it', async () => {
  const [out] = await written(started(1, ENDLESS, 3));
  expect(QUICK_VIOLATION).toBeGreaterThan(SLOW_VIOLATION);
  expect(out).toMatch(new RegExp(`lowest ${SLOW_VIOLATION}\n$`));
});

it('tells in which seed a process died', async () => {
  const program = started(DIES, DIES + 1, 2);
  const [[, err], [code]] = await Promise.all([written(program), once(program, 'exit')]);
  expect(err).toBe(`seed ${DIES}: its process ended: SIGKILL\n`);
  expect(code).toBe(3);
});

it('leaves no process behind when it is killed', async () => {
  const program = started(ENDLESS, ENDLESS, 1);
  program.stdout?.once('data', () => program.kill('SIGKILL'));
  expect(await written(program)).toEqual(['endless\n', '']);
});
