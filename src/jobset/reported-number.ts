/** Checks numbers in reports of agents, which may hold any value. */

/** 0 to 2^53 - 1. */
export function isStep(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Whole milliseconds of any length, from 0. */
export function isMilliseconds(value: unknown): value is number {
  return isStep(value);
}

/** Local ranks of one Pod, as far as they are known. */
export const MAX_RANKS_OF_POD = 64;

export function isLocalRank(value: unknown): value is number {
  return isStep(value) && value < MAX_RANKS_OF_POD;
}

const MAX_RANK = 2_147_483_647;

/** A rank in a group, as a program says it. */
export function isRank(value: unknown): value is number {
  return isStep(value) && value <= MAX_RANK;
}
