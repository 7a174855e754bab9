/**
 * Reports what happens to a JobSet in Events, metrics and the log, and only once what does not
 * change.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Rate } from '@lockstep/kube/runtime/token-bucket.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { JobsRefusal } from '../../jobset/plan/snapshot.ts';
import type { Plan } from '../../jobset/plan.ts';
import type { InvalidPod } from '../../jobset/roster/invalid-pod.ts';
import type { PodFacts } from '../../jobset/roster/pod-facts.ts';
import type { OperatorMetrics } from '../process/operator-metrics.ts';
import type { FailedAction } from './carry-out.ts';
import { whatGoesAway } from './going-away.ts';
import type { JobSetMemory } from './jobset-memory.ts';

export interface ReportsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly metrics: OperatorMetrics;
}

export type StandbyPod = Pick<PodFacts, 'uid' | 'name'>;

interface AboutPod {
  readonly jobSet: Stored<JobSet>;
  readonly memory: JobSetMemory;
  readonly podUid: string;
}

/** `events.k8s.io` action of all our Events, as in upstream. */
const ACTION = 'Reconciling';
/**
 * A quota or a webhook often refuses once or twice while it catches up, so only the third time in a
 * row is reported.
 */
const TOLD_CREATION_FAILURES = 3;
/** What the condition says of Jobs that do not start. */
const REFUSALS: ReadonlyMap<FailedAction['reason'], JobsRefusal['reason']> = new Map([
  ['JobCreationFailed', 'CreationFailed'],
  ['FailedResourcePropagation', 'ResumeFailed'],
]);
/** Pods with the label of a JobSet may come by the thousand. */
const INVALID_POD_REPORTS: Rate = { perSecond: 1, burst: 50 };
/** A command that does not wait turns the standbys of all Pods off; metrics count the rest. */
const STANDBY_REPORTS: Rate = { perSecond: 1 / 60, burst: 10 };

/** Reports each thing once while it does not change. */
export class Reports {
  readonly #options: ReportsOptions;
  /** By key of the JobSet. */
  readonly #invalidPods: KeyedBudget;
  readonly #standbys: KeyedBudget;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#invalidPods = new KeyedBudget(INVALID_POD_REPORTS, options.clock);
    this.#standbys = new KeyedBudget(STANDBY_REPORTS, options.clock);
  }

  /** Reports the Events and outcomes of a plan. */
  plan(jobSet: Stored<JobSet>, memory: JobSetMemory, { events, outcomes }: Plan): void {
    const { name, namespace = '' } = jobSet.metadata;
    for (const { type, reason, note, isOnce } of events) {
      if (isOnce === true && !memory.isNews(`${reason}/${note}`)) continue;
      this.#record(jobSet, type, reason, note);
    }
    for (const outcome of outcomes) this.#options.metrics.observe({ name, namespace }, outcome);
  }

  /** A client has dropped these fields of the status, and they are back. */
  statusRestored(jobSet: Stored<JobSet>, fields: readonly string[]): void {
    const note = `a client wrote the status without fields that it does not know, and this operator has put them back: ${fields.join(', ')}. Let clients patch the status instead of updating all of it`;
    this.#record(jobSet, 'Warning', 'StatusRestored', note);
  }

  /** A Pod with a label that it may not have. */
  invalidPod(jobSet: Stored<JobSet>, memory: JobSetMemory, { podUid, problem }: InvalidPod): void {
    this.#warnOnce(this.#invalidPods, { jobSet, memory, podUid }, 'InvalidMember', problem);
  }

  /**
   * A Pod gets no warm standbys any more. Its agent repeats that, so a new leader reports it again.
   */
  standbyOff(jobSet: Stored<JobSet>, memory: JobSetMemory, pod: StandbyPod, why: string): void {
    const { uid: podUid, name } = pod;
    const note = `Pod ${name} gets no warm standby any more: ${why}`;
    this.#warnOnce(this.#standbys, { jobSet, memory, podUid }, 'StandbyOff', note);
  }

  #warnOnce(budgets: KeyedBudget, about: AboutPod, reason: string, note: string): void {
    const { jobSet, memory, podUid } = about;
    const budget = budgets.of(keyOf(jobSet));
    if (!budget.tryTake()) return;
    if (memory.isNews(`${podUid}/${note}`)) this.#record(jobSet, 'Warning', reason, note);
    else budget.giveBack();
  }

  /** Reports the failed actions of one pass. */
  failures(jobSet: Stored<JobSet>, memory: JobSetMemory, failed: readonly FailedAction[]): void {
    const reasons = new Set(failed.map(({ reason }) => reason));
    const isRefused = [...REFUSALS.keys()].some((reason) => reasons.has(reason));
    const startFailures = memory.triedToStart(isRefused);
    const [first] = failed;
    if (first === undefined || whatGoesAway(first.error, jobSet) !== undefined) return;
    if (startFailures < TOLD_CREATION_FAILURES) reasons.delete('JobCreationFailed');
    for (const reason of reasons) {
      const texts = failed
        .filter((each) => each.reason === reason)
        .map(({ error }) => (error instanceof Error ? error.message : String(error)));
      this.#record(jobSet, 'Warning', reason, [...new Set(texts)].join('\n'));
      // Each pass reports the alphabetically first text, so that the condition stays as it is.
      const [message = ''] = texts.toSorted();
      const refusal = REFUSALS.get(reason);
      if (refusal !== undefined) memory.jobsRefused = { reason: refusal, message };
    }
  }

  /** The JobSet or its namespace is being deleted, which is not a problem. */
  goesAway(jobSet: Stored<JobSet>, memory: JobSetMemory, what: 'Namespace' | 'JobSet'): void {
    if (what !== 'Namespace' || !memory.isNews('NamespaceTerminating')) return;
    const message = 'creates nothing more for a JobSet whose namespace is being deleted';
    this.#options.logger.info(message, { jobset: keyOf(jobSet) });
  }

  #record(jobSet: Stored<JobSet>, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const { events, logger, metrics } = this.#options;
    const regarding = referenceTo(JOBSETS, jobSet);
    events.record({ regarding, type, reason, action: ACTION, note });
    if (type === 'Normal') return;
    logger.warn('reported a problem', { jobset: keyOf(jobSet), reason, note });
    metrics.warned(reason);
  }
}
