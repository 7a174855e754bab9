/**
 * Pods in the namespace of a JobSet that wear its labels, and whose Job is not known: it was deleted
 * without them, or somebody wrote the labels by hand. They may be running an older epoch, so they delay
 * a release; they end, complete and fill nothing. A condition names them, because nothing else does.
 */
import type { Planning } from '../planning.ts';
import type { Snapshot } from '../snapshot.ts';
import { type Group, gatheredStages } from './in-place-restart.ts';

/** A condition names no more Jobs than a person reads. */
const MAX_NAMED_JOBS = 3;
/** A reference to an owner that is none may hold any text instead. */
const UID_LENGTH = 36;

/** Says so in the draft if they are all that the next release waits for. */
export function reportUnknownPods({ snapshot, draft }: Planning, group: Group): void {
  const jobUids = gatheredStages(group).length === 0 ? [] : unknownJobs(snapshot);
  if (jobUids.length === 0) {
    const message = 'no Pod of an unknown Job is in the way';
    draft.clear({ type: 'WaitingForUnknownPod', reason: 'PodsGone', message });
    return;
  }
  const named = jobUids.slice(0, MAX_NAMED_JOBS).flatMap((uid) => {
    const [pod, ...others] = snapshot.members.podsOfJob(uid);
    if (pod === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return [`Pod ${pod.name}${more} of Job ${pod.jobName} (${uid.slice(0, UID_LENGTH)})`];
  });
  const more = jobUids.length - named.length;
  const pods = [...named, ...(more === 0 ? [] : [`and of ${more} more Jobs`])].join(', ');
  const message = `epoch ${group.epoch} waits for ${pods}: the labels are those of this JobSet, but it has no such Job; delete the Pod if nothing needs it`;
  draft.condition(
    { type: 'WaitingForUnknownPod', status: 'True', reason: 'UnknownJob', message },
    'Warning',
  );
}

function unknownJobs({ jobs, members }: Snapshot): readonly string[] {
  const known = new Set(jobs.map(({ metadata }) => metadata.uid));
  return [...members.jobsWithLivingPods()].filter((uid) => !known.has(uid));
}
