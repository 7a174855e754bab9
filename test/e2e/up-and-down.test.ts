/**
 * How `lockstep up` ends without a signal: by `lockstep down` on its state directory, or with the
 * shell of npx.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LOCKSTEP, outputUntil, WHERE } from './local-cluster.fixture.ts';

const POLL_MS = 50;

let directory: string;
let state: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-up-'));
  state = join(directory, 'state');
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await runs('down', '--state-dir', state);
  rmSync(directory, { recursive: true, force: true });
});

function start(command: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_command: 'exec' },
  });
  children.push(child);
  return child;
}

/** Runs the command to its end: its exit code, and what it printed. */
async function runs(...args: readonly string[]): Promise<{ code: number | null; text: string }> {
  const child = start(process.execPath, LOCKSTEP, ...args);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, text };
}

it('is ended by its state directory, and says where none runs', async () => {
  const up = start(process.execPath, LOCKSTEP, 'up', '--state-dir', state, ...WHERE);
  await outputUntil(up, 'It runs.');
  const ended = new Promise<number | null>((resolve) => up.once('exit', resolve));
  expect(await runs('down', '--state-dir', state)).toEqual({
    code: 0,
    text: `the cluster in ${state} has ended\n`,
  });
  expect(await ended).toBe(0);
  const again = await runs('down', '--state-dir', state);
  expect(again.code).toBe(1);
  expect(again.text).toContain(`no "lockstep up" runs in ${state}`);
});

it('ends with the shell that ran npx', async () => {
  const command = `'${process.execPath}' '${LOCKSTEP}' up --state-dir '${state}' ${WHERE.join(' ')}; true`;
  const shell = start('sh', '-c', command);
  await outputUntil(shell, 'It runs.');
  shell.kill('SIGKILL');
  const lock = join(state, 'owner.pid');
  while (existsSync(lock)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  expect((await runs('down', '--state-dir', state)).code).toBe(1);
});
