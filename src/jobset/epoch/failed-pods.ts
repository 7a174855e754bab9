/** Notices Pods that fail again and again before the barrier. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { jobIndexOf, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import type { ReplicatedJobStatus } from '../jobset-status.ts';
import type { Stage } from './in-place-restart.ts';

/**
 * A Job that replaces Pods for ever never fails by itself. So when an epoch begins, the status
 * records how many Pods of each Job have failed so far. If more than a few fail before the release,
 * the operator reads them, and ends the epoch if they failed on the way to it. Pods that fail with
 * the last epoch may be counted late, so the counters alone prove nothing
 * (`docs/design/member-hazards.md#containers-crash-before-the-barrier`).
 */
export const MAX_FAILED_STARTS = 3;

/** The statuses with the current counts of the stages' Jobs. */
export function withFailedPods(
  statuses: readonly ReplicatedJobStatus[],
  stages: readonly Stage[],
): readonly ReplicatedJobStatus[] {
  const stageOf = new Map(stages.map((stage) => [stage.name, stage]));
  return statuses.map((status) => {
    const { failedPods: _, ...others } = status;
    const failedPods = countedFailures(stageOf.get(status.name)?.jobs ?? []);
    return failedPods.length === 0 ? others : { ...others, failedPods };
  });
}

/** A Job of an unreleased stage whose Pods fail too often. */
export function suspectJob(
  stages: readonly Stage[],
  epoch: number,
  statuses: readonly ReplicatedJobStatus[] | undefined,
): Stored<Job> | undefined {
  const baselines = new Map(statuses?.map(({ name, failedPods }) => [name, failedPods]));
  for (const { name, released, isComplete, jobs } of stages) {
    if (isComplete || released === epoch) continue;
    const baseline = baselines.get(name);
    const suspects = jobs.filter((job) => failuresSince(job, baseline) > MAX_FAILED_STARTS);
    const [suspect] = suspects.sort((a, b) => jobIndexOf(a) - jobIndexOf(b));
    if (suspect !== undefined) return suspect;
  }
  return undefined;
}

/** The statuses with only `inEpoch` of the Job's failures left to the current epoch. */
export function withBaseline(
  statuses: readonly ReplicatedJobStatus[],
  job: Stored<Job>,
  inEpoch: number,
): readonly ReplicatedJobStatus[] {
  const name = replicatedJobOf(job);
  const index = jobIndexOf(job);
  return statuses.map((status) => {
    if (status.name !== name) return status;
    const { failedPods = [] } = status;
    const length = Math.max(index + 1, failedPods.length);
    const baseline = Math.max(0, failuresOf(job) - inEpoch);
    const at = (i: number): number => (i === index ? baseline : (failedPods[i] ?? 0));
    return { ...status, failedPods: Array.from({ length }, (_, i) => at(i)) };
  });
}

/** A Job with fewer failures than recorded was recreated since, and began at 0. */
function failuresSince(job: Job, baseline: readonly number[] | undefined): number {
  const failed = failuresOf(job);
  const noted = baseline?.[jobIndexOf(job)] ?? 0;
  return failed < noted ? failed : failed - noted;
}

/** By job index, without the zeros at the end. */
function countedFailures(jobs: readonly Job[]): readonly number[] {
  let length = 0;
  for (const job of jobs) {
    if (failuresOf(job) > 0) length = Math.max(length, jobIndexOf(job) + 1);
  }
  const counts = Array.from({ length }, () => 0);
  for (const job of jobs) if (failuresOf(job) > 0) counts[jobIndexOf(job)] = failuresOf(job);
  return counts;
}

function failuresOf({ status }: Job): number {
  return status?.failed ?? 0;
}
