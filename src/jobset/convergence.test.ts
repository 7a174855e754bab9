import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJob,
  storedJobSet,
} from '../../test/fixtures/jobset-objects.ts';
import {
  actionsOf,
  afterwards,
  COMPLETE,
  conditionsOf,
  FAILED,
  planOf,
  ZERO,
} from '../../test/fixtures/planned.ts';
import type { JobSet, JobSetSpec, ReplicatedJob } from './jobset.ts';
import type { JobSetStatus } from './jobset-status.ts';
import { RESTART_ATTEMPT } from './names.ts';
import type { Plan } from './plan.ts';

/** A JobSet that was begun: its first status is written. */
function begun(spec: JobSetSpec, status: JobSetStatus = {}): Stored<JobSet> {
  return {
    ...storedJobSet(spec),
    status: { restarts: 0, restartsCountTowardsMax: 0, executionAttempts: 0, ...status },
  };
}

const READY = { ready: 1, active: 1 };
const eventsOf = ({ events }: Plan): readonly string[] =>
  events.map(({ reason, note }) => `${reason}: ${note}`);

describe('startup policy InOrder', () => {
  const jobSet = begun({
    replicatedJobs: [replicatedJob('a', 1, 2), replicatedJob('b')],
    startupPolicy: { startupPolicyOrder: 'InOrder' },
  });
  const a = (index: number, status = {}) => storedJob(`train-a-${index}`, 'a', { index, status });

  test('makes the first ReplicatedJob, says so, and waits', () => {
    const made = planOf(jobSet);
    expect(actionsOf(made)).toEqual(['CreateJob train-a-0', 'CreateJob train-a-1']);
    expect(conditionsOf(made)).toEqual([
      'StartupPolicyInProgress=True InOrderStartupPolicyInProgress',
    ]);
    expect(eventsOf(made)).toEqual([
      'StartingReplicatedJob: starting replicatedJob a',
      'InOrderStartupPolicyInProgress: in order startup policy is in progress',
    ]);
    const waits = planOf(afterwards(jobSet, made), { jobs: [a(0, READY), a(1)] });
    expect(actionsOf(waits)).toEqual([]);
  });

  test('makes the next when all of the first are ready, and is complete when all are', () => {
    const first = afterwards(jobSet, planOf(jobSet));
    const jobs = [a(0, READY), a(1, READY)];
    const second = planOf(first, { jobs });
    expect(actionsOf(second)).toEqual(['CreateJob train-b-0']);
    expect(eventsOf(second)).toEqual(['StartingReplicatedJob: starting replicatedJob b']);
    const b = storedJob('train-b-0', 'b', { status: READY });
    const done = planOf(afterwards(first, second), { jobs: [...jobs, b] });
    expect(conditionsOf(done)).toEqual([
      'StartupPolicyInProgress=False InOrderStartupPolicyInProgress',
      'StartupPolicyCompleted=True InOrderStartupPolicyCompleted',
    ]);
  });

  test('runs again after a restart, and holds nothing back while the JobSet is suspended', () => {
    const old = [a(0, READY), a(1, READY), storedJob('train-b-0', 'b', { status: READY })];
    const restarted = begun(jobSet.spec, { restarts: 1 });
    expect(conditionsOf(planOf(restarted, { jobs: old }))).toContain(
      'StartupPolicyInProgress=True InOrderStartupPolicyInProgress',
    );
    const suspended = planOf(begun({ ...jobSet.spec, suspend: true }));
    expect(actionsOf(suspended)).toHaveLength(3);
    expect(conditionsOf(suspended)).toEqual(['Suspended=True SuspendedJobs']);
    expect(eventsOf(suspended)).toHaveLength(1);
  });
});

describe('dependsOn', () => {
  const on = (status: 'Ready' | 'Complete'): ReplicatedJob => ({
    ...replicatedJob('b'),
    dependsOn: [{ name: 'a', status }],
  });
  test.each([
    ['Ready', READY, ['CreateJob train-b-0']],
    ['Ready', COMPLETE, ['CreateJob train-b-0']],
    ['Complete', READY, []],
    ['Complete', COMPLETE, ['CreateJob train-b-0']],
  ] as const)('on %s, when the other counts %j', (status, of, actions) => {
    const jobSet = begun({ replicatedJobs: [replicatedJob('a'), on(status)] });
    const jobs = [storedJob('train-a-0', 'a', { status: of })];
    expect(actionsOf(planOf(jobSet))).toEqual(['CreateJob train-a-0']);
    expect(actionsOf(planOf(jobSet, { jobs }))).toEqual(actions);
  });

  test('suspended, only the roots are made', () => {
    const spec = { replicatedJobs: [replicatedJob('a'), on('Ready')], suspend: true };
    expect(actionsOf(planOf(begun(spec)))).toEqual(['CreateJob train-a-0']);
  });
});

describe('a finished Job that disappears (its own TTL, a person)', () => {
  const spec = { replicatedJobs: [replicatedJob('w', 1, 3)] };
  const done = storedJob('train-w-1', 'w', { index: 1, status: COMPLETE });
  const others = [storedJob('train-w-0', 'w'), storedJob('train-w-2', 'w', { index: 2 })];
  const recorded = (made: Plan) =>
    made.status?.replicatedJobsStatus?.map(({ succeeded, succeededIndexes }) => ({
      succeeded,
      succeededIndexes,
    }));

  test('is written down before it can, and not run again', () => {
    const going = { ...done, spec: { ...done.spec, ttlSecondsAfterFinished: 0 } };
    const made = planOf(begun(spec), { jobs: [...others, going] });
    expect(recorded(made)).toEqual([{ succeeded: 1, succeededIndexes: '1' }]);
    const after = planOf(afterwards(begun(spec), made), { jobs: others });
    expect(after).toMatchObject({ status: undefined, actions: [] });
  });

  test('is not run again if it vanished before anything was written', () => {
    const made = planOf(begun(spec), { jobs: others, vanished: [done] });
    expect(actionsOf(made)).toEqual([]);
    expect(recorded(made)).toEqual([{ succeeded: 1, succeededIndexes: '1' }]);
  });

  test('completes the JobSet with the others', () => {
    const status = {
      replicatedJobsStatus: [{ name: 'w', ...ZERO, succeeded: 1, succeededIndexes: '1' }],
    };
    const jobs = others.map((job) => ({ ...job, status: COMPLETE }));
    expect(conditionsOf(planOf(begun(spec, status), { jobs }))).toEqual([
      'Completed=True AllJobsCompleted',
    ]);
  });

  test('is run again in the next attempt', () => {
    const status = {
      replicatedJobsStatus: [{ name: 'w', ...ZERO, succeeded: 1, succeededIndexes: '1' }],
    };
    const policy = { ...spec, failurePolicy: { maxRestarts: 1 } };
    const failed = storedJob('train-w-0', 'w', { status: FAILED });
    const restart = planOf(begun(policy, status), { jobs: [failed] });
    expect(restart.status).toMatchObject({ restarts: 1, executionAttempts: 1 });
    expect(restart.status?.replicatedJobsStatus?.[0]).not.toHaveProperty('succeededIndexes');
    const next = planOf(afterwards(begun(policy, status), restart));
    expect(actionsOf(next)).toHaveLength(3);
  });

  test('still fails the JobSet if it failed', () => {
    const failed = storedJob('train-w-1', 'w', { index: 1, status: FAILED });
    const made = planOf(begun(spec), { jobs: others, vanished: [failed] });
    expect(conditionsOf(made)).toEqual(['Failed=True FailedJobs']);
  });
});

describe('names that others hold', () => {
  const spec = { replicatedJobs: [replicatedJob('w', 1, 2)] };
  const foreign = (metadata: Partial<Stored<Job>['metadata']>) =>
    storedJob('train-w-0', 'w', { metadata });
  const held = (holder: Stored<Job>) => ({
    surroundings: {
      ...SURROUNDINGS,
      jobNamed: (name: string) => (name === holder.metadata.name ? holder : undefined),
    },
  });
  const CRON = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    name: 'nightly',
    uid: 'x',
    controller: true,
  };

  test('a Job of a foreign owner blocks its own index, and an Event and a condition name it', () => {
    const made = planOf(begun(spec), held(foreign({ ownerReferences: [CRON] })));
    expect(actionsOf(made)).toEqual(['CreateJob train-w-1']);
    expect(conditionsOf(made)).toEqual(['NameConflict=True ForeignJob']);
    const text = 'Job train-w-0 exists and is controlled by CronJob nightly';
    expect(eventsOf(made)).toEqual([`ForeignJob: ${text}`]);
    expect(made.requeueAfterMs, 'no event reports when it goes').toBe(10_000);
    const free = planOf(afterwards(begun(spec), made));
    expect(actionsOf(free)).toEqual(['CreateJob train-w-0', 'CreateJob train-w-1']);
    expect(conditionsOf(free)).toEqual(['NameConflict=False NoConflict']);
  });

  test.each([
    ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    [
      'belongs to a JobSet of this name that is gone',
      {
        ownerReferences: [
          { ...CRON, apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train' },
        ],
      },
    ],
  ])('one that %s is waited for in silence', (_what, metadata) => {
    const counted = { replicatedJobsStatus: [{ name: 'w', ...ZERO }] };
    const made = planOf(begun(spec, counted), held(foreign(metadata)));
    expect(actionsOf(made)).toEqual(['CreateJob train-w-1']);
    expect(made).toMatchObject({ status: undefined, events: [], requeueAfterMs: 1000 });
  });

  test('a Service with another selector is reported, not silently used', () => {
    const { service } = SURROUNDINGS;
    if (service === undefined) throw new Error('no Service');
    const other = { ...service, spec: { ...service.spec, selector: { app: 'other' } } };
    const surroundings = { ...SURROUNDINGS, service: other };
    const made = planOf(begun(spec), { surroundings });
    expect(actionsOf(made)).toEqual(['CreateJob train-w-0', 'CreateJob train-w-1']);
    expect(conditionsOf(made)).toEqual(['NameConflict=True ForeignService']);
  });
});

describe('a child with a broken label', () => {
  const spec = { replicatedJobs: [replicatedJob('w', 1, 2)] };

  test('gets it back from its Pod template, and counts as what it is meanwhile', () => {
    const job = storedJob('train-w-0', 'w');
    const { [RESTART_ATTEMPT]: _, ...labels } = job.metadata.labels ?? {};
    const broken = {
      ...job,
      metadata: { ...job.metadata, labels },
      spec: {
        ...job.spec,
        template: { ...job.spec.template, metadata: { labels: job.metadata.labels ?? {} } },
      },
    };
    const made = planOf(begun(spec), { jobs: [broken] });
    expect(made.actions).toEqual([
      { kind: 'RelabelJob', job: broken, labels: { [RESTART_ATTEMPT]: '0' } },
      expect.objectContaining({ kind: 'CreateJob' }),
    ]);
    expect(made.events).toEqual([expect.objectContaining({ reason: 'MislabelledJob' })]);
  });

  test('is recreated if its Job is unknown, unless no Job of the JobSet has its name', () => {
    const lost = storedJob('train-w-0', 'w', { metadata: { labels: {} } });
    const stray = storedJob('train-w-7', 'w', { metadata: { labels: {} } });
    const made = planOf(begun(spec), { jobs: [lost, stray] });
    expect(actionsOf(made)).toEqual(['DeleteJob train-w-0', 'CreateJob train-w-1']);
    expect(made.events.map(({ note }) => note.split('; ').at(-1))).toEqual([
      'it is recreated',
      'it stays as it is, because no Job of the JobSet has that name',
    ]);
  });
});

describe('ElasticJobSet (KEP-463)', () => {
  const jobs = [0, 1, 2].map((index) => storedJob(`train-w-${index}`, 'w', { index, pods: 2 }));

  test('brings a new size to each Job, and only where both numbers agree', () => {
    const bigger = planOf(begun({ replicatedJobs: [replicatedJob('w', 4, 3)] }), { jobs });
    expect(bigger.actions).toEqual(
      jobs.map((job) => ({ kind: 'ResizeJob', job, size: { parallelism: 4, completions: 4 } })),
    );
    const same = planOf(begun({ replicatedJobs: [replicatedJob('w', 2, 3)] }), { jobs });
    expect(same.actions).toEqual([]);
  });

  test('grows and shrinks from the highest index', () => {
    const shrunk = planOf(begun({ replicatedJobs: [replicatedJob('w', 2, 1)] }), { jobs });
    expect(actionsOf(shrunk)).toEqual(['DeleteJob train-w-1', 'DeleteJob train-w-2']);
    const grown = planOf(begun({ replicatedJobs: [replicatedJob('w', 2, 4)] }), { jobs });
    expect(actionsOf(grown)).toEqual(['CreateJob train-w-3']);
  });
});

describe('volume claims', () => {
  const mounting = (job: ReplicatedJob): ReplicatedJob => {
    const worker = { name: 'worker', volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    const template = { spec: { template: { spec: { containers: [worker] } } } };
    return { ...job, template };
  };
  const claims = (whenDeleted: 'Delete' | 'Retain'): JobSetSpec => ({
    replicatedJobs: [mounting(replicatedJob('w'))],
    volumeClaimPolicies: [
      {
        templates: [
          { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } },
        ],
        retentionPolicy: { whenDeleted },
      },
    ],
  });
  const none = { surroundings: { ...SURROUNDINGS, hasClaim: () => false } };

  test('are made while they are not known to exist, also for a suspended JobSet', () => {
    const made = planOf(begun({ ...claims('Delete'), suspend: true }), none);
    expect(actionsOf(made)).toEqual(['CreateClaim data-train', 'CreateJob train-w-0']);
    const known = planOf(begun(claims('Delete')));
    expect(actionsOf(known)).toEqual(['CreateJob train-w-0']);
    const [created] = known.actions;
    if (created?.kind !== 'CreateJob') throw new Error('no Job');
    expect(created.job.spec.template.spec.volumes).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-train' } },
    ]);
  });

  test.each([
    ['Delete', 1],
    ['Retain', 0],
  ] as const)('with %s have %d owner', (whenDeleted, owners) => {
    const [action] = planOf(begun(claims(whenDeleted)), none).actions;
    if (action?.kind !== 'CreateClaim') throw new Error('no claim');
    expect(action.claim.metadata.ownerReferences ?? []).toHaveLength(owners);
  });
});

describe('a finished JobSet', () => {
  const at = (end: string, ttlSecondsAfterFinished?: number): Stored<JobSet> =>
    begun(
      {
        replicatedJobs: [replicatedJob('w', 1, 4)],
        ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
      },
      {
        restarts: 1,
        conditions: [
          { type: 'Failed', status: 'True', reason: 'x', message: '', lastTransitionTime: end },
        ],
        replicatedJobsStatus: [{ name: 'w', ...ZERO }],
      },
    );

  test('keeps Jobs that ended, and ends running ones of any attempt', () => {
    const jobs = [
      storedJob('train-w-0', 'w', { attempt: 1, status: COMPLETE }),
      storedJob('train-w-1', 'w', { attempt: 1, index: 1 }),
      storedJob('train-w-2', 'w', { attempt: 0, index: 2 }),
      storedJob('train-w-3', 'w', { metadata: { labels: {} } }),
    ];
    expect(actionsOf(planOf(at('2026-01-01T00:59:00Z'), { jobs }))).toEqual([
      'DeleteJob train-w-1',
      'DeleteJob train-w-2',
      'DeleteJob train-w-3',
    ]);
  });

  test.each([
    ['its time is not over', '2026-01-01T00:59:00Z', 90, [], 30_000],
    ['its time is over', '2026-01-01T00:59:00Z', 60, ['DeleteJobSet'], undefined],
    ['it has none', '2026-01-01T01:00:00Z', 0, ['DeleteJobSet'], undefined],
    ['its clock was ahead', '2026-01-01T01:00:10Z', 1, [], 11_000],
    ['there is no limit', '2020-01-01T00:00:00Z', undefined, [], undefined],
    ['its time is beyond any timer', '2026-01-01T01:00:00Z', 2 ** 31 - 1, [], 86_400_000],
  ])('goes by its TTL: %s', (_what, end, ttl, actions, requeueAfterMs) => {
    const made = planOf(at(end, ttl));
    expect(actionsOf(made)).toEqual(actions);
    expect(made.requeueAfterMs).toBe(requeueAfterMs);
  });

  test.each(['', '0001-01-01T00:00:00Z'])('of unknown time %j says so and stays', (end) => {
    const made = planOf(at(end, 0));
    expect(made.actions).toEqual([]);
    expect(eventsOf(made)).toEqual([
      'UnknownFinishTime: unable to find the time when the JobSet default/train finished',
    ]);
  });
});
