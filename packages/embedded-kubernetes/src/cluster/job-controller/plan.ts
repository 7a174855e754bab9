/** Decides everything that is to be done about one Job. Pure. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobCondition, JobStatus } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { continueStreak, earliest, type FailureStreak, NO_FAILURES } from './backoff.ts';
import {
  type InterimCondition,
  isFinished,
  trueCondition,
  withCondition,
  writtenVerdict,
} from './conditions.ts';
import { type Counting, countEndedPods } from './counting.ts';
import { hasEnded, isActive, isReady, isTracked } from './job-pods.ts';
import { NO_CHANGE, type PodChange, planPods } from './pod-change.ts';
import type { LivePods } from './pod-count.ts';
import { judgedActions, type PodFailureAction } from './pod-failure-policy.ts';
import { statusOf } from './status.ts';
import { meetsSuccessPolicy } from './success-policy.ts';
import { judge, remainingDeadlineMs } from './verdict.ts';

/** The fields are in the order in which the shell in `job-reconciler.ts` carries them out. */
export interface JobPlan {
  /** Pods to delete without counting them as failed: they lose their finalizer first. */
  readonly discarded: readonly Stored<Pod>[];
  /** Pods to create: the completion index of each, undefined in NonIndexed Jobs. */
  readonly created: readonly (number | undefined)[];
  /** By index: the failed Pod from which the created one takes the count of failures. */
  readonly replaced: ReadonlyMap<number, Stored<Pod>>;
  /** The status, if all creations succeed. */
  readonly status: JobStatus;
  readonly events: readonly JobEvent[];
  /**
   * Pods of a Job whose end is decided. They are deleted after the status says so, because without
   * the verdict a Pod in deletion counts as a failed one.
   */
  readonly stopped: readonly Stored<Pod>[];
  /** Pods that lose their finalizer after everything else. */
  readonly settled: readonly Stored<Pod>[];
  /** Actions of the Pod failure policy for Pods that this status counts or passes over. */
  readonly judged: readonly PodFailureAction[];
  /** To be remembered once the status is written. */
  readonly streak: FailureStreak;
  readonly requeueAfterMs?: number | undefined;
}

export interface JobEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

export interface JobSnapshot {
  readonly job: Stored<Job>;
  /** Pods that the Job controls, as the cache has them. */
  readonly pods: readonly Stored<Pod>[];
  /** UIDs of Pods whose finalizer we removed, although the cache still shows it. */
  readonly untracked: Pick<ReadonlySet<string>, 'has'>;
  /** UIDs of Pods that we deleted, although the cache does not show it yet. */
  readonly deleted: Pick<ReadonlySet<string>, 'has'>;
  /** Undefined if it is not known: then it is rebuilt from the Pods that are there. */
  readonly streak: FailureStreak | undefined;
  /** Wall time before which no Pod is to be created, after failed creations. */
  readonly creationHeldUntilMs: number;
  readonly nowMs: number;
}

export function planJob(snapshot: JobSnapshot): JobPlan {
  const { job } = snapshot;
  const tracked = snapshot.pods.filter(
    (pod) => isTracked(pod) && !snapshot.untracked.has(pod.metadata.uid),
  );
  if (isFinished(job)) return planFinished(job, tracked, snapshot);
  const written = writtenVerdict(job);
  let counting = countEndedPods(job, tracked, written?.type);
  const live = livePods(snapshot);
  const started = startOf(job, snapshot.nowMs);
  const streak = streakOf(snapshot, counting);
  let verdict = written ?? judge({ ...snapshot, job: started, counting });
  let change: PodChange = NO_CHANGE;
  verdict ??= meetsSuccessPolicy(started, counting.completedIndexes);
  if (verdict !== undefined) change = { ...NO_CHANGE, stopped: live.active };
  else {
    change =
      job.metadata.deletionTimestamp === undefined
        ? planPods(started, counting, live, { ...snapshot, streak })
        : { ...NO_CHANGE, active: live.active.length };
    verdict = completion(started, counting, change.active);
  }
  if (verdict !== written) counting = countEndedPods(job, tracked, verdict?.type);
  const result = statusAfter({ ...snapshot, job: started }, live, { counting, verdict, change });
  const deadlineMs =
    verdict === undefined ? remainingDeadlineMs(started, snapshot.nowMs) : undefined;
  return {
    discarded: change.discarded,
    stopped: change.stopped,
    created: change.created,
    replaced: counting.indexFailures.unreplaced,
    status: result,
    events: eventsOf(job, result, counting),
    settled: counting.settled,
    judged: judgedActions(job, counting.ended),
    streak,
    requeueAfterMs: earliest([change.backoffMs, deadlineMs]),
  };
}

interface Decision {
  readonly counting: Counting;
  readonly verdict: InterimCondition | undefined;
  readonly change: PodChange;
}

/**
 * A Job ends with a write of its own, after one that says that no Pod is left. A client that waits
 * for the Pods to go then always sees that state.
 */
function statusAfter(
  { job, nowMs }: JobSnapshot,
  live: LivePods,
  { counting, verdict, change }: Decision,
): JobStatus {
  const discarded = new Set(change.discarded);
  const parts = {
    job,
    counting,
    conditions: conditionsOf(job, verdict, nowMs),
    active: change.active,
    ready: live.active.filter((pod) => isReady(pod) && !discarded.has(pod)).length,
    terminating: live.terminating.length + change.discarded.length + change.stopped.length,
    now: timeText(nowMs),
  };
  const status = statusOf({ ...parts, verdict: undefined });
  const isDrained =
    counting.settled.length === 0 &&
    !counting.isPartial &&
    live.active.length + live.terminating.length + change.created.length === 0 &&
    Object.keys(counting.status.uncountedTerminatedPods).length === 0;
  if (verdict === undefined || !isDrained || tellsNews(job.status ?? {}, status)) return status;
  return statusOf({ ...parts, verdict });
}

/** Whether `next` says more than that listed Pods are counted now. */
function tellsNews(before: JobStatus, next: JobStatus): boolean {
  const told = ({ active = 0, ready, terminating, ...status }: JobStatus): string =>
    JSON.stringify([
      [active, ready, terminating],
      [status.completedIndexes ?? '', status.failedIndexes],
      status.conditions?.map(({ type, status: value }) => [type, value]) ?? [],
    ]);
  return told(before) !== told(next);
}

/** A finished Job only has to release its Pods. */
function planFinished(job: Job, settled: readonly Stored<Pod>[], of: JobSnapshot): JobPlan {
  const streak = of.streak ?? NO_FAILURES;
  const none = { discarded: [], stopped: [], created: [], events: [], judged: [] };
  return { ...none, settled, streak, replaced: new Map(), status: job.status ?? {} };
}

function livePods({ pods, deleted }: JobSnapshot): LivePods {
  const live = pods.filter((pod) => !hasEnded(pod));
  const isStaying = (pod: Stored<Pod>): boolean => isActive(pod) && !deleted.has(pod.metadata.uid);
  return {
    active: live.filter(isStaying),
    terminating: live.filter((pod) => !isStaying(pod)),
  };
}

/** The Job with the start time that this pass sets, or removes while it is suspended. */
function startOf(job: Stored<Job>, nowMs: number): Stored<Job> {
  const { startTime, ...status } = job.status ?? {};
  if (job.spec.suspend === true) return { ...job, status };
  return { ...job, status: { ...status, startTime: startTime ?? timeText(nowMs) } };
}

function streakOf(snapshot: JobSnapshot, counting: Counting): FailureStreak {
  if (snapshot.streak !== undefined) return continueStreak(snapshot.streak, counting.ended);
  // Counted and uncounted Pods in deletion look alike, so all of them are left out.
  const remembered = snapshot.pods.filter(
    (pod) => hasEnded(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  const ended = new Set([...remembered, ...counting.ended]);
  return continueStreak(NO_FAILURES, [...ended]);
}

/** The verdict of a Job with all its successes. */
function completion(job: Job, counting: Counting, active: number): InterimCondition | undefined {
  const { completions } = job.spec;
  const isReached =
    completions === undefined ? counting.succeeded > 0 : counting.succeeded >= completions;
  if (!isReached || active > 0) return undefined;
  return {
    type: 'SuccessCriteriaMet',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  };
}

function conditionsOf(
  job: Job,
  verdict: InterimCondition | undefined,
  nowMs: number,
): readonly JobCondition[] {
  const now = timeText(nowMs);
  const conditions = job.status?.conditions ?? [];
  if (verdict !== undefined) {
    return withCondition(conditions, { ...verdict, status: 'True' }, now);
  }
  const type = 'Suspended';
  if (job.spec.suspend === true) {
    const wanted = {
      type,
      status: 'True',
      reason: 'JobSuspended',
      message: 'Job suspended',
    } as const;
    return withCondition(conditions, wanted, now);
  }
  if (trueCondition(job, type) === undefined) return conditions;
  const wanted = { type, status: 'False', reason: 'JobResumed', message: 'Job resumed' } as const;
  return withCondition(conditions, wanted, now);
}

/** One Event for each condition that this status newly has. */
function eventsOf(job: Job, next: JobStatus, counting: Counting): readonly JobEvent[] {
  const before = job.status?.conditions ?? [];
  const events: JobEvent[] = [];
  for (const { type, status, reason = '', message: note = '' } of next.conditions ?? []) {
    const old = before.find((condition) => condition.type === type);
    if (old?.status === status) continue;
    if (type === 'Suspended') {
      const eventReason = status === 'True' ? 'Suspended' : 'Resumed';
      events.push({ type: 'Normal', reason: eventReason, note });
    } else if (type === 'Failed') events.push({ type: 'Warning', reason, note });
    else if (type === 'Complete') {
      events.push(...tooManySuccesses(job, counting));
      events.push({ type: 'Normal', reason: 'Completed', note: 'Job completed' });
    }
  }
  return events;
}

function tooManySuccesses(job: Job, counting: Counting): readonly JobEvent[] {
  if (counting.succeeded <= (job.spec.completions ?? Number.POSITIVE_INFINITY)) return [];
  const note = 'Too many succeeded pods running after completion count reached';
  return [{ type: 'Warning', reason: 'TooManySucceededPods', note }];
}
