/** The main job as a user runs it: its result, its output, and what it leaves behind. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { DemoReport } from '../../src/cli/demo/report.ts';
import { removeWorkloads } from '../fixtures/workloads.ts';
import { startApi } from '../integration/api-server.fixture.ts';
import { EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';
import { LOCKSTEP, outputUntil, WHERE } from './local-cluster.fixture.ts';

const CLEAN_UP_LIMIT_MS = 5000;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();

function lockstep(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [LOCKSTEP, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Ends all commands: one that a test did not wait for would keep its Nodes, and block the next. */
async function endAll(): Promise<void> {
  for (const child of running) {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    await ended;
  }
}

function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

/** Processes that belong to a state directory: its Pods, and the operator. */
function processesOf(stateDirectory: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const seen =
          readFileSync(`/proc/${pid}/environ`) + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return Number(pid) !== process.pid && seen.includes(stateDirectory);
      } catch {
        return false;
      }
    });
}

async function expectNothingLeft(stateDirectory: string, limitMs?: number): Promise<void> {
  const look = (): void => {
    expect(processesOf(stateDirectory)).toEqual([]);
    expect(existsSync(stateDirectory)).toBe(false);
  };
  await until('nothing is left', look, limitMs);
}

/** What is left in the cluster; an embedded one is gone with the command. */
async function leftInCluster(): Promise<readonly string[]> {
  if (KUBERNETES === undefined) return [];
  const { client, stop } = await startApi();
  try {
    return await removeWorkloads(client);
  } finally {
    await stop();
  }
}

const MODES = EXCEPTIONS.podsAreNotRestarted
  ? (['supervisor'] as const)
  : (['sidecar', 'supervisor'] as const);

describe('lockstep demo', () => {
  afterEach(endAll);

  it.each(MODES)('loses a worker, restarts in place and learns (%s)', async (mode) => {
    const { code, stdout, stderr } = await endOf(
      lockstep('demo', ...WHERE, '--workers', '3', '--kill', '2', '--mode', mode, '--json'),
    );

    expect({ code, stderr }).toMatchObject({ code: 0 });
    const report = JSON.parse(stdout) as DemoReport;
    expect(report).toMatchObject({ workers: 3, steps: 700 });
    expect(report.accuracy).toBeGreaterThan(0.95);
    const [inPlace, recreate, ...others] = report.restarts;
    const warm = { strategy: 'InPlaceRestart', mode, standby: 'Warm', podsRecreated: 0 };
    expect(others).toMatchObject(mode === 'supervisor' ? [warm] : []);
    expect(inPlace).toMatchObject({
      strategy: 'InPlaceRestart',
      mode,
      standby: null,
      epoch: 1,
      podsRecreated: 0,
    });
    expect(inPlace?.witness).toMatchObject({ pod: expect.stringContaining('-0-2-') });
    // If all containers restart, their ends may be gone from the status before the operator reads
    // it.
    if (mode === 'supervisor') expect(inPlace?.witness).toMatchObject({ container: 'worker' });
    expect(inPlace?.stepsLost).toBeGreaterThanOrEqual(30);
    expect(recreate).toMatchObject({
      strategy: 'Recreate',
      mode: null,
      standby: null,
      podsRecreated: 3,
    });
    for (const restart of report.restarts) {
      const sum = Object.values(restart.phasesMs).reduce((a, b) => a + b, 0);
      expect(sum).toBeCloseTo(restart.totalMs, 0);
    }
    expect(await leftInCluster()).toEqual([]);
  });

  it('ends and cleans up within 5 s of Ctrl-C', async () => {
    const child = lockstep('demo', ...WHERE, '--workers', '2');
    const output = await outputUntil(child, 'step 100/700');
    const stateDirectory = / in (\/\S+)/.exec(output)?.[1] ?? '';
    const ended = endOf(child);
    child.kill('SIGINT');

    expect((await ended).code).toBe(130);
    await expectNothingLeft(stateDirectory, CLEAN_UP_LIMIT_MS);
    expect(await leftInCluster()).toEqual([]);
  });

  it.skipIf(EXCEPTIONS.commandIsNotKilled)('leaves nothing behind when it is killed', async () => {
    const child = lockstep('demo', ...WHERE, '--workers', '2');
    const output = await outputUntil(child, 'step 100/700');
    const stateDirectory = / in (\/\S+)/.exec(output)?.[1] ?? '';
    expect(processesOf(stateDirectory).length).toBeGreaterThan(0);
    child.kill('SIGKILL');

    await expectNothingLeft(stateDirectory);
  });

  it.each([
    [['demo', '--workers', '0'], '--workers is "0", allowed is an integer from 1 to 64'],
    [['demo', '--mode', 'car'], '--mode is "car", allowed are sidecar, supervisor'],
    [['demo', '--wrokers', '4'], "unknown option '--wrokers'"],
    [['dmeo'], "unknown command 'dmeo'"],
  ])('%j is a usage error', async (args, message) => {
    const { code, stdout, stderr } = await endOf(lockstep(...args));
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
  });
});
