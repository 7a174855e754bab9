/**
 * The numbers of a group's ranks as they are now, and whether its running epoch has the same ones.
 * Agents take their numbers from the status alone, so that all of one epoch have equal ones
 * (`docs/design/release-hazards.md#ranks-of-one-epoch-count-different-groups`).
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { currentJobs, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import { currentEpoch, isReleased } from '../epoch/in-place-restart.ts';
import type { StoredRanks } from '../jobset-status.ts';
import { PROCESSES_PER_POD } from '../names.ts';
import { groupRanksOf } from '../ranks/group-ranks.ts';
import { carriedProcesses, processesPerPod } from '../ranks/processes-per-pod.ts';
import type { StatusChange } from './decision.ts';
import type { Facts, GroupFacts } from './facts.ts';

/**
 * Sizes come from the spec. How many processes a Pod starts, its template says: a Job keeps that even
 * if the annotation changes. A ReplicatedJob without a Job is numbered as before, or as asked.
 */
export function ranksNow(facts: Facts): StoredRanks | undefined {
  const { jobSet, spec, status } = facts;
  const jobs = firstJobs(facts);
  const ranks = groupRanksOf(jobSet.metadata.name, spec, (name) => {
    const job = jobs.get(name);
    if (job !== undefined) return carriedProcesses(job.spec.template);
    const known = status.ranks?.replicatedJobs.find((each) => each.name === name);
    return known?.processesPerPod ?? processesPerPod(jobSet.metadata.annotations, name);
  });
  return ranks && { epoch: currentEpoch(status), ...ranks };
}

/**
 * Members of the present epoch run, or may run, with other numbers than it needs, or wait for some.
 * Sizes that may not change end no epoch, because its Jobs would keep the old ones.
 */
export function hasOtherRanks(facts: GroupFacts): boolean {
  const { group, gates, status, lacks, knowledge } = facts;
  if (group.stages.every(({ isComplete }) => isComplete)) return false;
  if (lacksNumbers(facts)) {
    // The next epoch would lack them too.
    const isLost = status.ranks === undefined && lacks?.has('ranks') === true;
    if (isLost || knowledge.droppedRanks !== undefined) return false;
    return isReleased(group) && changedRanks(facts)?.ranks !== undefined;
  }
  if (status.ranks?.mixed === true) return true;
  return gates.ElasticJobSet && changedRanks(facts) !== undefined;
}

/** No numbers were counted for the present epoch, so none of its ranks has started. */
export function lacksNumbers({ status }: Facts): boolean {
  return status.ranks?.epoch !== currentEpoch(status);
}

/**
 * The numbers that no release writes. While barriers are open, members that start get the numbers of
 * now. Dropped numbers of a release are written again: none of its ranks has started without.
 */
export function ranksToWrite(facts: Facts): StatusChange | undefined {
  const { group, gates, knowledge } = facts;
  if (lacksNumbers(facts)) {
    const isDue = group === undefined || (knowledge.droppedRanks === 'Again' && isReleased(group));
    return isDue ? changedRanks(facts) : undefined;
  }
  const change = group === undefined && gates.ElasticJobSet ? changedRanks(facts) : undefined;
  // Members that run keep the numbers that they have.
  return change?.ranks && { ranks: { ...change.ranks, mixed: true } };
}

/** A JobSet that has no ranks, and asks for none, costs nothing here. */
function changedRanks(facts: Facts): Pick<StatusChange, 'ranks'> | undefined {
  const { jobSet, status, lacks, isDefinitionUnread, knowledge } = facts;
  const mayHave =
    status.ranks !== undefined || jobSet.metadata.annotations?.[PROCESSES_PER_POD] !== undefined;
  // Numbers that the definition drops would be missed for ever.
  const isLacking = lacks?.has('ranks') === true && isDefinitionUnread !== true;
  const isDropped = status.ranks === undefined && (isLacking || knowledge.droppedRanks === 'Wait');
  if (!mayHave || isDropped) return undefined;
  const ranks = ranksNow(facts);
  const { mixed: _, ...stored } = status.ranks ?? {};
  return deepEqual(ranks ?? {}, stored) ? undefined : { ranks };
}

function firstJobs({ group, children }: Facts): ReadonlyMap<string, Job> {
  const jobs =
    group === undefined
      ? currentJobs(children)
      : group.stages.flatMap((stage) => stage.jobs[0] ?? []);
  const first = new Map<string, Job>();
  for (const job of jobs) {
    const name = replicatedJobOf(job) ?? '';
    if (!first.has(name)) first.set(name, job);
  }
  return first;
}
