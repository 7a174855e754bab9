/** The numbers of the ranks in one Pod, for those who see it from outside. */
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { GroupRanks } from '../jobset-status.ts';
import { JOB_INDEX, REPLICATED_JOB_NAME } from '../names.ts';
import { memberRanks } from './group-ranks.ts';
import type { MemberRanks } from './member-ranks.ts';

/** Undefined: it has no ranks, or these numbers are of a group without it. */
export function podRanks(ranks: GroupRanks, { metadata }: Pod): MemberRanks | undefined {
  const { labels = {}, annotations = {} } = metadata;
  // Users can write both.
  const jobIndex = Number(labels[JOB_INDEX] ?? 0);
  const completionIndex = Number(annotations[COMPLETION_INDEX] ?? Number.NaN);
  const areIndexes = [jobIndex, completionIndex].every(
    (each) => Number.isInteger(each) && each >= 0,
  );
  if (!areIndexes) return undefined;
  const replicatedJob = labels[REPLICATED_JOB_NAME] ?? '';
  return memberRanks(ranks, { replicatedJob, jobIndex, completionIndex });
}
