/** Jobs and Pods for the tests of this folder. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import {
  COMPLETION_INDEX,
  INDEX_FAILURE_COUNT,
  JOB_TRACKING_FINALIZER,
  type Job,
  type JobSpec,
} from '@lockstep/kube/objects/job.ts';
import type { Pod, PodPhase } from '@lockstep/kube/objects/pod.ts';
import { type JobPlan, type JobSnapshot, planJob } from './plan.ts';

export const NOW_MS = Date.parse('2026-01-01T00:10:00Z');

export function jobOf(
  spec: Partial<JobSpec> = {},
  status: Job['status'] = { startTime: '2026-01-01T00:00:00Z' },
): Stored<Job> {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'train',
      namespace: 'team',
      uid: 'job-uid',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      parallelism: 2,
      completions: 2,
      completionMode: 'Indexed',
      backoffLimit: 6,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main' }] } },
      ...spec,
    },
    ...defined({ status }),
  };
}

export interface PodTraits {
  readonly uid: string;
  readonly index?: number;
  readonly phase?: PodPhase;
  readonly isReady?: boolean;
  readonly readySince?: string;
  readonly node?: string | undefined;
  readonly deletedAt?: string;
  readonly createdAt?: string;
  readonly isUntracked?: boolean;
  readonly finishedAt?: string;
  readonly restarts?: number;
  readonly exitCode?: number;
  /** Earlier failures of its index, under `backoffLimitPerIndex`. */
  readonly failuresBefore?: number;
  /** A condition that is True. */
  readonly condition?: string;
}

export function podOf(traits: PodTraits): Stored<Pod> {
  const { uid, index, phase = 'Running', isReady = false, deletedAt, failuresBefore } = traits;
  const { finishedAt = '2026-01-01T00:00:00Z', exitCode, condition } = traits;
  const hasEnd = traits.finishedAt !== undefined || exitCode !== undefined;
  const node = 'node' in traits ? traits.node : 'n1';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `train-${uid}`,
      namespace: 'team',
      uid,
      resourceVersion: '1',
      creationTimestamp: traits.createdAt ?? '2026-01-01T00:00:00Z',
      ...defined({ deletionTimestamp: deletedAt }),
      annotations: {
        ...(index === undefined ? {} : { [COMPLETION_INDEX]: `${index}` }),
        ...(failuresBefore === undefined ? {} : { [INDEX_FAILURE_COUNT]: `${failuresBefore}` }),
      },
      finalizers: traits.isUntracked === true ? [] : [JOB_TRACKING_FINALIZER],
    },
    spec: { containers: [{ name: 'main' }], ...defined({ nodeName: node }) },
    status: {
      phase,
      conditions: [
        {
          type: 'Ready',
          status: isReady ? 'True' : 'False',
          ...defined({ lastTransitionTime: traits.readySince }),
        },
        ...(condition === undefined ? [] : [{ type: condition, status: 'True' as const }]),
      ],
      containerStatuses: [
        {
          name: 'main',
          ready: isReady,
          restartCount: traits.restarts ?? 0,
          image: '',
          imageID: '',
          state: hasEnd ? { terminated: { exitCode: exitCode ?? 1, finishedAt } } : {},
        },
      ],
    },
  };
}

export function planOf(job: Stored<Job>, pods: readonly PodTraits[], more?: Partial<JobSnapshot>) {
  const none = new Set<string>();
  const known = { untracked: none, deleted: none, streak: undefined, creationHeldUntilMs: 0 };
  return planJob({ job, pods: pods.map(podOf), ...known, nowMs: NOW_MS, ...more });
}

/** The condition types that are True after the plan. */
export function trueTypes({ status }: JobPlan): readonly string[] {
  return (status.conditions ?? []).filter((c) => c.status === 'True').map((c) => c.type);
}

export function uids(pods: readonly Stored<Pod>[]): readonly string[] {
  return pods.map((pod) => pod.metadata.uid);
}
