/**
 * A small group whose Jobs are recreated when one of them fails, as a transition system: the real
 * planner, caches of any age, and requests that are late, lost or answered to nobody. Its members are
 * Jobs with one Pod each.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { jobIndexOf } from '../../jobset/child-jobs/child-jobs.ts';
import { attemptOf } from '../../jobset/child-jobs/job-labels.ts';
import { BrokenInvariant } from '../../jobset/invariant.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { RESTART_ATTEMPT } from '../../jobset/names.ts';
import { NO_ANSWERS, withAnswer } from '../../jobset/plan/questions.ts';
import { type Plan, plan } from '../../jobset/plan.ts';
import { MemberCounts } from '../../jobset/roster/members.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import type { Violation } from '../properties.ts';
import { brokenByRestart, violation } from './broken.ts';
import type { State, Transition, TransitionSystem } from './explorer.ts';
import { Interned } from './interned.ts';
import {
  afterCrash,
  afterWrite,
  created,
  type JobView,
  type Request,
  type Slot,
  shown,
} from './job-slot.ts';
import { type OperatorState, outcomesOf, type Write } from './operator-writes.ts';
import { jobSetOf, snapshotOf, storedJob } from './planner-input.ts';

export type RecreateStrategy = 'Recreate' | 'BlockingRecreate';

export interface RecreatedOptions {
  readonly members: number;
  readonly strategy: RecreateStrategy;
  /** How many faults happen at most. */
  readonly faults: number;
  /** Another planner, with a bug that has to be found. */
  readonly plan?: typeof plan;
}

interface Shared extends OperatorState {
  /** Attempts that are not over, in which a Job has failed. */
  readonly failed: readonly number[];
}

interface Decided {
  /** The number of the new status; undefined: none is written. */
  readonly status: number | undefined;
  /** By slot, what is done after that. */
  readonly requests: readonly (Request | undefined)[];
}

const MAX_RESTARTS = 1;
const MAX_QUESTIONS = 8;
const MAX_FIRST_PLANS = 10;

/** A state is the number of the shared part, and then the numbers of the slots. */
export class RecreatedJobs implements TransitionSystem {
  readonly initial: State;
  readonly #options: RecreatedOptions;
  readonly #statuses = new Interned<JobSetStatus>();
  readonly #shared = new Interned<Shared>();
  readonly #slots = new Interned<Slot>();
  /** The first Job of each slot. */
  readonly #jobs: readonly Stored<Job>[];
  readonly #decided = new Map<string, Decided>();

  constructor(options: RecreatedOptions) {
    this.#options = options;
    let status: JobSetStatus = {};
    const jobs: Stored<Job>[] = [];
    for (let plans = 0; ; plans++) {
      if (plans > MAX_FIRST_PLANS) throw new Error('the group does not get to its first Jobs');
      const made = this.#plan(status, jobs);
      const { length } = jobs;
      for (const action of made.actions) {
        if (action.kind === 'CreateJob') jobs.push(storedJob(action.job, 1));
      }
      if (made.status === undefined && jobs.length === length) break;
      status = made.status ?? status;
    }
    this.#jobs = jobs;
    const versions = [this.#statuses.idOf(status)];
    const shared = { versions, cached: 0, writes: [], faults: options.faults, failed: [] };
    const job = { number: 1, attempt: 0, isFailed: false, isDeleting: false };
    const slot = this.#slots.idOf({ stored: job, seen: job, unseen: [], requests: [], jobs: 1 });
    this.initial = [this.#shared.idOf(shared), ...jobs.map(() => slot)];
  }

  canonical([shared = 0, ...slots]: State): State {
    return [shared, ...slots.sort((a, b) => a - b)];
  }

  transitions(state: State): readonly Transition[] {
    const [id = 0, ...ids] = state;
    const shared = this.#shared.valueOf(id);
    const slots = ids.map((each) => this.#slots.valueOf(each));
    return [
      ...slots.flatMap((_, index) => this.#ofSlot(shared, slots, index)),
      ...this.#ofOperator(shared, slots),
      ...shared.writes.flatMap((write) => this.#ofWrite(shared, slots, write)),
    ];
  }

  describe([id = 0, ...ids]: State): string {
    const { restarts = 0, terminalState } = this.#newest(this.#shared.valueOf(id));
    const words = ids.map((each, index) => {
      const { stored } = this.#slots.valueOf(each);
      if (stored === null) return `there is no Job ${index}`;
      const { attempt, isFailed, isDeleting } = stored;
      const does = isDeleting ? 'is being deleted' : isFailed ? 'has failed' : 'runs';
      return `Job ${index} of attempt ${attempt} ${does}`;
    });
    return `${restarts} restarts${terminalState ? `, ${terminalState}` : ''}; ${words.join('; ')}`;
  }

  unrest(state: State): Violation | undefined {
    const [id = 0, ...ids] = state;
    const { restarts = 0, conditions } = this.#newest(this.#shared.valueOf(id));
    const isOver = isTrue(conditions, 'Failed');
    const isWell = ids.every((each) => {
      const { stored } = this.#slots.valueOf(each);
      if (isOver) return stored === null || stored.isFailed;
      return stored !== null && !stored.isFailed && stored.attempt === restarts;
    });
    if (isWell) return undefined;
    return violation(
      'A quiet group comes to rest',
      `nothing more happens: ${this.describe(state)}`,
    );
  }

  #newest({ versions }: Shared): JobSetStatus {
    return this.#statuses.valueOf(versions.at(-1) ?? 0);
  }

  #stateOf(shared: Shared, slots: readonly Slot[]): State {
    return [this.#shared.idOf(shared), ...slots.map((slot) => this.#slots.idOf(slot))];
  }

  /** What happens to one Job and to requests for it. */
  #ofSlot(shared: Shared, slots: readonly Slot[], index: number): readonly Transition[] {
    const slot = slots[index];
    if (slot === undefined) return [];
    const { stored, unseen, requests } = slot;
    const found: Transition[] = [];
    const add = (text: string, next: Slot, more: Partial<Transition> = {}, all = shared): void => {
      const to = this.#stateOf(all, slots.with(index, next));
      found.push({ to, isFault: false, text: () => `Job ${index}: ${text}`, ...more });
    };
    const [next] = unseen;
    if (next !== undefined) {
      add('the operator sees its next state', { ...slot, seen: next, unseen: unseen.slice(1) });
    }
    if (stored?.isDeleting === true) add('it is gone', shown(slot, null));
    if (stored !== null && !stored.isDeleting && !stored.isFailed && shared.faults > 0) {
      const failed = [...new Set([...shared.failed, stored.attempt])].sort((a, b) => a - b);
      const faults = shared.faults - 1;
      const to = shown(slot, { ...stored, isFailed: true });
      add('it fails', to, { isFault: true }, { ...shared, failed, faults });
    }
    for (const request of requests) {
      if (request.stage === 'Planned') continue;
      const left = { ...slot, requests: requests.filter((each) => each !== request) };
      const late = request.stage === 'Late' ? 'late ' : '';
      if (late !== '') add('a late request is lost', left);
      if (request.kind === 'Delete') {
        const isMet = stored?.number === request.which && !stored.isDeleting;
        const to = isMet ? shown(left, { ...stored, isDeleting: true }) : left;
        add(`the ${late}request to delete it arrives`, to);
      } else {
        const overlap = this.#overlap(slots, request.which);
        const to = stored === null ? created(left, request.which) : left;
        const text = `the ${late}request to create it for attempt ${request.which} arrives`;
        add(text, to, { violation: stored === null ? overlap : undefined });
      }
    }
    return found;
  }

  /** With `BlockingRecreate` no Job starts while one of an earlier attempt is there. */
  #overlap(slots: readonly Slot[], attempt: number): Violation | undefined {
    const old = slots.findIndex(({ stored }) => stored !== null && stored.attempt < attempt);
    if (this.#options.strategy !== 'BlockingRecreate' || old < 0) return undefined;
    const detail = `a Job of attempt ${attempt} is created while Job ${old} is of an earlier one`;
    return violation('One epoch runs at a time', detail);
  }

  #ofOperator(shared: Shared, slots: readonly Slot[]): readonly Transition[] {
    const { versions, cached, writes, faults } = shared;
    const found: Transition[] = [];
    const add = (text: string, to: State, more: Partial<Transition> = {}): void => {
      found.push({ to, isFault: false, text: () => `operator: ${text}`, ...more });
    };
    if (cached < versions.length - 1) {
      const next = { ...shared, cached: cached + 1 };
      add(`sees version ${cached + 2}`, this.#stateOf(next, slots));
    }
    const isBusy =
      writes.some(({ isAwaited }) => isAwaited) ||
      slots.some(({ requests }) => requests.some(({ stage }) => stage === 'Sent'));
    if (!isBusy) {
      try {
        const decided = this.#decide(versions[cached] ?? 0, slots);
        const { status, requests } = decided;
        if (status !== undefined || requests.some((each) => each !== undefined)) {
          const write = { version: cached, status: status ?? 0, isAwaited: true };
          const next = status === undefined ? shared : { ...shared, writes: [...writes, write] };
          const stage = status === undefined ? 'Sent' : 'Planned';
          const asked = slots.map((slot, index): Slot => {
            const request = requests[index];
            return request
              ? { ...slot, requests: [...slot.requests, { ...request, stage }] }
              : slot;
          });
          const kinds = requests.flatMap((each, i) => (each ? [`${each.kind} Job ${i}`] : []));
          const text = [...(status === undefined ? [] : ['a status']), ...kinds].join(', ');
          add(`plans ${text} on version ${cached + 1}`, this.#stateOf(next, asked));
        }
      } catch (error) {
        if (!(error instanceof BrokenInvariant)) throw error;
        const property = 'The operator does not contradict itself';
        const broken = violation(property, error.message);
        add('plans', this.#stateOf(shared, slots), { violation: broken });
      }
    }
    if (faults > 0) {
      const late = writes.map((write) => ({ ...write, isAwaited: false }));
      const next = { ...shared, cached: versions.length - 1, writes: late, faults: faults - 1 };
      const to = this.#stateOf(next, slots.map(afterCrash));
      add('crashes and starts again', to, { isFault: true });
    }
    return found;
  }

  #ofWrite(shared: Shared, slots: readonly Slot[], write: Write): readonly Transition[] {
    return outcomesOf(shared, write).map((outcome): Transition => {
      const { isFault, isStored, isAnswered, text } = outcome;
      const { restarts = 0 } = this.#statuses.valueOf(write.status);
      const failed = shared.failed.filter((attempt) => !isStored || attempt >= restarts);
      const next = write.isAwaited ? slots.map((slot) => afterWrite(slot, isAnswered)) : slots;
      return {
        to: this.#stateOf({ ...outcome.next, failed }, next),
        isFault,
        text: () => text,
        violation: isStored
          ? brokenByRestart(this.#newest(shared), this.#statuses.valueOf(write.status), {
              failed: shared.failed,
              maxRestarts: MAX_RESTARTS,
            })
          : undefined,
      };
    });
  }

  #decide(status: number, slots: readonly Slot[]): Decided {
    const key = `${status} ${JSON.stringify(slots.map(({ seen }) => seen))}`;
    let decided = this.#decided.get(key);
    if (decided === undefined) {
      const jobs = slots.flatMap(({ seen }, index) => (seen ? [this.#jobOf(index, seen)] : []));
      const made = this.#plan(this.#statuses.valueOf(status), jobs);
      const requests = slots.map(({ seen }, index) => requestOf(made, index, seen));
      const written = made.status && this.#statuses.idOf(anonymous(made.status));
      decided = { status: written, requests };
      this.#decided.set(key, decided);
    }
    return decided;
  }

  #plan(status: JobSetStatus, jobs: readonly Stored<Job>[]): Plan {
    const { members: replicas, strategy: restartStrategy } = this.#options;
    const policy = { restartStrategy, maxRestarts: MAX_RESTARTS };
    const jobSet = { ...jobSetOf({ replicas, pods: 1 }, policy), status };
    let answer = NO_ANSWERS;
    for (let asked = 0; asked < MAX_QUESTIONS; asked++) {
      const known = { jobSet, jobs, members: new MemberCounts(), answer };
      const made = (this.#options.plan ?? plan)(snapshotOf(known));
      const { question } = made;
      if (question === undefined) return made;
      if (question.kind !== 'FailedJob') throw new Error(`unexpected question ${question.kind}`);
      answer = withAnswer(answer, question, {});
    }
    throw new Error('the planner asks without end');
  }

  #jobOf(index: number, { number, attempt, isFailed, isDeleting }: JobView): Stored<Job> {
    const first = this.#jobs[index];
    if (first === undefined) throw new Error(`the group has no Job ${index}`);
    const { metadata, spec } = first;
    const restarted = { [RESTART_ATTEMPT]: String(attempt) };
    const labels = { ...metadata.labels, ...restarted };
    const pod = spec.template.metadata;
    const podMetadata = { ...pod, labels: { ...pod?.labels, ...restarted } };
    const at = metadata.creationTimestamp;
    const uid = `${metadata.name}-${number}`;
    const deletion = isDeleting && at !== undefined ? { deletionTimestamp: at } : {};
    const ended = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' } as const;
    const conditions = [at === undefined ? ended : { ...ended, lastTransitionTime: at }];
    return {
      ...first,
      metadata: { ...metadata, labels, uid, ...deletion },
      spec: { ...spec, template: { ...spec.template, metadata: podMetadata } },
      ...(isFailed ? { status: { conditions } } : {}),
    };
  }
}

function requestOf({ actions }: Plan, index: number, seen: JobView | null): Request | undefined {
  for (const action of actions) {
    if (action.kind !== 'CreateJob' && action.kind !== 'DeleteJob') {
      throw new Error(`unexpected action ${action.kind}`);
    }
    if (jobIndexOf(action.job) !== index) continue;
    return action.kind === 'CreateJob'
      ? { kind: 'Create', which: attemptOf(action.job), stage: 'Planned' }
      : { kind: 'Delete', which: seen?.number ?? 0, stage: 'Planned' };
  }
  return undefined;
}

/** Which of several equal Jobs a record names decides nothing. */
function anonymous(status: JobSetStatus): JobSetStatus {
  return JSON.parse(
    JSON.stringify(status).replaceAll(/train-workers-\d+/g, 'train-workers'),
  ) as JobSetStatus;
}
