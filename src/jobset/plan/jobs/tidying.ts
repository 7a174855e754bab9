/**
 * Cleans up Jobs in every plan. It deletes Jobs of an earlier attempt and beyond the replicas, repairs
 * changed labels, recreates Jobs whose labels are lost, and resizes Jobs of another size.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { sizeChanges } from '../../child-jobs/elastic.ts';
import { jobNamePrefix } from '../../derived-names.ts';
import { isTrue } from '../../status/conditions.ts';
import type { Action, Decision, PlannedEvent } from '../decision.ts';
import type { Facts } from '../facts.ts';

export function tidyUp(facts: Facts): readonly Decision[] {
  const { children } = facts;
  const relabelled = children.mislabelled.filter(({ job }) => !isBeingDeleted(job));
  const unreadable = children.unreadable
    .filter(({ job }) => !isBeingDeleted(job))
    .map((broken) => ({ ...broken, isOurs: isNamedForUs(facts, broken.job) }));
  const replaced = unreadable.filter(({ isOurs }) => isOurs).map(({ job }) => job);
  return [
    {
      events: [
        ...relabelled.map(({ problem }): PlannedEvent => {
          const note = `${problem}; it gets its labels back`;
          return { type: 'Warning', reason: 'MislabelledJob', note };
        }),
        ...unreadable.map(({ problem, isOurs }): PlannedEvent => {
          const consequence = isOurs
            ? 'it is recreated'
            : 'it stays as it is, because no Job of the JobSet has that name';
          const note = `${problem}; ${consequence}`;
          return { type: 'Warning', reason: 'UnreadableJob', note, isOnce: true };
        }),
      ],
      actions: [
        ...deletions([...children.previous, ...children.surplus, ...replaced]),
        ...relabelled.map(
          ({ job, wanted }): Action => ({ kind: 'RelabelJob', job, labels: wanted }),
        ),
      ],
    },
  ];
}

/** Jobs of a finished JobSet that may still run. Ended ones stay for inspection. */
export function stopWhatRuns(facts: Facts): readonly Decision[] {
  const { active, previous, surplus, unreadable } = facts.children;
  const unread = unreadable
    .map(({ job }) => job)
    .filter((job) => isNamedForUs(facts, job) && !hasEnded(job));
  return [{ actions: deletions([...active, ...previous, ...surplus, ...unread]) }];
}

/** Partly succeeded Jobs cannot rejoin a group that starts over. */
export function recreateHalfDone({ group }: Facts): readonly Decision[] {
  return [{ actions: deletions(group?.toRecreate ?? []) }];
}

/**
 * Asks which Pods have succeeded before it throws away finished work
 * (`docs/design/end-hazards.md#a-member-fails-after-others-have-succeeded`).
 */
export function lookBeforeRecreating(facts: Facts): readonly Decision[] {
  const isDue = recreateHalfDone(facts).some(({ actions = [] }) => actions.length > 0);
  const question = { kind: 'SucceededPods' } as const;
  return isDue && !facts.answer(question) ? [{ question }] : [];
}

export function resizeJobs({ gates, spec, children }: Facts): readonly Decision[] {
  if (!gates.ElasticJobSet) return [];
  const changes = sizeChanges(children.active, spec.replicatedJobs);
  return [{ actions: changes.map(({ job, size }) => ({ kind: 'ResizeJob', job, size })) }];
}

/** A Job in deletion needs no second request. */
function deletions(jobs: readonly Stored<Job>[]): readonly Action[] {
  return jobs
    .filter((job) => !isBeingDeleted(job))
    .map((job): Action => ({ kind: 'DeleteJob', job }));
}

function isBeingDeleted({ metadata }: Stored<Job>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function hasEnded({ status }: Job): boolean {
  return isTrue(status?.conditions, 'Complete') || isTrue(status?.conditions, 'Failed');
}

function isNamedForUs({ jobSet, spec }: Facts, { metadata }: Stored<Job>): boolean {
  return spec.replicatedJobs.some(({ name, replicas }) => {
    const prefix = jobNamePrefix(jobSet.metadata.name, name);
    const index = metadata.name.slice(prefix.length);
    return (
      metadata.name.startsWith(prefix) && /^(0|[1-9]\d*)$/.test(index) && Number(index) < replicas
    );
  });
}
