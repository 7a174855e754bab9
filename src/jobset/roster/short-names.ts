/** Short names of members: their ranks. */
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { JobSet, ReplicatedJob } from '../jobset.ts';
import { JOB_INDEX, REPLICATED_JOB_NAME } from '../names.ts';

export interface MemberRank {
  readonly replicatedJob: string;
  /** Number within the ReplicatedJob; undefined in a Job without indexes. */
  readonly rank: number | undefined;
  /** `5`, or `workers/5` if the JobSet has several ReplicatedJobs; the Pod's name for a rank. */
  readonly label: string;
}

export function rankOf({ spec }: JobSet, { metadata }: Pod): MemberRank {
  const { labels = {}, annotations = {}, name } = metadata;
  const replicatedJobs = spec.replicatedJobs ?? [];
  const replicatedJob = labels[REPLICATED_JOB_NAME] ?? '';
  const index = annotations[COMPLETION_INDEX];
  const jobSize = sizeOf(replicatedJobs.find((one) => one.name === replicatedJob));
  const rank =
    index === undefined ? undefined : Number(labels[JOB_INDEX] ?? 0) * jobSize + Number(index);
  // The index comes from an annotation, which users can write.
  const short = rank === undefined || Number.isNaN(rank) ? (name ?? '') : String(rank);
  const label = replicatedJobs.length > 1 ? `${replicatedJob}/${short}` : short;
  return { replicatedJob, rank, label };
}

/** The number of members of one Job. */
export function sizeOf(replicatedJob: ReplicatedJob | undefined): number {
  const { completions, parallelism } = replicatedJob?.template.spec ?? {};
  return completions ?? parallelism ?? 1;
}

/** `worker 5 of w (w-0, index 5)`, as records name members. */
const RECORDED_NAME = /\bworker (\d+) of (\S+) \(\2-\d+, index \d+\)/g;

/** Names each member in a text of a record by its rank: `worker 5`, or `worker 5 of w`. */
export function withShortNames(text: string, replicatedJobs: number): string {
  return text.replace(RECORDED_NAME, replicatedJobs > 1 ? 'worker $1 of $2' : 'worker $1');
}
