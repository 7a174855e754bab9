/** Builds a Job's status as the real controller writes it. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Job, JobCondition, JobStatus } from '@lockstep/kube/objects/job.ts';
import { type InterimCondition, withCondition } from './conditions.ts';
import type { Counting } from './counting.ts';

/** Counters that are zero are left out, except `ready` and `terminating`. */
export interface StatusParts {
  readonly job: Job;
  readonly counting: Counting;
  /** Set if all Pods have ended and are counted, so that the Job ends with this write. */
  readonly verdict: InterimCondition | undefined;
  readonly conditions: readonly JobCondition[];
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** RFC 3339. */
  readonly now: string;
}

export function statusOf(parts: StatusParts): JobStatus {
  const { verdict, counting, now, job } = parts;
  const { succeeded, failed, completedIndexes, failedIndexes, uncountedTerminatedPods } =
    counting.status;
  const conditions = verdict === undefined ? parts.conditions : finish(parts, verdict);
  return {
    ...(conditions.length > 0 ? { conditions } : {}),
    ...defined({ startTime: job.status?.startTime }),
    ...(verdict?.type === 'SuccessCriteriaMet' ? { completionTime: now } : {}),
    ...(parts.active > 0 ? { active: parts.active } : {}),
    ready: Math.min(parts.ready, parts.active),
    terminating: parts.terminating,
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    ...(completedIndexes === '' ? {} : { completedIndexes }),
    ...defined({ failedIndexes }),
    uncountedTerminatedPods,
  };
}

function finish(parts: StatusParts, verdict: InterimCondition): readonly JobCondition[] {
  const { reason, message } = verdict;
  const type = verdict.type === 'SuccessCriteriaMet' ? 'Complete' : 'Failed';
  return withCondition(parts.conditions, { type, status: 'True', reason, message }, parts.now);
}

/** Compares what matters: absent and empty lists, and most absent and zero counters, are equal. */
export function isSameStatus(a: JobStatus, b: JobStatus): boolean {
  return canonical(a) === canonical(b);
}

function canonical(status: JobStatus): string {
  const { uncountedTerminatedPods: uncounted, conditions } = status;
  return JSON.stringify([
    conditions?.map((c) => [c.type, c.status, c.reason, c.message]) ?? [],
    status.startTime,
    status.completionTime,
    [status.active ?? 0, status.ready, status.terminating],
    [status.succeeded ?? 0, status.failed ?? 0],
    [status.completedIndexes ?? '', status.failedIndexes],
    [uncounted?.succeeded ?? [], uncounted?.failed ?? []],
  ]);
}
