/** Tells who changes an annotation of a running JobSet that its Jobs do not hear of it. */
import type { JobSet } from '../jobset.ts';
import { isFinished } from '../status/conditions.ts';
import { asked, OWN_ANNOTATIONS } from './table.ts';

/** `old` and `jobSet` are as users wrote them, without defaults. */
export function laterJobsWarnings(old: JobSet, jobSet: JobSet): readonly string[] {
  const { status = {}, spec } = old;
  const isInPlace = spec?.failurePolicy?.restartStrategy === 'InPlaceRestart';
  if (!isInPlace || status.restarts === undefined || isFinished(status.conditions)) return [];
  const [before, after] = [old.metadata.annotations, jobSet.metadata.annotations];
  return OWN_ANNOTATIONS.flatMap(({ key, isForLaterJobs }) =>
    isForLaterJobs !== true || asked(before, key) === asked(after, key)
      ? []
      : [
          `metadata.annotations[${key}] reaches Jobs that are made from now on; those that run keep what they were made with`,
        ],
  );
}
