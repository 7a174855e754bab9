/** Lines of a trace: a group of two that starts, and of which a member dies. */
import {
  EPOCH,
  JOB_INDEX,
  JOBSET_NAME,
  JOBSET_UID,
  REPLICATED_JOB_NAME,
} from '../../../jobset/names.ts';

const JOBSET = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: {
    name: 'train',
    namespace: 'default',
    uid: 'set',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: {
    failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
    replicatedJobs: [
      {
        name: 'w',
        template: {
          spec: {
            completionMode: 'Indexed',
            parallelism: 2,
            completions: 2,
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'worker' }] } },
          },
        },
      },
    ],
  },
};

/** `2026-01-01T00:00:00Z` */
export const START_MS = 1_767_225_600_000;
export const HEAD = { kind: 'Trace', version: 1, seed: 33, startMs: START_MS };

export function jobSetLine(atMs: number, ended: number, synced: number) {
  const status = {
    deprecatedEpoch: ended,
    syncedEpoch: synced,
    replicatedJobsStatus: [
      {
        name: 'w',
        ready: 2,
        succeeded: 0,
        failed: 0,
        active: 2,
        suspended: 0,
        syncedEpoch: synced,
      },
    ],
  };
  return { kind: 'JobSet', atMs, jobSet: { ...JOBSET, status } };
}

export function podLine(atMs: number, index: number, epoch?: number) {
  return {
    kind: 'Pod',
    atMs,
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `train-w-0-${index}`,
        namespace: 'default',
        uid: `pod-${index}`,
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: {
          [JOBSET_NAME]: 'train',
          [JOBSET_UID]: 'set',
          [REPLICATED_JOB_NAME]: 'w',
          [JOB_INDEX]: '0',
        },
        annotations: {
          'batch.kubernetes.io/job-completion-index': String(index),
          ...(epoch === undefined ? {} : { [EPOCH]: String(epoch) }),
        },
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-0', uid: 'job', controller: true },
        ],
      },
      spec: { nodeName: 'node-0', containers: [{ name: 'worker' }] },
      status: { phase: 'Running' },
    },
  };
}

export const LINES: readonly object[] = [
  HEAD,
  { kind: 'Act', atMs: 0, text: 'nothing is there yet' },
  jobSetLine(100, 0, 0),
  podLine(200, 0),
  podLine(200, 1),
  { kind: 'Told', atMs: 300, uid: 'pod-0', epoch: 1 },
  { kind: 'Announced', atMs: 300, text: 'epoch 1 of w/0/0 has arrived' },
  podLine(400, 1, 1),
  jobSetLine(500, 0, 1),
  { kind: 'Status', atMs: 500, text: 'status: ended 0, released w 1' },
  { kind: 'Told', atMs: 6000, uid: 'pod-0', progress: { step: 4, silentMs: 10, firstStepMs: 900 } },
  { kind: 'WorkerEnds', atMs: 8000, text: 'w/0/1 ends in epoch 1: exit code 1' },
  { kind: 'PodGone', atMs: 9000, uid: 'pod-1' },
  jobSetLine(9000, 1, 1),
  { kind: 'Violated', atMs: 9000, text: 'VIOLATED: The budget holds: <b>hostile</b>' },
  { kind: 'Peace', atMs: 9500, text: '>> peace' },
];

export function textOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
