/**
 * Pods in the namespace of a JobSet with its labels and an unknown Job: the Job was deleted without
 * them, or a user wrote the labels by hand. They may be running an older epoch, so they delay a
 * release. A condition names them. They have no other effect.
 */

import { gatheredStages } from '../../epoch/in-place-restart.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { GroupFacts } from '../facts.ts';
import type { Snapshot } from '../snapshot.ts';

/** The most Jobs that a condition names, for a person to read. */
const MAX_NAMED_JOBS = 3;
/** An invalid owner reference may hold any text instead. */
const UID_LENGTH = 36;

/** Reports unknown Pods if only they delay the next release. */
export function reportUnknownPods({ group, jobs, members }: GroupFacts): readonly Decision[] {
  const type = 'WaitingForUnknownPod';
  const unknown = gatheredStages(group).length === 0 ? [] : jobsOfUnknownPods({ jobs, members });
  if (unknown.length === 0) {
    const message = 'no Pod of an unknown Job is in the way';
    return [{ conditions: [cleared(type, 'PodsGone', message)] }];
  }
  const named = unknown.slice(0, MAX_NAMED_JOBS).flatMap((uid) => {
    const [pod, ...others] = members.podsOfJob(uid);
    if (pod === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return [`Pod ${pod.name}${more} of Job ${pod.jobName} (${uid.slice(0, UID_LENGTH)})`];
  });
  const more = unknown.length - named.length;
  const pods = [...named, ...(more === 0 ? [] : [`and of ${more} more Jobs`])].join(', ');
  const message = `epoch ${group.epoch} waits for ${pods}: the labels are those of this JobSet, but it has no such Job; delete the Pod if nothing needs it`;
  const change = { type, status: 'True', reason: 'UnknownJob', message, event: 'Warning' } as const;
  return [{ conditions: [change] }];
}

/** UIDs of the Jobs of unknown Pods. */
export function jobsOfUnknownPods({
  jobs,
  members,
}: Pick<Snapshot, 'jobs' | 'members'>): readonly string[] {
  const known = new Set(jobs.map(({ metadata }) => metadata.uid));
  return [...members.jobsWithLivingPods()].filter((uid) => !known.has(uid));
}
