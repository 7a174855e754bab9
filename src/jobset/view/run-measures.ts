/** A JobSet as numbers, for metrics: from its status, its members and the reports of agents. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isFailure, likeliest } from '../culprits/failure-words.ts';
import { groupSize } from '../epoch/group-state.ts';
import type { GoodputClass } from '../goodput/classes.ts';
import { goodputAt } from '../goodput/goodput-at.ts';
import type { JobSet } from '../jobset.ts';
import { maxRestartsWithoutProgress } from '../policies/ladder-settings.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { epochsOf, releasedEpoch } from '../status/epochs.ts';
import { hasEpochs, type JobSetState, jobSetState } from './jobset-state.ts';
import { restartBudget } from './restart-budget.ts';

/** All times are milliseconds since 1970. */
export interface RunMeasures {
  readonly state: JobSetState;
  readonly createdMs: number;
  /** Absent until the JobSet is over. The other members are absent then. */
  readonly finishedMs?: number;
  readonly open?: OpenRun;
}

/** The measures of a JobSet that is not over. */
export interface OpenRun {
  /** How many Pods the JobSet runs at a time. */
  readonly members: number;
  readonly budget: number;
  readonly budgetUsed: number;
  /** Restarts without progress, if an annotation limits them. */
  readonly withoutProgress?: { readonly count: number; readonly limit: number };
  readonly group?: GroupRun;
  /** Milliseconds by class, without classes that have no time. */
  readonly goodput?: readonly (readonly [GoodputClass, number])[];
  /** 0 to 1; absent: unknown. */
  readonly goodputShare?: number;
}

/** The measures of a group that restarts in place. */
interface GroupRun {
  readonly epoch: number;
  /** Pods that have announced this epoch. */
  readonly announced: number;
  /** Since when members wait for their release; absent: none waits. */
  readonly barrierSinceMs?: number;
  /** When a worker last reported, or was released; absent: no worker reports. */
  readonly progressMs?: number;
  /** The highest step of any member. */
  readonly step?: number;
  readonly checkpoint?: number;
  /** How many ranks the newest released epoch has; absent: agents start no ranks. */
  readonly ranks?: number;
  /** Ranks that lag behind the others of their Pods; absent: no rank reports for itself. */
  readonly ranksBehind?: number;
  /** In how many restarts of the last day a rank failed first; absent: none is recorded. */
  readonly rankFailures?: readonly (readonly [rank: number, count: number])[];
}

/** Ranks of one JobSet whose failures are measured: the ranks that failed first most often. */
export const MAX_FAILED_RANKS = 3;
/** A restart counts as a failure of its rank for this time. */
const FAILURES_MS = 24 * 3_600_000;

/** The operator's knowledge beside the JobSet. */
export interface RunSurroundings {
  readonly nowMs: number;
  /** How many Pods have announced an epoch. */
  readonly announced: (epoch: number) => number;
  /** When the newest living Job of the ReplicatedJob was made; undefined: no Job lives. */
  readonly newestJobMs: (replicatedJob: string) => number | undefined;
  /** Undefined: no agent is connected. */
  readonly heard: Heard | undefined;
}

/** What agents that are connected have reported. */
export interface Heard {
  readonly progress: GroupProgress;
  /** The shortest silence of a worker that has reported since it started. */
  readonly silentMs?: number | undefined;
  readonly ranksBehind?: number | undefined;
}

export function runMeasures(jobSet: JobSet, around: RunSurroundings): RunMeasures {
  const { metadata } = jobSet;
  const state = jobSetState(jobSet);
  const createdMs = Date.parse(metadata.creationTimestamp ?? '');
  if (state === 'Completed' || state === 'Failed') {
    const end = jobSet.status?.conditions?.find(({ type }) => type === state);
    return { state, createdMs, ...defined({ finishedMs: timeOf(end?.lastTransitionTime) }) };
  }
  return { state, createdMs, open: openRun(jobSet, state, around) };
}

function openRun(jobSet: JobSet, state: JobSetState, around: RunSurroundings): OpenRun {
  const { metadata } = jobSet;
  const { countedRestarts, maxRestarts, restartsWithoutProgress } = restartBudget(jobSet);
  const limit = maxRestartsWithoutProgress(metadata.annotations);
  return {
    members: groupSize(jobSet),
    budget: Math.max(0, maxRestarts),
    budgetUsed: countedRestarts,
    ...defined({
      withoutProgress: limit === undefined ? limit : { count: restartsWithoutProgress, limit },
      group: hasEpochs(jobSet) ? groupRun(jobSet, state, around) : undefined,
    }),
    ...goodputOf(jobSet, around),
  };
}

function groupRun(jobSet: JobSet, state: JobSetState, around: RunSurroundings): GroupRun {
  const { status } = jobSet;
  const { announced, heard } = around;
  const epoch = epochsOf(status).deprecated + 1;
  const isSuspended = state === 'Suspended';
  const { highestStep: step, checkpoint } = heard?.progress ?? {};
  return {
    epoch,
    announced: announced(epoch),
    ...defined({
      barrierSinceMs: isSuspended ? undefined : barrierSince(jobSet, epoch, around),
      progressMs: isSuspended ? undefined : lastProgress(jobSet, epoch, around),
      step,
      checkpoint,
      ranks: status?.ranks?.world,
      ranksBehind: heard?.ranksBehind,
      rankFailures: rankFailures(status, around.nowMs),
    }),
  };
}

function rankFailures(status: JobSet['status'], nowMs: number): GroupRun['rankFailures'] {
  const counts = new Map<number, number>();
  for (const record of status?.restartHistory ?? []) {
    // Older records have the numbers of a group of another size.
    if (record.cause === 'Scaled') break;
    const rank = isFailure(record) ? likeliest(record.suspects)?.rank : undefined;
    if (rank === undefined || nowMs - Date.parse(record.time) > FAILURES_MS) continue;
    counts.set(rank, (counts.get(rank) ?? 0) + 1);
  }
  if (counts.size === 0) return undefined;
  // Sorting is stable, and the history begins with the newest record.
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_FAILED_RANKS);
}

/**
 * A group waits from the end of its last epoch, or from a resume. If a part of it is released, a
 * ReplicatedJob without Jobs waits for that part, as its order says, and not at the barrier.
 */
function barrierSince(
  { metadata, spec, status }: JobSet,
  epoch: number,
  { newestJobMs }: RunSurroundings,
): number | undefined {
  const [newest] = status?.restartHistory ?? [];
  const ended = newest?.epoch === epoch - 1 ? newest.time : undefined;
  const begins = [metadata.creationTimestamp, status?.startTime, ended].flatMap((text) => {
    return timeOf(text) ?? [];
  });
  const sinceMs = Math.max(...begins);
  const held = (spec.replicatedJobs ?? []).filter(
    ({ name, replicas }) => replicas !== 0 && releasedEpoch(status, name) < epoch,
  );
  if (!isAnyReleased(spec, status, epoch)) return held.length === 0 ? undefined : sinceMs;
  const made = held.flatMap(({ name }) => newestJobMs(name) ?? []);
  return made.length === 0 ? undefined : Math.max(sinceMs, ...made);
}

/**
 * A worker that starts again has reported nothing yet, so a release counts like a report if this
 * group has reported before.
 */
function lastProgress(
  { spec, status }: JobSet,
  epoch: number,
  { heard, nowMs }: RunSurroundings,
): number | undefined {
  if (heard === undefined || !isAnyReleased(spec, status, epoch)) return undefined;
  const { startingMs, checkpoint } = status?.goodput ?? {};
  const hasReported = startingMs !== undefined || checkpoint !== undefined;
  const { silentMs } = heard;
  if (silentMs === undefined && !hasReported) return undefined;
  const reportedMs = silentMs === undefined ? undefined : nowMs - silentMs;
  const known = [reportedMs, timeOf(status?.syncedTime)].flatMap((ms) => ms ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
}

function isAnyReleased(
  { replicatedJobs = [] }: JobSet['spec'],
  status: JobSet['status'],
  epoch: number,
): boolean {
  return replicatedJobs.some(({ name }) => releasedEpoch(status, name) === epoch);
}

function goodputOf(
  jobSet: JobSet,
  { nowMs, heard }: RunSurroundings,
): Pick<OpenRun, 'goodput' | 'goodputShare'> {
  const at = goodputAt(jobSet, nowMs, heard?.progress);
  if (at === undefined) return {};
  const classes = Object.entries(at.classes) as [GoodputClass, number][];
  const goodput = classes.filter(([, ms]) => ms > 0);
  return { goodput, ...defined({ goodputShare: at.share ?? undefined }) };
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
