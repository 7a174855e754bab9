import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import { applyMergePatch } from '@lockstep/kube/patch/merge-patch.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import { planOf, regardlessOfOrder } from '../../test/fixtures/planned.ts';
import { NOW_MS } from '../../test/fixtures/snapshots.ts';
import type { JobSet, JobSetSpec, ReplicatedJob } from './jobset.ts';
import { JOB_INDEX, RESTART_ATTEMPT } from './names.ts';
import type { Action } from './plan/decision.ts';
import { NO_ANSWERS, withAnswer } from './plan/questions.ts';
import type { Plan } from './plan.ts';
import { STATUS } from './schema/status-schema.ts';

/**
 * Reconciles any accepted JobSet, with any life of its Jobs, without a crash and to an end. For a
 * while Jobs run, succeed, fail, vanish and are tampered with, and people suspend and scale. Then
 * everything calms down, and the JobSet reaches its end within a bounded time. The order in which
 * Jobs are listed changes no plan, and nothing that was carried out is planned again.
 */
class Cluster {
  jobSet: Stored<JobSet>;
  readonly jobs = new Map<string, Stored<Job>>();
  #vanished: Stored<Job>[] = [];
  #made = 0;

  constructor(spec: JobSetSpec) {
    this.jobSet = storedJobSet(spec);
  }

  change(spec: Partial<JobSetSpec>): void {
    this.jobSet = { ...this.jobSet, spec: { ...this.jobSet.spec, ...spec } };
  }

  reconcile(): void {
    const before = this.jobSet.status;
    const made = this.#plan();
    if (made.status !== undefined) this.jobSet = { ...this.jobSet, status: made.status };
    this.#vanished = [];
    for (const action of made.actions) this.#act(action);
    const { status } = this.jobSet;
    expect(validate(STATUS, status)).toEqual([]);
    expect(status?.restarts ?? 0).toBeGreaterThanOrEqual(before?.restarts ?? 0);
    expect(status?.executionAttempts ?? 0).toBeGreaterThanOrEqual(before?.executionAttempts ?? 0);
    if (before?.terminalState)
      expect(status?.terminalState, 'Completed and Failed are final').toBe(before.terminalState);
    const { maxRestarts = 0 } = this.jobSet.spec.failurePolicy ?? {};
    expect(status?.restartsCountTowardsMax ?? 0, 'the budget holds').toBeLessThanOrEqual(
      maxRestarts,
    );
  }

  /** While nothing else happens, there is soon nothing left to do. */
  comeToRest(): void {
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const { status, actions } = this.#plan();
      if (status === undefined && actions.length === 0) return;
      this.reconcile();
    }
    expect.fail(`always something to do: ${JSON.stringify(this.#plan())}`);
  }

  #plan(): Plan {
    let answer = NO_ANSWERS;
    for (let asked = 0; asked < 10; asked++) {
      const jobs = [...this.jobs.values()];
      const vanished = this.#vanished;
      const made = planOf(this.jobSet, { jobs, vanished, answer });
      const others = { jobs: jobs.toReversed(), vanished: vanished.toReversed(), answer };
      expect(regardlessOfOrder(planOf(this.jobSet, others))).toEqual(regardlessOfOrder(made));
      const { question } = made;
      if (question === undefined) return made;
      if (question.kind !== 'FailedJob') throw new Error(`unexpected question ${question.kind}`);
      answer = withAnswer(answer, question, {});
    }
    throw new Error('asks without end');
  }

  #act(action: Action): void {
    switch (action.kind) {
      case 'CreateJob':
        this.#create(action.job);
        break;
      case 'DeleteJob':
        this.#change(action.job, { metadata: { deletionTimestamp: 'now' } });
        break;
      case 'RelabelJob':
        this.#change(action.job, { metadata: { labels: action.labels } });
        break;
      case 'ResizeJob':
        this.#change(action.job, { spec: action.size });
        break;
      case 'SuspendJob':
        this.#change(action.job, { spec: { suspend: true } });
        break;
      case 'ResumeJob':
        this.#change(action.job, action.resume.patch);
        break;
      case 'CreateClaim':
      case 'CreateService':
      case 'GrantAgentRights':
      case 'DeleteLostPod':
      case 'ReplaceMember':
      case 'DeleteJobSet':
        throw new Error(`unexpected action ${action.kind}`);
    }
  }

  #create(job: Job): void {
    const { name = '' } = job.metadata;
    expect(this.jobs.has(name), `${name} exists`).toBe(false);
    this.#made++;
    const identity = { name, uid: `uid-${this.#made}`, resourceVersion: '1' };
    const metadata = { ...job.metadata, ...identity, creationTimestamp: '2026-01-01T00:00:00Z' };
    this.jobs.set(name, { ...job, metadata });
  }

  #change(job: Stored<Job>, patch: object): void {
    const found = this.jobs.get(job.metadata.name);
    if (found?.metadata.uid === job.metadata.uid) this.patch(found, patch);
  }

  patch(job: Stored<Job>, patch: object): void {
    this.jobs.set(job.metadata.name, applyMergePatch(job, patch) as Stored<Job>);
  }

  /** A Job controller and a garbage collector that have done all they can for this Job. */
  settle(job: Stored<Job>): void {
    if (job.metadata.deletionTimestamp !== undefined) this.lose(job);
    else if (!hasEnded(job)) {
      const { suspend = false, parallelism = 1 } = job.spec;
      const conditions = [{ type: 'Suspended', status: suspend ? 'True' : 'False' }];
      const ready = suspend ? 0 : parallelism;
      this.patch(job, { status: { conditions, ready, active: ready } });
    }
  }

  end(job: Stored<Job>, type: 'Complete' | 'Failed'): void {
    if (hasEnded(job) || job.spec.suspend === true) return;
    const lastTransitionTime = new Date(NOW_MS).toISOString();
    const condition = { type, status: 'True', lastTransitionTime, reason: 'BackoffLimitExceeded' };
    this.patch(job, { status: { conditions: [condition], ready: 0, active: 0 } });
  }

  lose(job: Stored<Job>): void {
    this.jobs.delete(job.metadata.name);
    if (job.metadata.deletionTimestamp === undefined && hasEnded(job)) this.#vanished.push(job);
  }
}

function hasEnded({ status }: { readonly status?: JobStatus }): boolean {
  return (
    status?.conditions?.some(
      (each) => each.status === 'True' && (each.type === 'Complete' || each.type === 'Failed'),
    ) ?? false
  );
}

const STEPS = [
  'Reconcile',
  'Settle',
  'Complete',
  'Fail',
  'Lose',
  'BreakLabel',
  'Suspend',
  'Resume',
  'Scale',
] as const;

interface Step {
  readonly kind: (typeof STEPS)[number];
  readonly which: number;
}

function take(cluster: Cluster, { kind, which }: Step): void {
  const jobs = [...cluster.jobs.values()];
  const job = jobs[which % Math.max(1, jobs.length)];
  const { spec } = cluster.jobSet;
  if (kind === 'Reconcile') cluster.reconcile();
  else if (kind === 'Suspend' || kind === 'Resume') cluster.change({ suspend: kind === 'Suspend' });
  else if (kind === 'Scale') {
    const scaled = spec.replicatedJobs?.map((each, i, all) =>
      i === which % all.length ? { ...each, replicas: which % 4 } : each,
    );
    cluster.change({ replicatedJobs: scaled ?? [] });
  } else if (job !== undefined) happen(cluster, job, kind, which);
}

function happen(
  cluster: Cluster,
  job: Stored<Job>,
  kind: 'Settle' | 'Complete' | 'Fail' | 'Lose' | 'BreakLabel',
  which: number,
): void {
  switch (kind) {
    case 'Settle':
      cluster.settle(job);
      break;
    case 'Complete':
      cluster.end(job, 'Complete');
      break;
    case 'Fail':
      cluster.end(job, 'Failed');
      break;
    case 'Lose':
      cluster.lose(job);
      break;
    case 'BreakLabel': {
      const key = which % 2 === 0 ? RESTART_ATTEMPT : JOB_INDEX;
      cluster.patch(job, { metadata: { labels: { [key]: which % 3 === 0 ? null : 'x' } } });
      break;
    }
  }
}

/** Nothing fails any more: all Jobs run and succeed, and the operator keeps up. */
function calmDown(cluster: Cluster): void {
  cluster.change({ suspend: false });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    cluster.reconcile();
    if (cluster.jobSet.status?.terminalState) return;
    for (const job of cluster.jobs.values()) cluster.settle(job);
    cluster.reconcile();
    for (const job of cluster.jobs.values()) cluster.end(job, 'Complete');
  }
  throw new Error(`no end: ${JSON.stringify(cluster.jobSet.status)}`);
}

/** Each of nine Jobs may have failed, which restarts it in a pass of its own, or the JobSet. */
const MAX_PASSES = 20;
/** A restart, a resume and three ReplicatedJobs in order need a few rounds each. */
const MAX_ROUNDS = 40;

const NAMES = ['a', 'b', 'c'] as const;

const REPLICATED_JOBS = fc
  .array(
    fc.record({
      replicas: fc.nat(3),
      pods: fc.integer({ min: 1, max: 2 }),
      awaits: fc.constantFrom('Nothing', 'Ready', 'Complete'),
    }),
    { minLength: 1, maxLength: NAMES.length },
  )
  .map((shapes) =>
    shapes.map(({ replicas, pods, awaits }, i): ReplicatedJob => {
      const before = NAMES[i - 1];
      const job = replicatedJob(NAMES[i] ?? '', pods, replicas);
      if (before === undefined || awaits === 'Nothing') return job;
      return { ...job, dependsOn: [{ name: before, status: awaits }] };
    }),
  );

const FAILURE_POLICY = fc.record(
  {
    maxRestarts: fc.nat(3),
    restartStrategy: fc.constantFrom('Recreate', 'BlockingRecreate'),
    rules: fc.array(
      fc.record({
        action: fc.constantFrom(
          'FailJobSet',
          'RestartJobSet',
          'RestartJobSetAndIgnoreMaxRestarts',
          'RestartJob',
          'RestartJobAndIgnoreMaxRestarts',
        ),
        targetReplicatedJobs: fc.constantFrom([], ['a']),
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['maxRestarts'] },
);

const SPEC: fc.Arbitrary<JobSetSpec> = fc
  .record(
    {
      replicatedJobs: REPLICATED_JOBS,
      isInOrder: fc.boolean(),
      successPolicy: fc.record({
        operator: fc.constantFrom('All', 'Any'),
        targetReplicatedJobs: fc.constantFrom([], ['a']),
      }),
      failurePolicy: FAILURE_POLICY,
      suspend: fc.boolean(),
    },
    { requiredKeys: ['replicatedJobs', 'isInOrder'] },
  )
  .map(({ isInOrder, replicatedJobs, ...others }): JobSetSpec => {
    if (!isInOrder) return { ...others, replicatedJobs };
    const inOrder = replicatedJobs.map((job) => {
      const { dependsOn: _, ...others } = job;
      return others;
    });
    return {
      ...others,
      replicatedJobs: inOrder,
      startupPolicy: { startupPolicyOrder: 'InOrder' },
    };
  });

test('any accepted JobSet with any sequence of events of its Jobs reaches a legal end', () => {
  const steps = fc.array(fc.record({ kind: fc.constantFrom(...STEPS), which: fc.nat(11) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(SPEC, steps, (spec, some) => {
      const cluster = new Cluster(spec);
      cluster.reconcile();
      for (const step of some) take(cluster, step);
      cluster.comeToRest();
      calmDown(cluster);
    }),
    { numRuns: 400 },
  );
}, 60_000);
