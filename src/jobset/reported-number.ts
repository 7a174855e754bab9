/** Checks numbers in reports of agents, which may hold any value. */

/** 0 to 2^53 - 1. */
export function isStep(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Whole milliseconds of any length, from 0. */
export function isMilliseconds(value: unknown): value is number {
  return isStep(value);
}
