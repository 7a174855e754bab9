/**
 * Elastic scaling of a group that restarts in place. A worker learns the size of its group when it
 * starts, so a new size needs a new epoch. A released epoch ends, without a charge, before any Job
 * is patched, created or deleted for it. An unreleased epoch takes on the new size. A Job that is
 * missing for another reason was lost, which is a failure
 * (`docs/design/release-hazards.md#a-suspend-a-resume-or-a-new-size-meets-a-restart`).
 */
import { hasGrown, sizeChange } from '../../child-jobs/elastic.ts';
import { replicatedJobOf } from '../../child-jobs/job-labels.ts';
import type { Stage } from '../../epoch/in-place-restart.ts';
import type { GroupFacts } from '../facts.ts';

export function isScaling(facts: GroupFacts): boolean {
  const { epoch, stages } = facts.group;
  return haveOtherSize(
    facts,
    stages.filter(({ released }) => released === epoch),
  );
}

/** Whether Jobs of any of these ReplicatedJobs still have to be patched, created or deleted. */
export function haveOtherSize(
  { gates, spec, children }: GroupFacts,
  stages: readonly Stage[],
): boolean {
  if (!gates.ElasticJobSet) return false;
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
