/**
 * Which rank of a Pod failed first, below a launcher that ends the others soon after. The launcher's
 * own end says nothing about it.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isFatal } from '../../jobset/worker-end/end-in-words.ts';
import type { Exit, Signs } from '../../jobset/worker-end/worker-end.ts';

/** What was seen of one rank. Times are monotonic, in milliseconds. */
export interface RankSeen {
  readonly local: number;
  readonly rank?: number;
  /** The last look that saw it run. */
  readonly aliveMs: number;
  /** The first look that did not; absent: it ran until the launcher ended, or was told to stop. */
  readonly goneMs?: number;
  /** How it ended, as far as a look or the rank itself shows it; absent too if it exited with 0. */
  readonly exit?: Exit;
  /** It would have noted SIGTERM, and did not. */
  readonly byItself?: true;
  /** When it wrote of the exception that ended it. */
  readonly raisedMs?: number;
  /** When its newest step was reported. */
  readonly steppedMs?: number;
}

export interface FirstRank extends Pick<Signs, 'local' | 'rank'> {
  readonly firstRank: NonNullable<Signs['firstRank']>;
  /** The earliest time at which it may have failed; absent: none failed. */
  readonly atMs?: number;
}

/** Exceptions this close to each other may have one cause outside of the Pod. */
const SAME_CAUSE_MS = 20;
/** A report of a step may come this much later than the step, beside the time that a step takes. */
const STEP_SLACK_MS = 2000;
/** How launchers end ranks. */
export const BY_LAUNCHER: Exit & { readonly signal: string } = { signal: 'SIGTERM' };

/** `longestMs`: the longest silence between two steps. Undefined if nothing was seen of ranks. */
export function firstOf(
  ranks: readonly RankSeen[],
  longestMs: number | undefined,
): FirstRank | undefined {
  if (ranks.length === 0) return undefined;
  const failed = ranks
    .filter((one) => one.raisedMs !== undefined || one.goneMs !== undefined)
    .filter((one) => !isSteppedOn(one, ranks, longestMs ?? 0));
  const causes = failed.filter((one) => !isOrdered(one, failed));
  const open = causes.filter((one) => !causes.some((other) => precedes(other, one)));
  if (open.length === 0) return { firstRank: 'None' };
  const atMs = Math.min(...open.map(earliestMs));
  const [first, ...others] = open;
  if (first === undefined || others.length > 0) return { firstRank: 'Open', atMs };
  const { local, rank, raisedMs } = first;
  const named = { local, ...defined({ rank }), atMs };
  if (raisedMs !== undefined) return { firstRank: 'Raised', ...named };
  const isClear = isFatal(first.exit) && !mayBeKilledByLauncher(first, failed);
  return { firstRank: isClear ? 'Killed' : 'Silent', ...named };
}

/** A launcher may end its ranks by SIGKILL as soon as another has failed. */
function mayBeKilledByLauncher(one: RankSeen, failed: readonly RankSeen[]): boolean {
  const isKill = one.exit !== undefined && 'signal' in one.exit && one.exit.signal === 'SIGKILL';
  const mayFollow = (other: RankSeen): boolean =>
    other !== one && !isTerminated(other) && earliestMs(other) <= latestMs(one);
  return isKill && failed.some(mayFollow);
}

function earliestMs({ raisedMs, aliveMs }: RankSeen): number {
  return raisedMs ?? aliveMs;
}

function latestMs({ raisedMs, goneMs }: RankSeen): number {
  return raisedMs ?? goneMs ?? Number.POSITIVE_INFINITY;
}

/** It had finished, or its launcher started again: others made steps long after it was gone. */
function isSteppedOn(one: RankSeen, ranks: readonly RankSeen[], longestMs: number): boolean {
  const missedMs = latestMs(one) + longestMs + STEP_SLACK_MS;
  return ranks.some((other) => other !== one && (other.steppedMs ?? 0) > missedMs);
}

/** Its launcher ended it, because another had failed before. */
function isOrdered(one: RankSeen, failed: readonly RankSeen[]): boolean {
  if (!isTerminated(one)) return false;
  return failed.some((other) => !isTerminated(other) && earliestMs(other) <= latestMs(one));
}

function isTerminated({ exit, raisedMs }: RankSeen): boolean {
  return (
    raisedMs === undefined &&
    exit !== undefined &&
    'signal' in exit &&
    exit.signal === BY_LAUNCHER.signal
  );
}

/** Whether the first of the two certainly failed before the second. */
function precedes(one: RankSeen, other: RankSeen): boolean {
  if (one === other) return false;
  const { raisedMs } = one;
  const isRaised = raisedMs !== undefined;
  const isOtherRaised = other.raisedMs !== undefined;
  if (isRaised && isOtherRaised) return earliestMs(other) - raisedMs > SAME_CAUSE_MS;
  if (isRaised) return raisedMs < other.aliveMs || isGoneBefore(one, other);
  // Peers of a rank that died raise within milliseconds, and take longer to end.
  const isCause = isOtherRaised && one.byItself === true && !isGoneBefore(other, one);
  const isFirst =
    isGoneBefore(one, other) || isCause || (isFatal(one.exit) && !isFatal(other.exit));
  return isFirst && one.aliveMs <= earliestMs(other);
}

/** A launcher ends ranks only after one has ended. */
function isGoneBefore(one: RankSeen, other: RankSeen): boolean {
  return (one.goneMs ?? Number.POSITIVE_INFINITY) <= other.aliveMs;
}
