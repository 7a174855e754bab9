import type { Job, JobCondition } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import type { DefaultedSpec } from './defaults.ts';

/**
 * What the failure of Jobs means to the JobSet (spec 4.11): without a policy it fails at once, with
 * one it restarts all Jobs until the budget is spent. `isSpent` says whether it is; restarts that
 * are not `counted` happen all the same.
 */
export function decideFailure(
  spec: Pick<DefaultedSpec, 'failurePolicy'>,
  failed: readonly Stored<Job>[],
  isSpent: boolean,
  counted: boolean,
): FailureDecision {
  const first = firstFailed(failed);
  if (first === undefined) return { kind: 'None' };
  const because = ` (first failed job: ${first.metadata.name})`;
  if (spec.failurePolicy === undefined) {
    const message = `jobset failed due to one or more job failures${because}`;
    return { kind: 'Fail', reason: 'FailedJobs', message };
  }
  if (counted && isSpent) {
    const message = `jobset failed due to reaching max number of restarts${because}`;
    return { kind: 'Fail', reason: 'ReachedMaxRestarts', message };
  }
  return {
    kind: 'RestartAll',
    reason: 'DefaultFailurePolicy',
    message: `applying RestartJobSet failure policy action${because}`,
  };
}

export type FailureDecision =
  | { readonly kind: 'None' }
  | {
      readonly kind: 'Fail';
      readonly reason: 'FailedJobs' | 'ReachedMaxRestarts';
      readonly message: string;
    }
  | {
      readonly kind: 'RestartAll';
      readonly reason: 'DefaultFailurePolicy';
      readonly message: string;
    };

/** The Job that failed first, by the time of its Failed condition; ties go to the first listed. */
export function firstFailed(failed: readonly Stored<Job>[]): Stored<Job> | undefined {
  let first: Stored<Job> | undefined;
  for (const job of failed) {
    if (first === undefined || failedAt(job) < failedAt(first)) first = job;
  }
  return first;
}

function failedAt(job: Job): number {
  const condition = job.status?.conditions?.find(isFailed);
  const time = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

function isFailed({ type, status }: JobCondition): boolean {
  return type === 'Failed' && status === 'True';
}
