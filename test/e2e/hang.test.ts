/**
 * Hangs and deaths of real processes in a group that trains in lockstep: who is named, and how it
 * continues.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { rankOf, type WorkerGroup } from '../../src/bench/worker-group.ts';
import type { RestartRecord } from '../../src/jobset/jobset-status.ts';
import { PROGRESS_TIMEOUT } from '../../src/jobset/names.ts';
import { AGENT_MODES } from '../kubernetes.ts';
import { LOCKSTEP } from './local-cluster.fixture.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 4;
const STEP_MS = 200;
const run = promisify(execFile);

const groups = workerGroups();

async function training(name: string, mode: 'Sidecar' | 'Supervisor'): Promise<WorkerGroup> {
  const group = await groups.start({
    name: `${name}-${mode.toLowerCase()}`,
    size: SIZE,
    mode,
    stepMs: STEP_MS,
    annotations: { [PROGRESS_TIMEOUT]: '10s' },
  });
  await group.running(1);
  await group.stepped(5);
  return group;
}

function newest(of: WorkerGroup): RestartRecord | undefined {
  return of.status.restartHistory?.[0];
}

function podOf(of: WorkerGroup, rank: number): string | undefined {
  return of.livePods().find((pod) => rankOf(pod) === rank)?.metadata.name;
}

describe('in Supervisor mode', () => {
  it('the worker that was stopped is named, and all run again', async () => {
    const of = await training('stopped', 'Supervisor');

    of.signal('SIGSTOP', 2);
    await of.running(2);
    await of.stepped(2);

    expect(newest(of)).toMatchObject({ cause: 'WorkerFailed', counted: true });
    expect(newest(of)?.witness?.reason).toBe('WorkerHung');
    expect(newest(of)?.witness?.message).toMatch(/^made no progress for 1\d s at step \d+$/);
    expect(newest(of)?.suspects).toMatchObject([
      {
        worker: 'worker 2 of w (w-0, index 2)',
        pod: podOf(of, 2),
        confidence: 'Certain',
      },
    ]);
    expect(of.status.inPlaceRestartsCountTowardsMax).toBe(1);

    const args = ['status', 'stopped-supervisor', '--kubeconfig', groups.cluster.kubeconfig];
    const { stdout } = await run(process.execPath, [LOCKSTEP, ...args]);
    expect(stdout).toMatch(/ epoch 1: its processes were stopped while the others waited\n/);
    expect(stdout).not.toMatch(/epoch 1: (hung|was killed)/);
  });

  it('the worker that was killed is named at once', async () => {
    const of = await training('killed', 'Supervisor');

    of.kill(3);
    await of.running(2);

    expect(newest(of)?.suspects).toMatchObject([
      { worker: 'worker 3 of w (w-0, index 3)', pod: podOf(of, 3), confidence: 'Certain' },
    ]);
  });
});

describe.each(AGENT_MODES)('in %s mode', (mode) => {
  it('a hang ends the epoch, and no innocent worker is named', async () => {
    const of = await training('hang', mode);

    of.signal('SIGSTOP', 1);
    await of.running(2);

    expect(newest(of)?.witness?.reason).toBe('WorkerHung');
    // A sidecar sees no processes of its worker, so nothing need be known there.
    const innocent = newest(of)?.suspects?.filter(({ pod }) => pod !== podOf(of, 1));
    expect(innocent ?? []).toEqual([]);
  });
});
