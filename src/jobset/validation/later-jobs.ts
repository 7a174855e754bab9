/** Warns a user who changes an annotation that the Jobs of a running JobSet do not follow. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import { isOff, OFF, OWN_ANNOTATIONS, type OwnAnnotation } from '../annotations/table.ts';
import { mayAvoidNodes } from '../injection/node-avoidance.ts';
import type { JobSet } from '../jobset.ts';
import { REPLACE_AFTER } from '../names.ts';
import { isFinished } from '../status/conditions.ts';

/** `old` and `jobSet` are as users wrote them, without defaults. */
export function laterJobsWarnings(old: JobSet, jobSet: JobSet): readonly string[] {
  const { status = {}, spec } = old;
  const isInPlace = spec?.failurePolicy?.restartStrategy === 'InPlaceRestart';
  if (!isInPlace || status.restarts === undefined || isFinished(status.conditions)) return [];
  const [before, after] = [old.metadata.annotations, jobSet.metadata.annotations];
  // The numbers may change at any time, but only Pods with a label may leave their nodes.
  const isFirstToReplace = !mayAvoidNodes(before) && mayAvoidNodes(after);
  return OWN_ANNOTATIONS.flatMap((of) => {
    const { key } = of;
    const isForLaterJobs = key === REPLACE_AFTER ? isFirstToReplace : of.isForLaterJobs === true;
    return !isForLaterJobs || said(before, of) === said(after, of)
      ? []
      : [
          `metadata.annotations[${key}] reaches Jobs that are made from now on; those that run keep what they were made with`,
        ];
  });
}

/** Absent and off are the same, unless the feature is on without its key. */
function said(annotations: StringMap | undefined, of: OwnAnnotation): string | undefined {
  const value = annotations?.[of.key];
  if (!isOff(of.key, value)) return value;
  return of.isOnByDefault === true ? OFF : undefined;
}
