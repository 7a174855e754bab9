/**
 * What became of a stretch of time, part by part, in the order in which it passed
 * (`docs/design/goodput.md#in-which-order`).
 */
import { ACCOUNTED, type AccountedClass, type Sums, totalOf } from './classes.ts';

export interface Course {
  /** Where it begins: milliseconds since the creation of the JobSet, as they are accounted for. */
  readonly fromMs: number;
  /** At most `MAX_COURSE_PARTS`: the older ones are dropped, and it begins later. */
  readonly parts: readonly CoursePart[];
}

export interface CoursePart {
  readonly class: AccountedClass;
  readonly ms: number;
}

/**
 * An epoch has five or six. There are more where a group that waits is suspended again and again, or
 * where Jobs are recreated without epochs.
 */
export const MAX_COURSE_PARTS = 24;

/** Where nothing is known of the time before. */
export function courseFrom(sums: Sums): Course {
  return { fromMs: totalOf(sums), parts: [] };
}

export function endOf({ fromMs, parts }: Course): number {
  return parts.reduce((end, { ms }) => end + ms, fromMs);
}

/** By how much one accounting has made the sums grow. It adds to classes in the order of time. */
export function partsBetween(before: Sums, after: Sums): readonly CoursePart[] {
  return ACCOUNTED.flatMap((name) => {
    const ms = after[name] - before[name];
    return ms > 0 ? [{ class: name, ms }] : [];
  });
}

export function extended({ fromMs, parts }: Course, added: readonly CoursePart[]): Course {
  const all = [...parts];
  for (const part of added) {
    const last = all.at(-1);
    if (last?.class === part.class) all[all.length - 1] = { ...part, ms: last.ms + part.ms };
    else all.push(part);
  }
  const dropped = all.slice(0, -MAX_COURSE_PARTS);
  return { fromMs: endOf({ fromMs, parts: dropped }), parts: all.slice(-MAX_COURSE_PARTS) };
}
