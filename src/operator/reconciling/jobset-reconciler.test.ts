import type { KubeObject } from '@lockstep/kube/meta.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { ObjectStore } from '@lockstep/kube/runtime/informer/object-store.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { notFound } from '@lockstep/kube/status-errors.ts';
import { expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { ZERO } from '../../../test/fixtures/planned.ts';
import { membersAt, NOW_MS, podOf, snapshotOf } from '../../../test/fixtures/snapshots.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { operatorMetrics } from '../process/operator-metrics.ts';
import { JobSetReconciler, type ReconcilerOptions } from './jobset-reconciler.ts';

const JOB = storedJob('train-w-0', 'w', { pods: 2 });
const JOBSET = {
  ...storedJobSet({
    replicatedJobs: [replicatedJob('w', 2)],
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1 },
  }),
  status: {
    restarts: 0,
    restartsCountTowardsMax: 0,
    executionAttempts: 0,
    syncedEpoch: 1,
    replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 1 }],
  },
};

/** One Pod of two has failed: after each read of the operator, the one that `failing` names. */
function reconcilerWith(failing: (reads: number) => string) {
  const written: (JobSetStatus | undefined)[] = [];
  let reads = 0;
  const storeOf = (...objects: readonly KubeObject[]): unknown => {
    const store = new ObjectStore<never>({ jobset: () => ['default/train/jobset-uid'] });
    store.replace(objects as never, '1');
    return { store };
  };
  const { agent, gates, sha1, limits } = snapshotOf(JOBSET);
  const options = {
    client: {
      get: () => {
        reads++;
        return Promise.reject(notFound(PODS, 'p'));
      },
      list: () => Promise.resolve({ items: [], metadata: {} }),
      update: (_: unknown, jobSet: typeof JOBSET) => {
        written.push(jobSet.status);
        return Promise.resolve(jobSet);
      },
    },
    feed: {
      roster: {
        of: () => {
          const members = membersAt(1, JOB);
          members.observe(podOf(JOB, 1, 2, { uid: failing(reads) }), NOW_MS);
          return { members, endsIn: () => [], settle: () => undefined };
        },
        watch: () => undefined,
      },
      tell: () => undefined,
    },
    informers: {
      jobSets: storeOf(JOBSET),
      jobs: storeOf(JOB),
      services: storeOf(),
      claims: storeOf(),
    },
    events: { record: () => undefined },
    metrics: operatorMetrics(undefined),
    clock: new VirtualClock(),
    logger: SILENT,
    definition: {},
    agentProgram: () => agent,
    hasHub: false,
    gates,
    sha1,
    limits,
  } as unknown as ReconcilerOptions;
  const reconciler = new JobSetReconciler(options);
  return { reconciler, written, reads: () => reads };
}

const { signal } = new AbortController();

test('an epoch ends after one look at the Pod that failed, also if another one fails meanwhile', async () => {
  const same = reconcilerWith(() => 'a');
  await same.reconciler.reconcile('default/train', signal);
  expect([same.reads(), same.written]).toMatchObject([1, [{ deprecatedEpoch: 1 }]]);
  const other = reconcilerWith((reads) => (reads === 0 ? 'a' : 'b'));
  await other.reconciler.reconcile('default/train', signal);
  expect([other.reads(), other.written]).toMatchObject([2, [{ deprecatedEpoch: 1 }]]);
});

test('a pass whose questions never end fails, and writes nothing', async () => {
  const { reconciler, written, reads } = reconcilerWith((count) => `pod-${count}`);
  const pass = reconciler.reconcile('default/train', signal);
  await expect(pass).rejects.toThrow('the plan for default/train asks without end');
  expect(reads()).toBeLessThan(50);
  expect(written).toEqual([]);
});
