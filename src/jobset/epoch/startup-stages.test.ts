import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import {
  answering,
  membersAt,
  NOW_MS,
  podOf,
  snapshotOf,
} from '../../../test/fixtures/snapshots.ts';
import type { JobSetSpec } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { Snapshot } from '../plan/snapshot.ts';
import { type Plan, plan } from '../plan.ts';

/** A group whose ReplicatedJobs start, and restart in place, stage by stage. */
const ZERO = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const READY: JobStatus = { ready: 2, active: 2 };

function job(name: string, status: JobStatus = {}): Stored<Job> {
  return storedJob(`train-${name}-0`, name, { pods: 2, status });
}

const IN_ORDER: Partial<JobSetSpec> = { startupPolicy: { startupPolicyOrder: 'InOrder' } };

/** `released` holds S(r) in the order of `names`. */
function planOf(
  names: readonly string[],
  epochs: { readonly deprecated: number; readonly released: readonly number[] },
  jobs: readonly Stored<Job>[],
  more: Partial<Snapshot> = {},
  spec: Partial<JobSetSpec> = IN_ORDER,
): Plan {
  const jobSet = storedJobSet({
    replicatedJobs: names.map((name) => replicatedJob(name, 2)),
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 9 },
    ...spec,
  });
  const status: JobSetStatus = {
    restarts: 0,
    executionAttempts: 0,
    deprecatedEpoch: epochs.deprecated,
    syncedEpoch: Math.min(...epochs.released),
    replicatedJobsStatus: names.map((name, i) => {
      return { name, ...ZERO, syncedEpoch: epochs.released[i] ?? 0 };
    }),
  };
  return plan(snapshotOf({ ...jobSet, status }, { jobs, ...more }));
}

/** S(r) by name after a release; undefined if the plan releases nothing. */
function releasedBy({ status, outcomes }: Plan): Readonly<Record<string, number>> | undefined {
  if (!outcomes.some(({ kind }) => kind === 'EpochReleased')) return undefined;
  const statuses = status?.replicatedJobsStatus ?? [];
  return Object.fromEntries(statuses.map(({ name, syncedEpoch = 0 }) => [name, syncedEpoch]));
}

const FRESH_JOBS = { FreshJobs: true } as const;
const FRESH = { answer: answering(FRESH_JOBS) };

describe('the first start in order', () => {
  test('releases the first stage although the Jobs of the next are not made yet', () => {
    const made = planOf(['a', 'b'], { deprecated: 0, released: [0, 0] }, [job('a')], {
      members: membersAt(1, job('a')),
    });
    expect(releasedBy(made)).toEqual({ a: 1, b: 0 });
    expect(made.status, 'the least of them').toMatchObject({ syncedEpoch: 0 });
  });

  test('does not wait for Pods of later stages that have announced nothing', () => {
    const members = membersAt(1, job('a'));
    members.observe(podOf(job('b'), 0, undefined), NOW_MS);
    const made = planOf(['a', 'b'], { deprecated: 0, released: [0, 0] }, [job('a'), job('b')], {
      members,
    });
    expect(releasedBy(made)).toEqual({ a: 1, b: 0 });
  });

  test('holds the next stage back until the one before it is ready', () => {
    const jobs = [job('a', { ready: 1, active: 2 }), job('b')];
    const members = membersAt(1, ...jobs);
    const made = planOf(['a', 'b'], { deprecated: 0, released: [1, 0] }, jobs, {
      members,
      ...FRESH,
    });
    expect(releasedBy(made)).toBeUndefined();
    expect(made.question).toBeUndefined();
  });

  test('lets a late stage join the epoch that runs, once the Jobs were read after its release', () => {
    const jobs = [job('a', READY), job('b')];
    const view = { members: membersAt(1, ...jobs) };
    const epochs = { deprecated: 0, released: [1, 0] };
    expect(planOf(['a', 'b'], epochs, jobs, view).question).toEqual({ kind: 'FreshJobs' });
    const made = planOf(['a', 'b'], epochs, jobs, { ...view, ...FRESH });
    expect(releasedBy(made)).toEqual({ a: 1, b: 1 });
    expect(made.status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
  });

  test('does not let a stage join before the missing Pod of a running one is looked up', () => {
    const jobs = [job('a', READY), job('b')];
    const members = membersAt(1, ...jobs);
    members.forget('pod-train-a-0-1');
    const epochs = { deprecated: 0, released: [1, 0] };
    const asked = planOf(['a', 'b'], epochs, jobs, { members, ...FRESH });
    expect(asked.question).toEqual({ kind: 'FreshPods' });
    const found = membersAt(1, ...jobs);
    found.observe(podOf(jobs[0] ?? job('a'), 1, undefined, { uid: 'new' }), NOW_MS);
    const answer = answering({ ...FRESH_JOBS, FreshPods: found });
    const blocked = planOf(['a', 'b'], epochs, jobs, { members, answer });
    expect(releasedBy(blocked), 'its replacement may announce 2').toBeUndefined();
  });
});

describe('a restart in order', () => {
  const names = ['a', 'b'];
  const ended = { deprecated: 4, released: [4, 4] };

  test('begins when all Pods that exist have announced the new epoch', () => {
    const jobs = [job('a'), job('b')];
    const members = membersAt(5, ...jobs);
    for (const epoch of [4, undefined]) {
      members.observe(podOf(job('b'), 1, epoch), NOW_MS);
      const made = planOf(names, ended, jobs, { members, ...FRESH });
      expect(releasedBy(made), `b has a Pod that announces ${epoch}`).toBeUndefined();
    }
    members.observe(podOf(job('b'), 1, 5), NOW_MS);
    expect(releasedBy(planOf(names, ended, jobs, { members, ...FRESH }))).toEqual({ a: 5, b: 4 });
  });

  test('counts a stage as not ready until it is released again, whatever its Job counts', () => {
    const jobs = [job('a', READY), job('b', READY)];
    const made = planOf(names, ended, jobs, { members: membersAt(5, ...jobs), ...FRESH });
    expect(releasedBy(made)).toEqual({ a: 5, b: 4 });
  });

  test('looks for Pods of a stage whose Job is being recreated before the first runs', () => {
    const jobs = [job('a')];
    const view = { members: membersAt(5, ...jobs) };
    const asked = planOf(names, ended, jobs, { ...view, ...FRESH });
    expect(asked.question).toEqual({ kind: 'FreshPods' });
    const clear = answering({ ...FRESH_JOBS, FreshPods: membersAt(5, ...jobs) });
    const made = planOf(names, ended, jobs, { ...view, answer: clear });
    expect(releasedBy(made)).toEqual({ a: 5, b: 4 });
    const old = answering({ ...FRESH_JOBS, FreshPods: membersAt(4, job('a'), job('b')) });
    const blocked = planOf(names, ended, jobs, { ...view, answer: old });
    expect(releasedBy(blocked)).toBeUndefined();
  });

  test('does not look for Pods of slots that have succeeded, nor of complete stages', () => {
    const done = job('a', { succeeded: 2, completedIndexes: '0-1' });
    const jobs = [done, job('b')];
    const made = planOf(names, ended, jobs, { members: membersAt(5, job('b')), ...FRESH });
    expect(releasedBy(made)).toEqual({ a: 4, b: 5 });
    expect(made.status, 'of those with members').toMatchObject({ syncedEpoch: 5 });
  });

  test('waits for Jobs to forget the readiness of the last epoch where Pods cannot be ready', () => {
    const agent = {
      name: 'lockstep-agent',
      restartPolicy: 'Always',
      startupProbe: { httpGet: { port: 8080 } },
    } as const;
    const withAgent = (status: JobStatus): Stored<Job> => {
      const made = job('a', status);
      const template = { spec: { containers: [], initContainers: [agent] } };
      return { ...made, spec: { ...made.spec, template } };
    };
    const view = { members: membersAt(5, job('a'), job('b')), ...FRESH };
    const stale = planOf(names, ended, [withAgent(READY), job('b')], view);
    expect(releasedBy(stale)).toBeUndefined();
    const made = planOf(names, ended, [withAgent({ active: 2 }), job('b')], view);
    expect(releasedBy(made)).toEqual({ a: 5, b: 4 });
  });
});

describe('a failure in a staged group', () => {
  const jobs = [job('a', READY), job('b')];
  const witness = {
    record: { pod: 'p', exitCode: 1, reason: 'Error' },
    finishedMs: NOW_MS,
    showsFailure: true,
  };

  test('in the first stage ends the epoch although the second has not begun', () => {
    const members = membersAt(1, ...jobs);
    members.observe(podOf(job('a'), 0, 2), NOW_MS);
    const made = planOf(['a', 'b'], { deprecated: 0, released: [1, 0] }, jobs, {
      members,
      answer: answering({ Witness: witness }),
    });
    expect(made.status).toMatchObject({ deprecatedEpoch: 1, inPlaceRestartsCountTowardsMax: 1 });
  });

  test('comes before the release of the second', () => {
    const members = membersAt(1, ...jobs);
    members.observe(podOf(job('a'), 0, 2), NOW_MS);
    const made = planOf(['a', 'b'], { deprecated: 0, released: [1, 0] }, jobs, { members });
    expect(made.question).toMatchObject({ kind: 'Witness' });
  });
});

describe('dependsOn', () => {
  const dependent = (status: 'Ready' | 'Complete'): Partial<JobSetSpec> => ({
    replicatedJobs: [
      replicatedJob('a', 2),
      replicatedJob('b', 2),
      { ...replicatedJob('c', 2), dependsOn: [{ name: 'a', status }] },
    ],
  });
  const names = ['a', 'b', 'c'];

  test('releases roots one by one, and the dependent with what it depends on', () => {
    const jobs = names.map((name) => job(name));
    const half = membersAt(1, ...jobs);
    half.forget('pod-train-b-0-1');
    const none = { deprecated: 0, released: [0, 0, 0] };
    const first = planOf(names, none, jobs, { members: half }, dependent('Ready'));
    expect(releasedBy(first)).toEqual({ a: 1, b: 0, c: 0 });
    const ready = [job('a', READY), job('b'), job('c')];
    const view = { members: membersAt(1, ...jobs), ...FRESH };
    const some = { deprecated: 0, released: [1, 0, 0] };
    const next = planOf(names, some, ready, view, dependent('Ready'));
    expect(releasedBy(next)).toEqual({ a: 1, b: 1, c: 1 });
  });

  test('Complete waits for success, and success leaves no members behind', () => {
    const view = { members: membersAt(1, job('b'), job('c')), ...FRESH };
    const running = [job('a', READY), job('b', READY), job('c')];
    const some = { deprecated: 0, released: [1, 1, 0] };
    const members = membersAt(1, ...running);
    const waits = planOf(names, some, running, { members, ...FRESH }, dependent('Complete'));
    expect(releasedBy(waits)).toBeUndefined();
    const done = job('a', { conditions: [{ type: 'Complete', status: 'True' }], succeeded: 2 });
    const made = planOf(
      names,
      some,
      [done, job('b', READY), job('c')],
      view,
      dependent('Complete'),
    );
    expect(releasedBy(made)).toEqual({ a: 1, b: 1, c: 1 });
  });
});

describe('what wakes the controller up', () => {
  test('is the completion of the stage that is next, not of the whole group', () => {
    const jobs = [job('a'), job('b')];
    const members = membersAt(5, job('b'));
    const made = planOf(['a', 'b'], { deprecated: 4, released: [4, 0] }, jobs, { members });
    expect(made.watchpoint).toEqual({
      epoch: 5,
      slots: 2,
      jobs: new Set([job('a').metadata.uid]),
      neverRun: new Set([job('b').metadata.uid]),
    });
  });
});
