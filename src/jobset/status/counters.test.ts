import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { microTimeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { SUSPENDED, ZERO } from '../../../test/fixtures/planned.ts';
import {
  answering,
  membersAt,
  NO_KNOWLEDGE,
  NOW_MS,
  snapshotOf,
} from '../../../test/fixtures/snapshots.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../jobset-status.ts';
import { type Plan, plan } from '../plan.ts';
import { MemberCounts } from '../roster/members.ts';
import { isTrue } from './conditions.ts';
import type { CountersPutOff } from './counters.ts';

/** Plans a JobSet again and again, as its Jobs change and as each plan asks, on a virtual clock. */
class Replay {
  readonly writes: { readonly atMs: number; readonly status: JobSetStatus }[] = [];
  members = new MemberCounts();
  nowMs = NOW_MS;
  #jobSet: Stored<JobSet>;
  #jobs: readonly Stored<Job>[] = [];
  #putOff: CountersPutOff | undefined;
  #againMs = Number.POSITIVE_INFINITY;

  constructor(spec: JobSetSpec, status: JobSetStatus) {
    this.#jobSet = { ...storedJobSet(spec), status };
  }

  /** The Jobs change, and some time goes by. */
  step(jobs: readonly Stored<Job>[], forMs: number): void {
    const endMs = this.nowMs + forMs;
    this.#jobs = jobs;
    this.#plan();
    while (this.#againMs <= endMs) {
      this.nowMs = Math.max(this.nowMs, this.#againMs);
      this.#plan();
    }
    this.nowMs = endMs;
  }

  suspend(suspend: boolean): void {
    this.#jobSet = { ...this.#jobSet, spec: { ...this.#jobSet.spec, suspend } };
  }

  get stored(): readonly ReplicatedJobStatus[] {
    return this.#jobSet.status?.replicatedJobsStatus ?? [];
  }

  #plan(): void {
    const made = this.#decide();
    this.#putOff = made.countersPutOff;
    this.#againMs = this.nowMs + (made.requeueAfterMs ?? Number.POSITIVE_INFINITY);
    if (made.status === undefined) return;
    this.writes.push({ atMs: this.nowMs - NOW_MS, status: made.status });
    this.#jobSet = { ...this.#jobSet, status: made.status };
  }

  #decide(): Plan {
    const witness = {
      record: { pod: 'p', exitCode: 1, reason: 'Error' },
      finishedMs: undefined,
      showsFailure: true,
    };
    return plan(
      snapshotOf(this.#jobSet, {
        jobs: this.#jobs,
        members: this.members,
        knowledge: { ...NO_KNOWLEDGE, countersPutOff: this.#putOff },
        answer: answering({ Witness: witness, FreshJobs: true, FreshPods: this.members }),
        nowMs: this.nowMs,
      }),
    );
  }
}

const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'EpochReleased',
  message: 'the current epoch is released',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
const BEGUN = { restarts: 0, restartsCountTowardsMax: 0, executionAttempts: 0 } as const;

function jobsOf(count: number, status: (index: number) => Job['status'], suspend = false) {
  return Array.from({ length: count }, (_, index) =>
    storedJob(`train-w-${index}`, 'w', { index, pods: 4, suspend, status: status(index) ?? {} }),
  );
}

describe('a JobSet that starts', () => {
  const replay = (replicas: number): Replay =>
    new Replay(
      { replicatedJobs: [replicatedJob('w', 4, replicas)] },
      { ...BEGUN, replicatedJobsStatus: [{ name: 'w', ...ZERO }] },
    );

  test('shows the first active Job, and the end of the last, at once', () => {
    const of = replay(2);
    of.step(
      jobsOf(2, () => ({})),
      100,
    );
    of.step(
      jobsOf(2, (index) => ({ active: index === 0 ? 4 : 0 })),
      0,
    );
    expect(of.stored).toEqual([{ name: 'w', ...ZERO, active: 1 }]);
    of.step(
      jobsOf(2, () => ({ active: 4 })),
      0,
    );
    expect(of.stored, 'no queue decides by how many').toMatchObject([{ active: 1 }]);
    of.suspend(true);
    const stopping = (active: number) => jobsOf(2, () => ({ active, ...SUSPENDED }), true);
    of.step(stopping(4), 0);
    expect(of.stored, 'suspended Jobs still have Pods').toMatchObject([
      { active: 2, suspended: 2 },
    ]);
    of.step(stopping(0), 0);
    expect(of.stored).toEqual([{ name: 'w', ...ZERO, suspended: 2 }]);
    of.suspend(false);
    of.step(
      jobsOf(2, () => ({ active: 4 })),
      0,
    );
    expect(of.stored).toEqual([{ name: 'w', ...ZERO, active: 2 }]);
  });

  test('shows other counters after half a second of calm', () => {
    const of = replay(2);
    of.step(
      jobsOf(2, () => ({ active: 4 })),
      0,
    );
    of.step(
      jobsOf(2, (index) => ({ active: 4, ready: index * 4 })),
      300,
    );
    of.step(
      jobsOf(2, () => ({ active: 4, ready: 4 })),
      499,
    );
    expect(of.stored).toMatchObject([{ ready: 0 }]);
    of.step(
      jobsOf(2, () => ({ active: 4, ready: 4 })),
      1,
    );
    expect(of.stored).toEqual([{ name: 'w', ...ZERO, active: 2, ready: 2 }]);
  });

  test('of 5,000 Jobs makes at most 20 writes of counters', () => {
    const count = 5000;
    const of = replay(count);
    // 200 Jobs a second, each ready 10 s after its Pods were made.
    for (let started = 50; started <= count + 2000; started += 50) {
      const at = (index: number): Job['status'] => {
        if (index >= started) return {};
        return { active: 4, ready: index < started - 2000 ? 4 : 0 };
      };
      of.step(jobsOf(count, at), 250);
    }
    of.step(
      jobsOf(count, () => ({ active: 4, ready: 4 })),
      1000,
    );
    expect(of.stored).toEqual([{ name: 'w', ...ZERO, active: count, ready: count }]);
    expect(of.writes.length).toBeLessThanOrEqual(20);
  });
});

describe('a group that restarts in place', () => {
  const SPEC: JobSetSpec = {
    replicatedJobs: [replicatedJob('w', 4, 2)],
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 9 },
  };
  const RUNNING: JobSetStatus = {
    ...BEGUN,
    deprecatedEpoch: 0,
    syncedEpoch: 1,
    syncedTime: microTimeText(NOW_MS - 60_000),
    conditions: [READY],
    replicatedJobsStatus: [{ name: 'w', ...ZERO, ready: 2, active: 2, syncedEpoch: 1 }],
  };
  const jobs = (ready: number) => jobsOf(2, () => ({ active: 4, ready }));
  const restart = (gatheringMs: number): Replay => {
    const of = new Replay(SPEC, RUNNING);
    of.members = membersAt(1, ...jobs(4));
    of.step(jobs(4), 1000);
    of.members.observe({ ...first(of.members.announcing(1)), epoch: 2 }, 0);
    of.step(jobs(4), 100);
    of.step(jobs(1), gatheringMs);
    return of;
  };
  const release = (of: Replay): void => {
    of.members = membersAt(2, ...jobs(4));
    of.step(jobs(1), 900);
    of.step(jobs(3), 900);
    of.step(jobs(4), 60_000);
  };

  test('makes two writes, also when its workers are not ready at once', () => {
    const of = restart(2000);
    release(of);
    expect(of.writes.map(({ status }) => status.syncedEpoch)).toEqual([1, 2]);
    expect(of.stored).toMatchObject([{ ready: 2, syncedEpoch: 2 }]);
    const ready = of.writes.map(({ status }) => isTrue(status.conditions, 'Ready'));
    expect(ready).toEqual([false, true]);
  });

  test('shows after 5 s that its Jobs are not ready, and soon after that they are again', () => {
    const of = restart(60_000);
    expect(of.stored).toMatchObject([{ ready: 0, active: 2, syncedEpoch: 1 }]);
    expect(of.writes.map(({ atMs }) => atMs)).toEqual([1000, 6100]);
    release(of);
    expect(of.stored).toMatchObject([{ ready: 2, syncedEpoch: 2 }]);
    expect(of.writes).toHaveLength(4);
  });
});

function first<T>(items: Iterable<T>): T {
  for (const item of items) return item;
  throw new Error('none');
}
