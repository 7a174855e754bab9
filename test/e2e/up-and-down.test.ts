/**
 * How `lockstep up` ends without a signal: by `lockstep down` on its state directory, or with the
 * shell of npx.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LOCKSTEP, outputUntil, WHERE } from './local-cluster.fixture.ts';

const POLL_MS = 50;
const DEBUGGER_STARTS_MS = 1000;
/** Where Node listens for debuggers: 127.0.0.1:9229, as `/proc/net/tcp` writes it. */
const DEBUGGER = '0100007F:240D';

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

it('opens no debugger in any of its processes at SIGUSR1', async () => {
  const up = start(process.execPath, LOCKSTEP, 'up', '--state-dir', state, ...WHERE);
  await outputUntil(up, 'It runs.');
  const pids = below(up.pid ?? 0);
  expect(pids.length).toBeGreaterThan(2);
  for (const pid of pids) process.kill(pid, 'SIGUSR1');
  await new Promise((resolve) => setTimeout(resolve, DEBUGGER_STARTS_MS));
  expect(pids.filter((pid) => listensForDebuggers(pid))).toEqual([]);
  expect((await runs('down', '--state-dir', state)).code).toBe(0);
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

/** A process and all below it. */
function below(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => below(Number(child)))];
}

function listensForDebuggers(pid: number): boolean {
  const open = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const listening = open.filter((line) => line.includes(` ${DEBUGGER} `));
  const sockets = new Set(listening.map((line) => `socket:[${line.trim().split(/ +/)[9]}]`));
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}
