/** Warns a user who changes what the Jobs of a running JobSet do not follow. */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { isOff, OFF, OWN_ANNOTATIONS, type OwnAnnotation } from '../annotations/table.ts';
import { mayAvoidNodes } from '../injection/node-avoidance.ts';
import type { JobSet } from '../jobset.ts';
import { COORDINATOR, GLOBAL_REPLICAS, JOB_GLOBAL_INDEX, REPLACE_AFTER } from '../names.ts';
import { isFinished } from '../status/conditions.ts';

/** `old` and `jobSet` are as users wrote them, without defaults. */
export function laterJobsWarnings(old: JobSet, jobSet: JobSet): readonly string[] {
  const { status = {} } = old;
  if (status.restarts === undefined || isFinished(status.conditions)) return [];
  return [
    ...annotationWarnings(old, jobSet),
    ...replicasWarnings(old, jobSet),
    ...coordinatorWarnings(old, jobSet),
  ];
}

function annotationWarnings(old: JobSet, jobSet: JobSet): readonly string[] {
  if (old.spec?.failurePolicy?.restartStrategy !== 'InPlaceRestart') return [];
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

/** Templates of running Jobs cannot change, so their labels keep the numbers of their creation. */
function replicasWarnings(old: JobSet, jobSet: JobSet): readonly string[] {
  const before = old.spec?.replicatedJobs ?? [];
  return (jobSet.spec?.replicatedJobs ?? []).flatMap(({ name, replicas = 1 }, index, all) => {
    const was = before.find((each) => each.name === name);
    if (was === undefined || (was.replicas ?? 1) === replicas) return [];
    const counts = `labels that count all Jobs, such as ${GLOBAL_REPLICAS}`;
    const isLast = index === all.length - 1;
    const indexes = `${JOB_GLOBAL_INDEX} of the Jobs after them, which may repeat or skip one`;
    const kept = isLast ? counts : `${counts}, and ${indexes}`;
    return [`spec.replicatedJobs[${index}].replicas: Jobs that run keep ${kept}`];
  });
}

function coordinatorWarnings(old: JobSet, jobSet: JobSet): readonly string[] {
  if (deepEqual(old.spec?.coordinator, jobSet.spec?.coordinator)) return [];
  return [
    `spec.coordinator reaches Jobs that are made from now on; others keep their ${COORDINATOR}`,
  ];
}

/** Absent and off are the same, unless the feature is on without its key. */
function said(annotations: StringMap | undefined, of: OwnAnnotation): string | undefined {
  const value = annotations?.[of.key];
  if (!isOff(of.key, value)) return value;
  return of.isOnByDefault === true ? OFF : undefined;
}
