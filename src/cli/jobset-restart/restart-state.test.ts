import { describe, expect, it } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { parseRestart } from './command.ts';
import { restartableEpoch, restartState } from './restart-state.ts';

function changed(jobSet: JobSet, change: Partial<Pick<JobSet, 'spec' | 'status'>>): JobSet {
  return {
    ...jobSet,
    spec: { ...jobSet.spec, ...change.spec },
    status: { ...jobSet.status, ...change.status },
  };
}

const JOBSET = storedJobSet({
  failurePolicy: { restartStrategy: 'InPlaceRestart' },
  replicatedJobs: [{ ...replicatedJob('w'), replicas: 64 }],
});

function inEpochs(deprecatedEpoch: number, syncedEpoch: number): JobSet {
  return { ...JOBSET, status: { deprecatedEpoch, syncedEpoch } };
}

const RUNNING = inEpochs(6, 7);

describe('the epoch that a user may end', () => {
  it('is the current one, once it is released', () => {
    expect(restartableEpoch(RUNNING)).toEqual({ epoch: 7 });
  });

  it.each<[string, JobSet, string]>([
    ['gathers at the barrier', inEpochs(7, 7), 'epoch 8 is not released: its workers do not'],
    ['has begun', { ...RUNNING, status: {} }, 'epoch 1 is not released'],
    ['completed', changed(RUNNING, { status: { terminalState: 'Completed' } }), 'has completed'],
    ['failed', changed(RUNNING, { status: { terminalState: 'Failed' } }), 'has failed'],
    ['is suspended', changed(RUNNING, { spec: { suspend: true } }), 'is suspended'],
    ['recreates', changed(RUNNING, { spec: { failurePolicy: {} } }), 'strategy is Recreate; only'],
    ['has another manager', changed(RUNNING, { spec: { managedBy: 'kueue' } }), 'by kueue'],
    [
      'was taken out',
      {
        ...RUNNING,
        metadata: { annotations: { 'jobset.sigs.k8s.io/disable-in-place-restart': '' } },
      },
      'taken out of in-place restart',
    ],
  ])('is none if the JobSet %s', (_, jobSet, problem) => {
    expect(restartableEpoch(jobSet)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe('the state of a restart', () => {
  const record = {
    epoch: 7,
    time: '2026-01-01T00:00:10.000000Z',
    cause: 'JobsRecreated',
    counted: false,
  } as const;
  const ended = { restartHistory: [record], syncedTime: '2026-01-01T00:00:10.420000Z' };

  it.each<[string, JobSet, string, string]>([
    ['before the end', RUNNING, 'Waiting', 'epoch 7 has not ended'],
    [
      'at the barrier',
      changed(inEpochs(7, 7), { status: ended }),
      'Waiting',
      'epoch 7 ended (JobsRecreated, not counted), and epoch 8 is not released',
    ],
    [
      'after the release',
      changed(inEpochs(7, 8), { status: ended }),
      'Restarted',
      'epoch 7 ended (JobsRecreated, not counted); 64 members run again in epoch 8 after 0.4 s',
    ],
    [
      'without a record',
      inEpochs(7, 8),
      'Restarted',
      'epoch 7 ended; 64 members run again in epoch 8',
    ],
    [
      'of one that failed meanwhile',
      changed(inEpochs(7, 7), { status: { terminalState: 'Failed' } }),
      'Over',
      'the JobSet has failed',
    ],
  ])('is known %s', (_, jobSet, kind, text) => {
    expect(restartState(jobSet, 7)).toEqual({ kind, text });
  });
});

it.each(['0', '-1', '1m', '3601', '', '1.5'])('refuses a time-out of %j', (timeout) => {
  expect(parseRestart('a', { timeout, wait: true })).toEqual({
    errors: [`--timeout is "${timeout}", allowed are whole seconds from 1 to 3600`],
  });
});
