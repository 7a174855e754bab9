/** The stretches of a JobSet's time whose order the status knows. */
import { withDefaults } from '../defaults.ts';
import { currentEpoch } from '../epoch/in-place-restart.ts';
import type { JobSet } from '../jobset.ts';
import type { Course, Goodput, HeldWork } from '../jobset-status.ts';
import { ACCOUNTED, type AccountedClass } from '../jobset-status.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import { type Sums, sumsOf } from './classes.ts';
import { courseFrom, endOf } from './course.ts';
import { isSoundCourse } from './sound.ts';

/** From the end of the epoch before to the end of this one. */
export interface Stretch {
  /** Null: the JobSet has no epochs. */
  readonly epoch: number | null;
  readonly course: Course;
}

export interface Stretches {
  /** The oldest first. None overlaps another, and there may be gaps between them. */
  readonly known: readonly Stretch[];
  /** Sums of the time in the gaps. */
  readonly rest: Sums;
}

/** The last stretch ends at the stamp, and is open. If an end is pending, it is the stretch of that. */
export function stretchesOf({ metadata, spec, status = {} }: JobSet, goodput: Goodput): Stretches {
  const { restartHistory = [] } = status;
  const { held } = goodput;
  const hasEpochs = restartsInPlace(withDefaults(spec), metadata.annotations);
  const current = hasEpochs ? currentEpoch(status) - (isEndPending(goodput) ? 1 : 0) : null;
  const recorded = restartHistory.flatMap(({ epoch, course }) =>
    isSoundCourse(course) ? [{ epoch, course }] : [],
  );
  const known = withoutOverlaps([{ epoch: current, course: courseOf(goodput) }, ...recorded], held);
  const sums = sumsOf(goodput);
  const rest = minus(sums, known);
  if (rest !== undefined) return { known: known.toReversed(), rest };
  return { known: [{ epoch: current, course: courseFrom(sums, held) }], rest: sums };
}

/** Whether the pending work belongs to an epoch that has ended. A suspend ends no epoch. */
export function isEndPending({ phase, pendingMs }: Goodput): boolean {
  return pendingMs !== undefined && phase === 'Restarting';
}

/**
 * The course up to the stamp. A course that does not end there is not trusted: an operator that
 * knows nothing of courses has written since.
 */
export function courseOf(goodput: Goodput): Course {
  const { course, held } = goodput;
  const unknown = courseFrom(sumsOf(goodput), held);
  return isSoundCourse(course) && endOf(course, held) === unknown.fromMs ? course : unknown;
}

/** `stretches` with the newest first. An older one that overlaps a newer one cannot be true. */
function withoutOverlaps(
  stretches: readonly Stretch[],
  held: HeldWork | undefined,
): readonly Stretch[] {
  let untilMs = Number.POSITIVE_INFINITY;
  return stretches.filter(({ course }) => {
    if (endOf(course, held) > untilMs) return false;
    untilMs = course.fromMs;
    return true;
  });
}

/** Undefined if there is more in the stretches than in the sums. */
function minus(sums: Sums, stretches: readonly Stretch[]): Sums | undefined {
  const left: Record<AccountedClass, number> = { ...sums };
  for (const { course } of stretches) {
    for (const part of course.parts) left[part.class] -= part.ms;
  }
  return ACCOUNTED.every((name) => left[name] >= 0) ? left : undefined;
}
