import type { JobStatus } from '@lockstep/kube/objects/job.ts';

/** A Job's status in one line, without times and names of Pods. */
export function jobStatusText(status: JobStatus | undefined): string {
  const {
    active = 0,
    ready = 0,
    terminating = 0,
    failed = 0,
    succeeded = 0,
    completedIndexes,
    startTime,
    completionTime,
    uncountedTerminatedPods: { failed: failedPods = [], succeeded: succeededPods = [] } = {},
    conditions = [],
  } = status ?? {};
  return [
    `active ${active}, ready ${ready}, terminating ${terminating}`,
    `failed ${failed}, succeeded ${succeeded}`,
    ...(failedPods.length === 0 ? [] : [`${failedPods.length} uncounted failed`]),
    ...(succeededPods.length === 0 ? [] : [`${succeededPods.length} uncounted succeeded`]),
    ...(completedIndexes === undefined ? [] : [`completed ${completedIndexes}`]),
    ...(startTime === undefined ? [] : ['started']),
    ...(completionTime === undefined ? [] : ['completed']),
    ...conditions.map(
      ({ type, status: value, reason, message }) =>
        `${type}=${value} ${reason}: ${message?.replace(/ for pod \S+/, ' for pod POD')}`,
    ),
  ].join(', ');
}
