import type { Job, JobCondition } from '@lockstep/kube/objects/job.ts';

/**
 * Conditions of a Job. `SuccessCriteriaMet` and `FailureTarget` are decisions; `Complete` and
 * `Failed` follow them with the same reason and message once all Pods have ended and are counted.
 */
export type InterimType = 'SuccessCriteriaMet' | 'FailureTarget';

/** The decision about a Job that is to end. */
export interface InterimCondition {
  readonly type: InterimType;
  readonly reason: string;
  readonly message: string;
}

export function trueCondition(job: Job, type: string): JobCondition | undefined {
  return job.status?.conditions?.find((c) => c.type === type && c.status === 'True');
}

export function isFinished(job: Job): boolean {
  return trueCondition(job, 'Complete') !== undefined || trueCondition(job, 'Failed') !== undefined;
}

/** The verdict in the Job's status; once written it never changes. */
export function writtenVerdict(job: Job): InterimCondition | undefined {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const found = trueCondition(job, type);
    if (found !== undefined) {
      return { type, reason: found.reason ?? '', message: found.message ?? '' };
    }
  }
  return undefined;
}

/**
 * `conditions` with this one; unchanged if it is there with the same status, reason and message.
 */
export function withCondition(
  conditions: readonly JobCondition[],
  wanted: Required<Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>>,
  now: string,
): readonly JobCondition[] {
  const old = conditions.find((c) => c.type === wanted.type);
  const isSame =
    old?.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message;
  if (isSame) return conditions;
  const lastTransitionTime = old?.status === wanted.status ? (old.lastTransitionTime ?? now) : now;
  const next = { ...wanted, lastProbeTime: now, lastTransitionTime };
  if (old === undefined) return [...conditions, next];
  return conditions.map((condition) => (condition === old ? next : condition));
}
