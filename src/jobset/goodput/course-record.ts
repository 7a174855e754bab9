/** Keeps the order of the accounted time in the status: the course of each epoch in its record. */
import type { Course, Goodput, JobSetStatus, RestartRecord } from '../jobset-status.ts';
import { sumsOf } from './classes.ts';
import { endOf, extended, partsBetween } from './course.ts';
import { courseOf } from './stretches.ts';

/** One accounting, and the status without it. */
interface Accounting {
  readonly status: JobSetStatus;
  readonly before: Goodput;
  readonly after: Goodput;
  /** The restarts that the status records after the write. */
  readonly records: readonly RestartRecord[];
  /** Fields that the stored definition would drop. */
  readonly lacks?: ReadonlySet<string> | undefined;
}

/**
 * Belongs to the write that makes the sums grow. The course of an epoch is closed when none of its
 * time is pending: by the end itself, or by the write that decides about the pending end.
 */
export function recordCourse(
  accounting: Accounting,
): Pick<JobSetStatus, 'goodput' | 'restartHistory'> {
  const { status, before, after, lacks } = accounting;
  const { course: _, ...goodput } = after;
  const { held } = goodput;
  if (lacks?.has('goodput.course') === true || lacks?.has('restartHistory[].course') === true) {
    return { goodput };
  }
  let { records } = accounting;
  const newest = records[0]?.epoch;
  const hasEnded = newest !== undefined && newest !== status.restartHistory?.[0]?.epoch;
  const close = (at: number, closed: Course): Course => {
    const record = records[at];
    if (record === undefined || record.course !== undefined) return closed;
    if (closed.parts.length > 0) records = records.with(at, { ...record, course: closed });
    return { fromMs: endOf(closed, held), parts: [] };
  };
  const parts = partsBetween(sumsOf(before), sumsOf(after));
  let course = courseOf(before);
  if (before.pendingMs !== undefined && after.pendingMs === undefined) {
    const own = parts.filter((part) => part.class !== before.phase);
    const later = parts.filter((part) => part.class === before.phase);
    const worked = extended(course, own, held);
    // What comes after the pending end belongs to the epoch after it, but a suspend ends no epoch.
    const isOver = before.phase === 'Restarting';
    course = extended(isOver ? close(hasEnded ? 1 : 0, worked) : worked, later, held);
  } else {
    course = extended(course, parts, held);
  }
  if (hasEnded && after.pendingMs === undefined) course = close(0, course);
  return {
    goodput: course.parts.length === 0 ? goodput : { ...goodput, course },
    ...(records.length > 0 && { restartHistory: records }),
  };
}
