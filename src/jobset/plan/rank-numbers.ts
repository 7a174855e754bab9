/**
 * The numbers of a group's ranks as they are now, and whether its running epoch has the same ones.
 * Agents take their numbers from the status alone, so that all of one epoch have equal ones
 * (`docs/design/release-hazards.md#ranks-of-one-epoch-count-different-groups`).
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { currentJobs, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import { currentEpoch } from '../epoch/in-place-restart.ts';
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
  const { group, gates, status } = facts;
  if (group.stages.every(({ isComplete }) => isComplete)) return false;
  if (lacksNumbers(facts)) {
    const isReleased = group.stages.some(({ released }) => released === group.epoch);
    return isReleased && changedRanks(facts)?.ranks !== undefined;
  }
  if (status.ranks?.mixed === true) return true;
  return gates.ElasticJobSet && changedRanks(facts) !== undefined;
}

/** No numbers were counted for the present epoch, so none of its ranks has started. */
export function lacksNumbers({ status }: Facts): boolean {
  return status.ranks?.epoch !== currentEpoch(status);
}

/** Barriers are open and nothing is released, so members that start get the numbers of now. */
export function ranksWhileBypassed(facts: Facts): StatusChange | undefined {
  if (facts.group !== undefined) return undefined;
  if (lacksNumbers(facts)) return changedRanks(facts);
  const change = facts.gates.ElasticJobSet ? changedRanks(facts) : undefined;
  // Members that run keep the numbers that they have.
  return change?.ranks && { ranks: { ...change.ranks, mixed: true } };
}

/** A JobSet that has no ranks, and asks for none, costs nothing here. */
function changedRanks(facts: Facts): Pick<StatusChange, 'ranks'> | undefined {
  const { jobSet, status, lacks } = facts;
  const mayHave =
    status.ranks !== undefined || jobSet.metadata.annotations?.[PROCESSES_PER_POD] !== undefined;
  // Numbers that the definition drops would be missed for ever.
  const isDropped = status.ranks === undefined && lacks?.has('ranks') === true;
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
