/**
 * Which rank of a Pod failed first, below a launcher that ends the others soon after. The launcher's
 * own end says nothing about it.
 */
import type { Exit, Signs } from '../../jobset/worker-end/worker-end.ts';

/** What was seen of one rank. Times are monotonic, in milliseconds. */
export interface RankSeen {
  readonly local: number;
  readonly rank?: number;
  /** The last look that saw it run. */
  readonly aliveMs: number;
  /** The first look that did not; absent: it ran until the launcher ended, or was told to stop. */
  readonly goneMs?: number;
  /** How it ended, if a look found it before its launcher did; absent too if it exited with 0. */
  readonly exit?: Exit;
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

/** `longestMs`: the longest silence between two steps. Undefined if nothing was seen of ranks. */
export function firstOf(
  _ranks: readonly RankSeen[],
  _longestMs: number | undefined,
): FirstRank | undefined {
  return undefined;
}
