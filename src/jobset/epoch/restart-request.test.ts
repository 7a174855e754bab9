import type { Stored } from '@lockstep/kube/meta.ts';
import type { JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { afterwards, conditionsOf, ZERO } from '../../../test/fixtures/planned.ts';
import { answering, membersAt, NOW_MS } from '../../../test/fixtures/snapshots.ts';
import { BEGUN, jobSetOfTwo, planForTwo, TWO_WORKERS } from '../../../test/fixtures/two-workers.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';

const SPEC = {
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 2 },
} as const;

function jobSetIn(
  [deprecated, released]: readonly [number, number],
  request: string,
  spec: Partial<JobSetSpec> = {},
): Stored<JobSet> {
  const status = {
    ...BEGUN,
    deprecatedEpoch: deprecated,
    syncedEpoch: released,
    syncedTime: '2026-01-01T00:59:00.000000Z',
    replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: released }],
  };
  const annotations = { 'lockstep/restart-epoch': request };
  return jobSetOfTwo({ ...SPEC, ...spec }, status, { annotations });
}

describe('a request to end an epoch', () => {
  test('ends it, uncharged, with one Event', () => {
    const made = planForTwo(jobSetIn([6, 7], '7'), { members: membersAt(7, TWO_WORKERS) });
    expect(made.status).toMatchObject({ deprecatedEpoch: 7, syncedEpoch: 7 });
    expect(made.status?.restartHistory).toMatchObject([
      { epoch: 7, cause: 'Resumed', counted: false, ranMs: 60_000 },
    ]);
    expect(made.status).toMatchObject({ inPlaceRestarts: 0, inPlaceRestartsCountTowardsMax: 0 });
    expect(conditionsOf(made)).toEqual(['RestartingInPlace=True Requested']);
    expect(made.events).toEqual([
      {
        type: 'Normal',
        reason: 'Requested',
        note: 'epoch 7 ended: lockstep/restart-epoch asked for it; 0 of 2 restarts used',
      },
    ]);
  });

  test('is obeyed once: the next epoch begins, and stays', () => {
    const jobSet = jobSetIn([6, 7], '7');
    const ended = afterwards(jobSet, planForTwo(jobSet, { members: membersAt(7, TWO_WORKERS) }));
    const at8 = { members: membersAt(8, TWO_WORKERS), nowMs: NOW_MS + 20_000 };
    const made = planForTwo(ended, at8);
    expect(made.status).toMatchObject({ deprecatedEpoch: 7, syncedEpoch: 8 });
    expect(made.events).toEqual([]);
    expect(planForTwo(afterwards(ended, made), at8)).toMatchObject({ status: undefined });
  });

  test.each<[string, readonly [number, number], string, Partial<JobSetSpec>]>([
    ['an epoch that is over', [6, 7], '6', {}],
    ['an epoch to come', [6, 7], '8', {}],
    ['an epoch that was not released', [7, 7], '8', {}],
    ['no number', [6, 7], '07', {}],
    ['an epoch of a suspended JobSet', [6, 7], '7', { suspend: true }],
    ['no restart in place', [6, 7], '7', { failurePolicy: { maxRestarts: 2 } }],
  ])('does nothing for %s', (_which, epochs, request, spec) => {
    const members = membersAt(7, TWO_WORKERS);
    const made = planForTwo(jobSetIn(epochs, request, spec), { members });
    expect(made.status?.deprecatedEpoch ?? epochs[0]).toBe(epochs[0]);
  });

  test('does not keep a failure of that epoch from its charge', () => {
    const members = membersAt(8, TWO_WORKERS);
    const witness = {
      record: { pod: 'p0', exitCode: 1, reason: 'Error' },
      finishedMs: undefined,
      showsFailure: true,
    };
    const made = planForTwo(jobSetIn([6, 7], '7'), {
      members,
      answer: answering({ Witness: witness }),
    });
    expect(made.status?.restartHistory).toMatchObject([{ cause: 'WorkerFailed', counted: true }]);
  });

  test('does not start a group over whose success is about to be counted', () => {
    const spec = {
      replicatedJobs: [replicatedJob('w', 2, 2)],
      successPolicy: { operator: 'Any' },
    } as const;
    const other = storedJob('train-w-1', 'w', { pods: 2, index: 1 });
    const members = membersAt(7, TWO_WORKERS, other);
    const endedAt = (status: JobStatus) =>
      planForTwo(jobSetIn([6, 7], '7', spec), {
        jobs: [{ ...TWO_WORKERS, status }, other],
        members,
        answer: answering({ SucceededPods: true }),
      }).status?.deprecatedEpoch ?? 6;
    expect(endedAt({ active: 2 })).toBe(7);
    expect(endedAt({ succeeded: 2 })).toBe(6);
  });
});
