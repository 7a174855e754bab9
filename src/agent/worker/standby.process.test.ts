import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProcessPriorities } from '../adapters/process-priorities.ts';
import type { Supervisor } from '../supervisor.ts';
import type { OwnEnd } from '../worker-exit.ts';
import { realSupervisor } from './real-supervisor.fixture.ts';

/** Usually it takes 3 ms; a busy machine needs more. */
const PROMOTION_LIMIT_MS = 1000;
/** Tests may run at a lower one than usual. */
const OWN_PRIORITY = getPriority();

/** A worker as the guide shows it: prepare, say so, wait, run. Each leaves a child in a session of its own. */
const WORKER = `
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { getPriority } = require('node:os');
const { LOCKSTEP_START_FILE: start, LOCKSTEP_PROGRESS_FILE: progress } = process.env;
const child = require('node:child_process').spawn('sleep', ['1000'], { detached: true });
const { LOCKSTEP_EPOCH, LOCKSTEP_STANDBY, LOCKSTEP_WORKER } = process.env;
const known = { LOCKSTEP_EPOCH, LOCKSTEP_STANDBY, LOCKSTEP_WORKER };
console.error('prepares');
appendFileSync(progress, 'phase=standby\\n');
const run = () => {
  const at = performance.timeOrigin + performance.now();
  const nice = getPriority();
  const text = readFileSync(start, 'utf8');
  const name = text.trim().replace(' ', '-');
  writeFileSync(name, JSON.stringify({ ...known, pid: process.pid, child: child.pid, text, nice, at }));
  appendFileSync(progress, '1\\n');
};
const wait = () => (existsSync(start) ? run() : setTimeout(wait, 1));
wait();
process.on('SIGTERM', () => { console.error('boom ' + process.pid); process.exit(3); });
setInterval(() => undefined, 1000);
`;

interface Run {
  readonly pid: number;
  readonly child: number;
  readonly text: string;
  readonly nice: number;
  /** Wall time at its first line. */
  readonly at: number;
  readonly LOCKSTEP_EPOCH?: string;
  readonly LOCKSTEP_STANDBY?: string;
  readonly LOCKSTEP_WORKER: string;
}

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-standby-'));
});
afterEach(() => {
  for (const pid of left()) process.kill(pid, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

class Scene {
  readonly logger = new MemoryLogger();
  readonly said: string[] = [];
  readonly supervisor: Supervisor;

  constructor() {
    const { logger, said } = this;
    const argv = [process.execPath, '-e', WORKER] as const;
    this.supervisor = realSupervisor({ argv, directory, said, logger, hasStandby: true });
  }

  lift(epoch: number): Promise<OwnEnd> {
    return new Promise((resolve) => this.supervisor.lift(epoch, resolve));
  }

  ready(): Promise<void> {
    const { supervisor } = this;
    return until('the standby is ready', () =>
      expect(supervisor.progress.progress?.standby).toBe('Ready'),
    );
  }
}

function run(epoch: number): Promise<Run> {
  const path = join(directory, `epoch-${epoch}`);
  return until(`the worker of epoch ${epoch} runs`, () => JSON.parse(readFileSync(path, 'utf8')));
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Processes of this test that live. */
function left(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isAlive(pid) && environmentOf(pid).includes(`D=${directory}\0`));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

describe('a warm standby', () => {
  it('becomes the worker of the next epoch, three times in a row', async () => {
    const scene = new Scene();
    let ended = scene.lift(1);
    const cold = await run(1);
    const mayRestore = createProcessPriorities().lower(cold.child);
    expect(cold).toMatchObject({ text: 'epoch 1\n', LOCKSTEP_EPOCH: '1' });
    expect(cold).not.toHaveProperty('LOCKSTEP_STANDBY');
    let before = cold;
    for (const epoch of [2, 3, 4]) {
      await scene.ready();
      const [standby, child] = left().filter((pid) => ![before.pid, before.child].includes(pid));
      expect([standby, child].map((pid) => getPriority(pid))).toEqual(
        mayRestore ? [19, 19] : [OWN_PRIORITY, OWN_PRIORITY],
      );
      scene.supervisor.stopWorker({ isSilent: false });
      const end = await ended;
      // The output of a standby before it was the worker is not among its last words.
      const lastWords = `${before === cold ? 'prepares\n' : ''}boom ${before.pid}`;
      expect(end).toMatchObject({ how: 'Stopped', exit: { exitCode: 3 }, lastWords });
      expect([before.pid, before.child].filter(isAlive)).toEqual([]);
      const liftedAt = performance.timeOrigin + performance.now();
      ended = scene.lift(epoch);
      const warm = await run(epoch);
      expect(warm.at - liftedAt).toBeLessThan(PROMOTION_LIMIT_MS);
      expect(warm).toMatchObject({ text: `epoch ${epoch}\n`, LOCKSTEP_STANDBY: '1' });
      const priorities = [warm.nice, getPriority(warm.pid), getPriority(warm.child)];
      expect(new Set(priorities)).toEqual(new Set([OWN_PRIORITY]));
      expect(warm).not.toHaveProperty('LOCKSTEP_EPOCH');
      expect(warm.LOCKSTEP_WORKER).not.toBe(before.LOCKSTEP_WORKER);
      expect(isAlive(warm.child)).toBe(true);
      before = warm;
    }
    await scene.ready();
    await scene.supervisor.dropStandby?.();
    scene.supervisor.stopWorker({ isSilent: false });
    await ended;
    expect(left()).toEqual([]);
  });
});
