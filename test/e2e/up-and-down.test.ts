/**
 * How `lockstep up` ends without a signal: by `lockstep down` on its state directory, or with the
 * shell of npx.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KUBERNETES } from '../kubernetes.ts';
import { LOCKSTEP, outputUntil, WHERE } from './local-cluster.fixture.ts';

/** Where Node listens for debuggers: 127.0.0.1:9229, as `/proc/net/tcp` writes it. */
const DEBUGGER = '0100007F:240D';

const LEFT = 'Ended 1 process of Pods that an earlier "lockstep up" had left';

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

it.runIf(KUBERNETES === undefined)(
  'starts another watchdog, and cleans up what remains when both are killed',
  async () => {
    const starts = async (): Promise<number> => {
      const up = start(process.execPath, LOCKSTEP, 'up', '--state-dir', state);
      const text = await outputUntil(up, 'It runs.');
      if (text.includes('Ended ')) expect(text).toContain(LEFT);
      return up.pid ?? 0;
    };
    const watchdogs = (up: number): readonly number[] =>
      below(up).filter((pid) => commandOf(pid).includes('watchdog.js'));
    const killAll = async (up: number): Promise<number> => {
      process.kill(up, 'SIGSTOP');
      for (const pid of watchdogs(up)) process.kill(pid, 'SIGKILL');
      const operators = below(up).filter((pid) => commandOf(pid).includes('operator.js'));
      process.kill(up, 'SIGKILL');
      // The operator ends by itself when its parent does.
      await until('the operators have ended', () =>
        expect(operators.map(commandOf)).toEqual(operators.map(() => '')),
      );
      return operators.length;
    };
    const first = await starts();
    const [watchdog = 0] = watchdogs(first);
    process.kill(watchdog, 'SIGKILL');
    await until('another watchdog runs', () => watchdogs(first).some((pid) => pid !== watchdog));
    expect(await killAll(first)).toBe(1);
    const leave = (): ChildProcess => {
      const root = join(state, 'nodes', 'node-0', 'pods', 'uid', 'containers', 'c', 'root');
      const env = { PATH: process.env['PATH'] ?? '', LOCKSTEP_ROOT: root };
      const left = spawn('sleep', ['600'], { env, detached: true, stdio: 'ignore' });
      children.push(left);
      return left;
    };
    const left = leave();
    expect(await runs('down', '--state-dir', state)).toEqual({
      code: 0,
      text: `${LEFT} in ${state}\n`,
    });
    await until('what was left is killed', () => left.signalCode === 'SIGKILL');
    const second = leave();
    await starts();
    await until('what was left is killed', () => second.signalCode === 'SIGKILL');
  },
);

it('opens no debugger in any of its processes at SIGUSR1', async () => {
  const up = start(process.execPath, LOCKSTEP, 'up', '--state-dir', state, ...WHERE);
  await outputUntil(up, 'It runs.');
  const pids = below(up.pid ?? 0);
  expect(pids.length).toBeGreaterThan(2);
  // A plain process, which does open one, at another port.
  const plain = start(
    process.execPath,
    '--inspect-port=0',
    '-e',
    'console.log("runs"); setInterval(() => 0, 1000)',
  );
  await outputUntil(plain, 'runs');
  for (const pid of [...pids, plain.pid ?? 0]) process.kill(pid, 'SIGUSR1');
  await outputUntil(plain, 'Debugger listening');
  expect(pids.filter((pid) => listensForDebuggers(pid))).toEqual([]);
  expect((await runs('down', '--state-dir', state)).code).toBe(0);
});

it('ends with the shell that ran npx', async () => {
  const command = `'${process.execPath}' '${LOCKSTEP}' up --state-dir '${state}' ${WHERE.join(' ')}; true`;
  const shell = start('sh', '-c', command);
  await outputUntil(shell, 'It runs.');
  shell.kill('SIGKILL');
  const lock = join(state, 'owner.pid');
  await until('the cluster has ended', () => !existsSync(lock));
  expect((await runs('down', '--state-dir', state)).code).toBe(1);
});

/** Its arguments; empty when it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

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
