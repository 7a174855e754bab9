/**
 * What the real planner writes for the JobSet of an explored group. Its other inputs follow from a
 * small state: the stored status, and the Pods in the operator's cache. Equal inputs are planned once.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { type Answer, NO_ANSWERS, type Question, withAnswer } from '../../jobset/plan/questions.ts';
import type { Plan, plan } from '../../jobset/plan.ts';
import { MemberCounts } from '../../jobset/roster/members.ts';
import { Interned } from './interned.ts';
import type { Mode, PodView } from './member.ts';
import { jobSetOf, NAMESPACE, NOW_MS, snapshotOf, storedJob } from './planner-input.ts';

const MAX_QUESTIONS = 8;
/** From an empty status to one with which the group waits for its agents. */
const MAX_FIRST_PLANS = 10;
type Pods = readonly (PodView | null)[];

export interface PlannerOptions {
  readonly members: number;
  readonly mode: Mode;
  readonly maxRestarts: number;
  readonly plan: typeof plan;
}

/** Whether the operator writes, and on which status: it may have read a newer one. */
export interface PlannedWrite {
  /** The number of the new status. */
  readonly status: number;
  /** It was decided on the newest status, and not on the one in the cache. */
  readonly isOnFresh: boolean;
}

interface Asking {
  readonly asks: 'FreshPods' | 'FreshJobSet';
}

/** The number of a new status, or that the Job is deleted, because the JobSet is over. */
type Decided = number | 'DeleteJob' | undefined;

export class Planner {
  /** All statuses so far. */
  readonly statuses = new Interned<JobSetStatus>();
  readonly #options: PlannerOptions;
  readonly #jobSet: Stored<JobSet>;
  readonly #jobs: readonly Stored<Job>[];
  readonly #planned = new Map<string, Decided | Asking>();
  /** The status with which the group waits for its agents. */
  readonly first: number;

  constructor(options: PlannerOptions) {
    this.#options = options;
    const { members, mode, maxRestarts } = options;
    this.#jobSet = jobSetOf(
      { replicas: 1, pods: members },
      { restartStrategy: 'InPlaceRestart', maxRestarts },
      { 'lockstep/restart-backoff': 'Disabled', 'lockstep/restart-mode': mode },
    );
    let status: JobSetStatus = {};
    let jobs: readonly Stored<Job>[] = [];
    const pods = Array.from({ length: members }, () => ({
      number: 1,
      epoch: 0,
      starts: 0,
    }));
    for (let plans = 0; ; plans++) {
      if (plans > MAX_FIRST_PLANS) throw new Error('the group does not get to its first epoch');
      const made = this.#plan(status, jobs, pods, undefined);
      if ('asks' in made) throw new Error(`unexpected question ${made.asks}`);
      const created = made.actions.flatMap((action) =>
        action.kind === 'CreateJob' ? [storedJob(action.job, members)] : [],
      );
      if (made.status === undefined && created.length === 0) break;
      status = made.status ?? status;
      jobs = [...jobs, ...created];
    }
    this.#jobs = jobs;
    this.first = this.statuses.idOf(status);
  }

  /** The JobSet as agents and the operator read it. */
  jobSet(status: number, version: number): Stored<JobSet> {
    const { metadata } = this.#jobSet;
    const resourceVersion = String(version + 1);
    return {
      ...this.#jobSet,
      metadata: { ...metadata, resourceVersion },
      status: this.statuses.valueOf(status),
    };
  }

  /**
   * What an operator writes that has `status` and `seen` in its caches, while `newest` and `living`
   * are stored. Undefined: nothing. Throws what the planner throws.
   */
  write(
    status: number,
    seen: Pods,
    newest: number,
    living: Pods,
  ): PlannedWrite | 'DeleteJob' | undefined {
    const cached = this.#planOnce(status, seen, living);
    if (typeof cached !== 'object') return written(cached, false);
    const fresh = this.#planOnce(newest, seen, living);
    if (typeof fresh === 'object') throw new Error('a fresh JobSet is too old for the planner');
    return written(fresh, true);
  }

  #planOnce(status: number, seen: Pods, living: Pods): Decided | Asking {
    const key = `${status} ${keyOf(seen)}`;
    if (!this.#planned.has(key)) this.#planned.set(key, this.#decide(status, seen, undefined));
    const made = this.#planned.get(key);
    if (typeof made !== 'object' || made.asks !== 'FreshPods') return made;
    const withFresh = `${key} ${keyOf(living)}`;
    if (!this.#planned.has(withFresh)) {
      this.#planned.set(withFresh, this.#decide(status, seen, living));
    }
    return this.#planned.get(withFresh);
  }

  #decide(status: number, seen: Pods, living: Pods | undefined): Decided | Asking {
    const made = this.#plan(this.statuses.valueOf(status), this.#jobs, seen, living);
    if ('asks' in made) return made;
    const [action] = made.actions;
    if (action?.kind === 'DeleteJob' && made.status === undefined) return action.kind;
    if (action !== undefined) throw new Error(`unexpected action ${action.kind}`);
    return made.status === undefined ? undefined : this.statuses.idOf(anonymous(made.status));
  }

  #plan(
    status: JobSetStatus,
    jobs: readonly Stored<Job>[],
    seen: Pods,
    living: Pods | undefined,
  ): Plan | Asking {
    const jobSet = { ...this.#jobSet, status };
    const members = countsOf(seen, jobs[0]);
    let answer: Answer = NO_ANSWERS;
    for (let asked = 0; asked < MAX_QUESTIONS; asked++) {
      const made = this.#options.plan(snapshotOf({ jobSet, jobs, members, answer }));
      const { question } = made;
      if (question === undefined) return made;
      if (question.kind === 'FreshJobSet') return { asks: question.kind };
      if (question.kind === 'FreshPods') {
        if (living === undefined) return { asks: question.kind };
        answer = withAnswer(answer, question, countsOf(living, jobs[0]));
      } else answer = answered(answer, question, jobs);
    }
    throw new Error('the planner asks without end');
  }
}

function written(decided: Decided, isOnFresh: boolean): PlannedWrite | 'DeleteJob' | undefined {
  return typeof decided === 'number' ? { status: decided, isOnFresh } : decided;
}

function keyOf(pods: Pods): string {
  return pods
    .map((pod) => (pod === null ? '-' : `${pod.number}:${pod.epoch}:${pod.starts}`))
    .join();
}

function countsOf(pods: Pods, job: Stored<Job> | undefined): MemberCounts {
  const counts = new MemberCounts();
  if (job === undefined) return counts;
  const { uid, name } = job.metadata;
  for (const [slot, pod] of pods.entries()) {
    if (pod === null) continue;
    const { number, epoch, starts } = pod;
    const facts = {
      namespace: NAMESPACE,
      name: `pod-${slot}-${number}`,
      uid: `pod-${slot}-${number}`,
      jobUid: uid,
      jobName: name,
      slot: String(slot),
      epoch: epoch === 0 ? undefined : epoch,
      malformedEpoch: undefined,
      notice: undefined,
      starts: epoch === 0 ? undefined : { epoch, starts },
      isTerminating: false,
    };
    counts.observe(facts, NOW_MS);
  }
  return counts;
}

/** Which of several Pods a record names decides nothing, and would tell equal members apart. */
function anonymous(status: JobSetStatus): JobSetStatus {
  return JSON.parse(JSON.stringify(status).replaceAll(/pod-\d+-\d+/g, 'pod')) as JobSetStatus;
}

function answered(answers: Answer, question: Question, jobs: readonly Stored<Job>[]): Answer {
  switch (question.kind) {
    case 'ContainerMinimums':
      return withAnswer(answers, question, {});
    case 'ImageVolumes':
      return withAnswer(answers, question, false);
    case 'WholeJobs':
      return withAnswer(answers, question, new Map(jobs.map((job) => [job.metadata.uid, job])));
    case 'FreshJobs':
    case 'SucceededPods':
      return withAnswer(answers, question, true);
    case 'Suspects':
    case 'SilentAgents':
    case 'Pins':
      return withAnswer(answers, question, new Map());
    case 'Witness': {
      const record = { pod: question.pod.name, exitCode: null, reason: 'Error' };
      return withAnswer(answers, question, { record, finishedMs: undefined, showsFailure: true });
    }
    case 'FreshPods':
    case 'FreshJobSet':
    case 'Notice':
    case 'OverduePods':
    case 'FailedJob':
    case 'FailedPods':
    case 'HeldPod':
      throw new Error(`unexpected question ${question.kind}`);
  }
}
