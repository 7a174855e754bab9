/**
 * How many agents a hub serves, and how much memory an operator needs for them. Measured with
 * 19,000 agents (docs/reference/performance.md): at most 996 MiB, 70 MiB of them for Node and the
 * program.
 */

export const DEFAULT_MAX_STREAMS = 32_768;
/** The highest accepted setting. */
export const HIGHEST_MAX_STREAMS = 262_144;

/** A stream with its share of the caches of Pods and Jobs. */
export const STREAM_KIB = 50;
/** Node and the program. */
const PROGRAM_MIB = 96;
/** Bodies of requests, here and in the threads that judge reviews. */
const BODIES_MIB = 2 * 32;
/** The two threads that judge reviews. */
export const REVIEW_HEAP_MIB = 128;
const KIB_PER_MIB = 1024;
/** Limits are rounded up to multiples of this. */
export const STEP_MIB = 256;
/** The memory without any stream. */
export const FIXED_MIB: number = PROGRAM_MIB + BODIES_MIB + 2 * REVIEW_HEAP_MIB;

/** MiB: the most that a hub with this many streams needs, under any other load. */
export function operatorMemoryMiB(maxStreams: number): number {
  const streams = (maxStreams * STREAM_KIB) / KIB_PER_MIB;
  return Math.ceil((FIXED_MIB + streams) / STEP_MIB) * STEP_MIB;
}
