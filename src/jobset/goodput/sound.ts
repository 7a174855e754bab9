/**
 * Whether an account of time can be true. Our definition of JobSet bounds its values. The definition
 * of another version or controller does not, and one JobSet must not break a list.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Course } from '../jobset-status.ts';
import { ACCOUNTED, GOODPUT_PHASES, type Goodput } from '../jobset-status.ts';
import { sumsOf } from './classes.ts';
import { MAX_COURSE_PARTS } from './course.ts';

/** Some 3,000 years: the sum of all classes is still within what a `Date` can be. */
const MAX_MS = 1e14;

export function isSoundGoodput(goodput: Goodput): boolean {
  const { time, phase, pendingMs = 0, held = { fromMs: 0, ms: 0 } } = goodput;
  return (
    !Number.isNaN(Date.parse(time)) &&
    GOODPUT_PHASES.includes(phase) &&
    [...Object.values(sumsOf(goodput)), pendingMs].every(isLength) &&
    isJsonObject(held) &&
    isLength(held.fromMs) &&
    isLength(held.ms)
  );
}

export function isSoundCourse(course: unknown): course is Course {
  if (!isJsonObject(course)) return false;
  const { fromMs, parts } = course;
  return (
    isLength(fromMs) &&
    Array.isArray(parts) &&
    parts.length <= MAX_COURSE_PARTS &&
    parts.every(isPart)
  );
}

function isPart(part: unknown): boolean {
  return (
    isJsonObject(part) && ACCOUNTED.some((name) => name === part['class']) && isLength(part['ms'])
  );
}

function isLength(ms: unknown): boolean {
  return Number.isSafeInteger(ms) && Number(ms) >= 0 && Number(ms) <= MAX_MS;
}
