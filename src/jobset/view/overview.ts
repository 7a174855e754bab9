/** One row for each JobSet: the data of `lockstep status` without a name, and of the dashboard. */
import { type Condition, namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { failureInWords, isFailure } from '../culprits/failure-words.ts';
import { groupSize } from '../epoch/group-state.ts';
import { goodputShare, NOT_ACCOUNTED } from '../goodput/goodput-at.ts';
import type { JobSet } from '../jobset.ts';
import { identityOf, ownerKey, ownerOf } from '../membership.ts';
import { withShortNames } from '../roster/short-names.ts';
import { type ConditionType, isTrue } from '../status/conditions.ts';
import { epochsOf } from '../status/epochs.ts';
import { type HeardGroup, seenOf } from './group-report.ts';
import { hasEpochs, type JobSetState, jobSetState } from './jobset-state.ts';
import { type ReportedRestart, reportedRestarts } from './reported-restarts.ts';
import { type RestartBudget, restartBudget } from './restart-budget.ts';
import { type ShownState, shownState } from './shown-state.ts';

export interface OverviewRow {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly state: JobSetState;
  /** Its state in words, with details. */
  readonly shown: ShownState;
  /**
   * The running epoch, as `kubectl get` shows it: the previous one until the current one is
   * released. Null for a JobSet that does not restart in place.
   */
  readonly epoch: number | null;
  /** Members whose Pods are ready; null: Jobs may not be read. */
  readonly ready: number | null;
  readonly size: number;
  readonly budget: RestartBudget;
  /** Restarts of the group, in place and of all Jobs. */
  readonly restarts: number;
  /** The saved share of the JobSet's time under way, 0 to 1; null: unknown. See `GoodputShare`. */
  readonly goodput: number | null;
  /** Why `goodput` is unknown; null: it is known. */
  readonly goodputUnknown: string | null;
  /** Up to when `goodput` is judged while an epoch runs; null: up to now, or to the end. */
  readonly goodputUntilMs: number | null;
  /** The last failure in words; null: none is recorded. */
  readonly lastFailure: OverviewFailure | null;
  readonly createdMs: number;
  /** When the JobSet completed or failed; null: it has done neither. */
  readonly finishedMs: number | null;
}

export interface OverviewFailure {
  readonly timeMs: number;
  /** May hold any text of users and workers. */
  readonly text: string;
}

/** Pods that the Jobs of a JobSet count. */
export interface PodCounts {
  readonly ready: number;
  readonly succeeded: number;
}

/** `pods`: null if Jobs may not be read; `heard`: the hub's report of now, if it was asked. */
export function overviewRow(
  jobSet: Stored<JobSet>,
  pods: PodCounts | null,
  nowMs: number,
  heard?: HeardGroup,
): OverviewRow {
  const { metadata, status = {} } = jobSet;
  const { conditions = [] } = status;
  const goodput = goodputShare(jobSet, nowMs);
  const seen = { started: pods && pods.ready + pods.succeeded, ...seenOf(jobSet, heard) };
  const end = conditions.find(({ type, status }) => ENDS.includes(type) && status === 'True');
  return {
    namespace: namespaceOf(metadata),
    name: metadata.name,
    uid: metadata.uid,
    state: jobSetState(jobSet),
    shown: shownState(jobSet, seen, nowMs),
    epoch: hasEpochs(jobSet) ? epochsOf(status).synced : null,
    ready: pods?.ready ?? null,
    size: groupSize(jobSet),
    budget: restartBudget(jobSet),
    restarts: (status.inPlaceRestarts ?? 0) + (status.restarts ?? 0),
    goodput: goodput?.share ?? null,
    goodputUnknown: goodput === undefined ? NOT_ACCOUNTED : goodput.unknown,
    goodputUntilMs: goodput?.judgedUntilMs ?? null,
    lastFailure: lastFailureOf(jobSet),
    createdMs: Date.parse(metadata.creationTimestamp ?? ''),
    finishedMs: end === undefined ? null : timeOf(end),
  };
}

/** Counts the Pods of each JobSet once, and looks them up. */
export function podCountsOf(jobs: readonly Stored<Job>[]): (jobSet: Stored<JobSet>) => PodCounts {
  const byOwner = new Map<string, Stored<Job>[]>();
  for (const job of jobs) {
    const owner = ownerOf(job);
    if (owner === undefined) continue;
    const key = ownerKey(owner);
    const known = byOwner.get(key);
    if (known === undefined) byOwner.set(key, [job]);
    else known.push(job);
  }
  return (jobSet) => podCounts(byOwner.get(ownerKey(identityOf(jobSet))) ?? []);
}

export function podCounts(jobs: Iterable<Stored<Job>>): PodCounts {
  let [ready, succeeded] = [0, 0];
  for (const { status } of jobs) {
    ready += status?.ready ?? 0;
    succeeded += status?.succeeded ?? 0;
  }
  return { ready, succeeded };
}

const ENDS: readonly string[] = ['Completed', 'Failed'] satisfies readonly ConditionType[];

/** The write that ends a JobSet records its failure with microseconds, its condition with seconds. */
const ONE_WRITE_MS = 1000;

/** Members are named by their ranks. */
export function lastFailureOf(jobSet: JobSet): OverviewFailure | null {
  const failure = lastFailure(reportedRestarts(jobSet), jobSet.status?.conditions ?? []);
  const count = jobSet.spec.replicatedJobs?.length ?? 0;
  return failure && { ...failure, text: withShortNames(failure.text, count) };
}

function lastFailure(
  history: readonly ReportedRestart[],
  conditions: readonly Condition[],
): OverviewFailure | null {
  const record = history.find(isFailure);
  const recorded = record && { timeMs: Date.parse(record.time), text: failureInWords(record) };
  // While Jobs are recreated, and after the end, only a condition may name the failure.
  const type = (['Failed', 'RestartingJobSet'] as const).find((each) => isTrue(conditions, each));
  const condition = conditions.find((each) => each.type === type);
  if (condition === undefined) return recorded ?? null;
  const told = { timeMs: timeOf(condition), text: condition.message };
  if (recorded === undefined || recorded.timeMs < told.timeMs - ONE_WRITE_MS) return told;
  if (type !== 'Failed') return recorded;
  return { ...recorded, text: `${recorded.text}; ${withoutFailure(told.text, record)}` };
}

/** A condition's words about the end, without the failure that the record beside it has. */
export function withoutFailure(message: string, record: ReportedRestart | undefined): string {
  return record === undefined
    ? message
    : message.replace(` (${failureInWords(record, 'RankAndPod')})`, '');
}

function timeOf({ lastTransitionTime }: Condition): number {
  return Date.parse(lastTransitionTime);
}
