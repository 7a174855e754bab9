import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import {
  answering,
  membersAt,
  snapshotOf,
  WITHOUT_READY,
} from '../../../../test/fixtures/snapshots.ts';
import { DEFAULT_FEATURE_GATES } from '../../feature-gates.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { REPLICATED_JOB_REPLICAS } from '../../names.ts';
import { type Plan, plan } from '../../plan.ts';
import type { Snapshot } from '../snapshot.ts';

/** A group that is scaled while it runs, and while it restarts. */
const COUNTERS = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };

/** Job `index` of `w`, made when there were `replicas`. */
function job(index: number, replicas: number, pods = 2): Stored<Job> {
  const made = storedJob(`train-w-${index}`, 'w', { index, pods });
  const labels = { ...made.metadata.labels, [REPLICATED_JOB_REPLICAS]: String(replicas) };
  return { ...made, metadata: { ...made.metadata, labels } };
}

function planOf(
  wanted: { readonly pods: number; readonly replicas: number },
  [deprecatedEpoch, syncedEpoch]: readonly [number, number],
  jobs: readonly Stored<Job>[],
  more: Partial<Snapshot> = {},
): Plan {
  const jobSet = storedJobSet({
    replicatedJobs: [replicatedJob('w', wanted.pods, wanted.replicas)],
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 0 },
  });
  const status: JobSetStatus = {
    restarts: 0,
    executionAttempts: 0,
    deprecatedEpoch,
    syncedEpoch,
    replicatedJobsStatus: [{ name: 'w', ...COUNTERS, syncedEpoch }],
  };
  const view = { jobs, members: membersAt(deprecatedEpoch + 1, ...jobs), ...more };
  return plan(snapshotOf({ ...jobSet, status }, { ...WITHOUT_READY, ...view }));
}

function kinds({ actions }: Plan): readonly string[] {
  return actions.map(({ kind }) => kind);
}

describe.each<[string, { pods: number; replicas: number }, readonly Stored<Job>[], string]>([
  ['more Pods', { pods: 3, replicas: 1 }, [job(0, 1)], 'ResizeJob'],
  ['fewer Pods', { pods: 1, replicas: 1 }, [job(0, 1)], 'ResizeJob'],
  ['more Jobs', { pods: 2, replicas: 2 }, [job(0, 1)], 'CreateJob'],
  ['fewer Jobs', { pods: 2, replicas: 1 }, [job(0, 2), job(1, 2)], 'DeleteJob'],
])('%s', (_what, wanted, jobs, action) => {
  test('end a released epoch, uncharged, before any Job is touched', () => {
    expect(planOf(wanted, [3, 4], jobs).question, 'the cache may be old').toEqual({
      kind: 'FreshJobs',
    });
    const made = planOf(wanted, [3, 4], jobs, { answer: answering({ FreshJobs: true }) });
    expect(made.actions).toEqual([]);
    expect(made.status).toMatchObject({
      deprecatedEpoch: 4,
      inPlaceRestartsCountTowardsMax: 0,
      restartHistory: [{ cause: 'Scaled', counted: false }],
    });
  });

  test('are absorbed by an epoch that is not released, which then waits for the new size', () => {
    const made = planOf(wanted, [4, 4], jobs);
    expect(made.status).toBeUndefined();
    expect(kinds(made)).toEqual([action]);
  });
});

describe('no scaling', () => {
  test('is a Job that is missing because it was lost', () => {
    const made = planOf({ pods: 2, replicas: 2 }, [3, 4], [job(0, 2)]);
    expect(made.status).toBeUndefined();
    expect(kinds(made)).toEqual(['CreateJob']);
  });

  test('happens with the gate off', () => {
    const gates = { ...DEFAULT_FEATURE_GATES, ElasticJobSet: false };
    const made = planOf({ pods: 3, replicas: 1 }, [3, 4], [job(0, 1)], { gates });
    expect(made).toMatchObject({ status: undefined, actions: [] });
  });

  test('is a surplus Job that is on its way out already', () => {
    const gone = job(1, 2);
    const leaving = {
      ...gone,
      metadata: { ...gone.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const made = planOf({ pods: 2, replicas: 1 }, [3, 4], [job(0, 2), leaving], {
      members: membersAt(4, job(0, 2)),
    });
    expect(made).toMatchObject({ status: undefined, actions: [] });
  });
});
