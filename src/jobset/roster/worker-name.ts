/** The rank of a worker in words, for people who know it by its rank and not by its Pod. */
import type { Job } from '@lockstep/kube/objects/job.ts';
import { JOB_INDEX, REPLICATED_JOB_NAME } from '../names.ts';
import type { Member } from './group-evidence.ts';

type WorkerRank = Pick<Member, 'replicatedJob' | 'jobIndex' | 'completions' | 'completionIndex'>;

/** Undefined for a Job without the labels of a JobSet. `slot` is the completion index. */
export function rankIn({ metadata, spec }: Job, slot: string | undefined): WorkerRank | undefined {
  const replicatedJob = metadata.labels?.[REPLICATED_JOB_NAME];
  const jobIndex = Number(metadata.labels?.[JOB_INDEX] ?? '0');
  const completionIndex = Number(slot ?? '0');
  const isValid = Number.isSafeInteger(jobIndex) && Number.isSafeInteger(completionIndex);
  if (replicatedJob === undefined || !isValid) return undefined;
  const completions = spec.completions ?? spec.parallelism ?? 1;
  const rank = { replicatedJob, jobIndex, completions };
  return slot === undefined ? rank : { ...rank, completionIndex };
}

/** `worker 5 of workers (workers-0, index 5)`: it counts through all Jobs of the ReplicatedJob. */
export function workerInWords(of: WorkerRank): string {
  const { replicatedJob, jobIndex, completions, completionIndex } = of;
  if (completionIndex === undefined) return `a worker of ${replicatedJob}-${jobIndex}`;
  const rank = jobIndex * completions + completionIndex;
  return `worker ${rank} of ${replicatedJob} (${replicatedJob}-${jobIndex}, index ${completionIndex})`;
}
