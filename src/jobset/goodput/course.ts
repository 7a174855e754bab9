/**
 * What became of a stretch of time, part by part, in the order in which it passed
 * (`docs/design/goodput.md#in-which-order`).
 */
import {
  ACCOUNTED,
  type AccountedClass,
  type Course,
  type CoursePart,
  type HeldWork,
} from '../jobset-status.ts';
import { type Sums, totalOf } from './classes.ts';

/**
 * An epoch has five or six. There are more where a group that waits is suspended again and again, or
 * where Jobs are recreated without epochs.
 */
export const MAX_COURSE_PARTS = 24;

/** The course of time whose order is unknown. */
export function courseFrom(sums: Sums, held: HeldWork | undefined): Course {
  return { fromMs: totalOf(sums) + (held?.ms ?? 0), parts: [] };
}

/** The length of a course, with the gap that `held` makes in it. */
export function endOf(course: Course, held: HeldWork | undefined): number {
  return sumTo(course) + (held !== undefined && hasGap(course, held) ? held.ms : 0);
}

export function hasGap(course: Course, held: HeldWork): boolean {
  return course.fromMs < held.fromMs && held.fromMs <= sumTo(course);
}

function sumTo({ fromMs, parts }: Course): number {
  return parts.reduce((end, { ms }) => end + ms, fromMs);
}

/** The parts of a course, with one part of a class in its gap. */
export function filled<C extends string>(
  course: Course,
  held: HeldWork,
  name: C,
): readonly { readonly class: AccountedClass | C; readonly ms: number }[] {
  if (!hasGap(course, held)) return course.parts;
  let atMs = course.fromMs;
  const [before, after]: [CoursePart[], CoursePart[]] = [[], []];
  for (const part of course.parts) {
    const earlierMs = Math.min(part.ms, Math.max(0, held.fromMs - atMs));
    atMs += part.ms;
    if (earlierMs > 0) before.push({ ...part, ms: earlierMs });
    if (earlierMs < part.ms) after.push({ ...part, ms: part.ms - earlierMs });
  }
  return [...before, { class: name, ms: held.ms }, ...after];
}

/** The time that one accounting has added. It adds to classes in the order of time. */
export function partsBetween(before: Sums, after: Sums): readonly CoursePart[] {
  return ACCOUNTED.flatMap((name) => {
    const ms = after[name] - before[name];
    return ms > 0 ? [{ class: name, ms }] : [];
  });
}

export function extended(
  { fromMs, parts }: Course,
  added: readonly CoursePart[],
  held: HeldWork | undefined,
): Course {
  const all = [...parts];
  for (const part of added) {
    const last = all.at(-1);
    if (last?.class === part.class) all[all.length - 1] = { ...part, ms: last.ms + part.ms };
    else all.push(part);
  }
  const dropped = all.slice(0, -MAX_COURSE_PARTS);
  return { fromMs: endOf({ fromMs, parts: dropped }, held), parts: all.slice(-MAX_COURSE_PARTS) };
}
