import { replicatedJobOf } from '../child-jobs/child-jobs.ts';
import { hasGrown, sizeChange } from '../child-jobs/elastic.ts';
import type { Planning } from '../planning.ts';
import type { Group, Stage } from './in-place-restart.ts';

/**
 * Elastic scaling of a group that restarts in place (design, H6 and H14). A worker learns the size of
 * its group when it starts, so a new size takes a new epoch: the one that is released ends before
 * any Job is patched, created or deleted for it, and nobody is charged. One that is not released yet
 * absorbs the change. A Job that is missing for another reason was lost, which is a failure.
 */
export function isScaling(planning: Planning, group: Group): boolean {
  const running = group.stages.filter(({ released }) => released === group.epoch);
  return haveOtherSize(planning, running);
}

/** Whether the Jobs of any of these ReplicatedJobs still have to be patched, made or deleted. */
export function haveOtherSize(
  { snapshot, spec, children }: Planning,
  stages: readonly Stage[],
): boolean {
  if (!snapshot.gates.ElasticJobSet) return false;
  const leaving = children.surplus.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const shrunk = new Set(leaving.map(replicatedJobOf));
  return stages.some(({ name, jobs }) => {
    const wanted = spec.replicatedJobs.find((each) => each.name === name);
    if (wanted === undefined) return false;
    return (
      shrunk.has(name) ||
      hasGrown(jobs, wanted) ||
      jobs.some((job) => sizeChange(job, wanted) !== undefined)
    );
  });
}
