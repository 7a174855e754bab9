/** Which process of a member the end of its worker is about, where the worker is several processes. */

import { suspectsOf } from '../../jobset/culprits/suspects.ts';
import { fatalEnd } from '../../jobset/worker-end/end-in-words.ts';
import { isByItself, isSuccess, type WorkerEnd } from '../../jobset/worker-end/worker-end.ts';

/** Tracebacks closer to each other may have been read in any order. */
const SAME_TIME_MS = 10;

/** One of several, by its index. `isSure`: something singles it out, so it may be named. */
export interface Choice {
  readonly index: number;
  readonly isSure: boolean;
}

/**
 * The first of processes whose ends were seen together, at least one. An end that no peer can cause
 * comes before others, because the order in which ends were seen says nothing. Then the time of the
 * traceback decides. A process that runs may have raised before, at one of the times `raisedMs`, and
 * take longer for its teardown; or it has caught its exception, so it is not the first for sure either.
 */
export function firstFailed(
  failed: readonly WorkerEnd[],
  raisedMs: readonly number[] = [],
): Choice {
  const all = failed.map((end, index) => ({
    index,
    late: lateness(end),
    failedAtMs: failedAt(end),
  }));
  const [first, second] = all.toSorted((a, b) => a.late - b.late || a.failedAtMs - b.failedAtMs);
  if (first === undefined) return { index: 0, isSure: false };
  const { index, late, failedAtMs } = first;
  const atMs = Math.min(failedAtMs, failed[index]?.atMs ?? NEVER);
  const isLate = late > 0 && raisedMs.some((ms) => ms < atMs + SAME_TIME_MS);
  if (second === undefined || isLate) return { index, isSure: !isLate };
  const isEarlier = second.failedAtMs < NEVER && second.failedAtMs - failedAtMs > SAME_TIME_MS;
  return { index, isSure: late < second.late || isEarlier };
}

/** On a busy machine, an exit is seen up to this much later than the tracebacks of peers that miss the process. */
const SEEN_LATE_MS = 2000;
/** A report of a step may come this much later than the step, beside the time that a step takes. */
const STEP_SLACK_MS = 2000;

export interface SteppedEnd extends WorkerEnd {
  /** When its newest step was reported; monotonic, in milliseconds. */
  readonly steppedMs?: number;
}

/**
 * The index of the one process that exited with 0 while its peers had work: they fail or hang because
 * they wait for it. If several did, the work is done. It is none if a peer shows another cause: an end
 * that no peer can cause, a stop, a failure before that exit, a phase that may take long, or steps long
 * after that exit. `longestMs`: the longest silence between two steps; undefined if there were none, so
 * nothing is known.
 */
export function leftEarly(
  all: readonly SteppedEnd[],
  longestMs: number | undefined,
): number | undefined {
  const [left, ...others] = all.filter(isSuccess);
  if (left === undefined || others.length > 0 || longestMs === undefined) return undefined;
  const missedMs = left.atMs + longestMs + STEP_SLACK_MS;
  const isOtherCause = (end: SteppedEnd): boolean =>
    fatalEnd(end) !== undefined ||
    /[Tt]/.test(end.states ?? '') ||
    end.inPhase === true ||
    (isByItself(end) && end.atMs < left.atMs) ||
    failedAt(end) < left.atMs - SEEN_LATE_MS ||
    (end.steppedMs ?? 0) > missedMs;
  const hasOtherCause = all.some((end) => end !== left && isOtherCause(end));
  return hasOtherCause ? undefined : all.indexOf(left);
}

const NEVER = Number.MAX_SAFE_INTEGER;

/** Memory that ran out is counted for the container, so a peer may have used it up. */
function lateness({ oom, ...end }: WorkerEnd): number {
  if (fatalEnd(end) !== undefined) return 0;
  return oom === true ? 1 : 2;
}

function failedAt({ atMs, failedMs }: WorkerEnd): number {
  return failedMs === undefined ? NEVER : atMs - failedMs;
}

/**
 * The index of the one silent process that its peers waited for, by the rules that find a member in
 * its group; undefined: nothing singles one out.
 */
export function waitedFor(silent: readonly WorkerEnd[]): number | undefined {
  const members = silent.map((end, index) => {
    const member = { replicatedJob: '', jobIndex: index, completions: 1, pod: '', podUid: '' };
    return { member, end: { kind: 'Ended' as const, ...end, how: 'Hung' as const } };
  });
  const [found, ...others] = suspectsOf({ size: silent.length, members });
  return others.length > 0 ? undefined : found?.member.jobIndex;
}
