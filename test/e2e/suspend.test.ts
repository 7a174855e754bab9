/**
 * A preemption as Kueue does it: the JobSet is suspended while its workers run, and resumed later.
 * The exit code of a stopped worker, 0 or not, makes no difference.
 */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import { expect, it } from 'vitest';
import type { WorkerGroup, WorkerGroupOptions } from '../../src/bench/worker-group.ts';
import type { RestartStrategy } from '../../src/jobset/jobset.ts';
import { AGENT_MODES } from '../kubernetes.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 3;

const groups = workerGroups();

function startGroup(
  name: string,
  options: Pick<WorkerGroupOptions, 'mode' | 'strategy' | 'onStop'>,
): Promise<WorkerGroup> {
  return groups.start({ name, size: SIZE, ...options });
}

async function jobUids(): Promise<readonly string[]> {
  const { items } = await groups.cluster.client.list(JOBS, { namespace: 'default' });
  return items.map(({ metadata }) => metadata.uid);
}

/** Waits until all workers were told to stop, and their Pods are gone. */
async function suspended(of: WorkerGroup): Promise<void> {
  await groups.patch(of, { spec: { suspend: true } });
  await of.until('all have stopped', () => of.marks().length === 2 * SIZE);
  await of.until('all Pods are gone', () => [...of.pods.store.values()].length === 0);
}

it.each(
  AGENT_MODES.flatMap((mode) => [
    [mode, 'all of whose workers', 'exit 0'] as const,
    [mode, 'one of whose workers', '[ $RANK = 1 ] && exit 0; exit 143'] as const,
  ]),
)(
  'resumes a group in %s mode %s end well when they are told to stop',
  async (mode, who, onStop) => {
    const of = await startGroup(`${mode.toLowerCase()}-${who.slice(0, 3)}`, { mode, onStop });
    await of.running(1);
    const jobs = await jobUids();
    await suspended(of);
    await groups.patch(of, { spec: { suspend: false } });
    await of.running(2);
    expect(await jobUids()).toEqual(jobs);
    expect(of.status).toMatchObject({ inPlaceRestarts: 0, restarts: 0, deprecatedEpoch: 1 });
    expect(of.status.restartHistory).toMatchObject([{ cause: 'Resumed', counted: false }]);
  },
);

it.each<RestartStrategy>(['Recreate', 'BlockingRecreate'])(
  'resumes a JobSet of strategy %s some of whose workers end well when they are told to stop',
  async (strategy) => {
    const onStop = '[ $RANK = 1 ] && exit 0; exit 143';
    const of = await startGroup(strategy.toLowerCase(), { mode: 'Supervisor', strategy, onStop });
    await of.until('all run', () => of.starts().length === SIZE);
    await suspended(of);
    await groups.patch(of, { spec: { suspend: false } });
    await of.until('all run again', () => of.starts().length === 2 * SIZE);
    expect(of.status).toMatchObject({ restarts: 0 });
  },
);
