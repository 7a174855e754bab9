import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endLeftovers } from './leftovers.ts';
import { Watchdog } from './watchdog.ts';

const SLEEP = ['sleep', '600'] as const;

let state: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'lockstep-watchdog-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(state, { recursive: true, force: true });
});

/** A process of its own group, like processes of Pods, with that root. */
function inRoot(root: string): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', LOCKSTEP_ROOT: root };
  const child = spawn(SLEEP[0], [SLEEP[1]], { env, detached: true, stdio: 'ignore' });
  children.push(child);
  return child;
}

function runs(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

it('is followed by another one that knows the same, as often as it is killed', async () => {
  // This stands for the program: it writes down what it receives.
  const script = join(state, 'told.mjs');
  const told = join(state, 'told');
  const program = `import { appendFileSync } from 'node:fs';
    for await (const chunk of process.stdin) appendFileSync('${told}.' + process.pid, chunk);`;
  writeFileSync(script, program);
  let ends = 0;
  const watchdog = Watchdog.start(script, state, true, () => {
    ends++;
  });
  let end = (): void => undefined;
  watchdog.watch(4_000_001, new Promise<void>((resolve) => (end = resolve)));
  watchdog.watch(4_000_002, new Promise<void>(() => undefined));
  end();
  const hears = (pid: number): string => {
    try {
      return readFileSync(`${told}.${pid}`, 'utf8');
    } catch {
      return '';
    }
  };
  for (let kills = 1; kills <= 2; kills++) {
    const { pid } = watchdog;
    await until('the watchdog hears', () => hears(pid) !== '');
    process.kill(pid, 'SIGKILL');
    await until('another one runs', () => watchdog.pid !== pid);
    expect(ends).toBe(kills);
  }
  const last = watchdog.pid;
  await until('the last one hears', () => hears(last) !== '');
  expect(hears(last)).toBe(`state ${state}\nremove ${state}\ngroup 4000002\n`);
  watchdog.release();
  await until('it is released', () => expect(hears(last)).toMatch(/done\n$/));
  expect(ends, 'its own end is none').toBe(2);
});

it.runIf(process.platform === 'linux')(
  'ends what Pods of that directory alone have left',
  async () => {
    const own = [1, 2].map((n) => inRoot(`${state}/nodes/node-0/pods/${n}/containers/c/root`));
    const others = [
      inRoot(`${state}2/nodes/node-0/pods/1/containers/c/root`),
      inRoot(`${state}/other/nodes/node-0/pods/1/containers/c/root`),
      inRoot(`/x${state}/nodes/node-0`),
      inRoot(state),
    ];
    await Promise.all([...own, ...others].map((child) => once(child, 'spawn')));
    expect(await endLeftovers(state)).toBe(2);
    await until('they have ended', () => !own.some(runs));
    expect(others.every(runs)).toBe(true);
    expect(await endLeftovers(state)).toBe(0);
  },
);
