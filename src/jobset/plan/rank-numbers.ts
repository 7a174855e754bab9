/**
 * The numbers of a group's ranks as they are now, and whether its running epoch has the same ones.
 * Agents take their numbers from the status alone, so that all of one epoch have equal ones
 * (`docs/design/release-hazards.md#ranks-of-one-epoch-count-different-groups`).
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { currentJobs, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import type { GroupRanks } from '../jobset-status.ts';
import { PROCESSES_PER_POD } from '../names.ts';
import { groupRanksOf } from '../ranks/group-ranks.ts';
import { carriedProcesses, processesPerPod } from '../ranks/processes-per-pod.ts';
import type { StatusChange } from './decision.ts';
import type { Facts, GroupFacts } from './facts.ts';

/**
 * Sizes come from the spec. How many processes a Pod starts, its template says: a Job keeps that even
 * if the annotation changes. A ReplicatedJob without a Job is numbered as before, or as asked.
 */
export function ranksNow(facts: Facts): GroupRanks | undefined {
  const { jobSet, spec, status } = facts;
  const jobs = firstJobs(facts);
  return groupRanksOf(jobSet.metadata.name, spec, (name) => {
    const job = jobs.get(name);
    if (job !== undefined) return carriedProcesses(job.spec.template);
    const known = status.ranks?.replicatedJobs.find((each) => each.name === name);
    return known?.processesPerPod ?? processesPerPod(jobSet.metadata.annotations, name);
  });
}

/**
 * The present epoch was released, to some or all, with other numbers than it needs, or with none.
 * Sizes that may not change end no epoch, because its Jobs would keep the old ones.
 */
export function hasOtherRanks(facts: GroupFacts): boolean {
  const { group, gates, status } = facts;
  if (!gates.ElasticJobSet && status.ranks !== undefined) return false;
  const isRunning =
    group.stages.some(({ released }) => released === group.epoch) &&
    group.stages.some(({ isComplete }) => !isComplete);
  return isRunning && changedRanks(facts) !== undefined;
}

/** Barriers are open and nothing is released, so members that start get the numbers of now. */
export function ranksWhileBypassed(facts: Facts): StatusChange | undefined {
  return facts.group === undefined ? changedRanks(facts) : undefined;
}

/** A JobSet that has no ranks, and asks for none, costs nothing here. */
function changedRanks(facts: Facts): StatusChange | undefined {
  const { jobSet, status, lacks } = facts;
  const mayHave =
    status.ranks !== undefined || jobSet.metadata.annotations?.[PROCESSES_PER_POD] !== undefined;
  // Numbers that the definition drops would be missed for ever.
  const isDropped = status.ranks === undefined && lacks?.has('ranks') === true;
  if (!mayHave || isDropped) return undefined;
  const ranks = ranksNow(facts);
  return deepEqual(ranks, status.ranks) ? undefined : { ranks };
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
