import type { Condition, KubeObject, LabelSelector, ObjectMeta } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';
import type { PodTemplateSpec } from './pod.ts';

/** `batch/v1 Job`. */
export interface Job extends KubeObject {
  readonly spec: JobSpec;
  readonly status?: JobStatus;
}

export const JOBS: Resource<Job> = resource('batch/v1', 'jobs', 'Job');

/** The `spec.managedBy` of Kubernetes' own Job controller; absent means this too. */
const JOB_CONTROLLER = 'kubernetes.io/job-controller';

/** The controller in charge of the Job, if it is not Kubernetes' Job controller. */
export function externalManager({ spec }: Job): string | undefined {
  return spec.managedBy === JOB_CONTROLLER ? undefined : spec.managedBy;
}

export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: JobSpec;
}

export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly completionMode?: 'Indexed' | 'NonIndexed';
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly successPolicy?: SuccessPolicy;
  readonly managedBy?: string;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly template: PodTemplateSpec;
}

/** The first rule that matches a failed Pod decides. */
export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[];
}

export interface PodFailurePolicyRule {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore';
  readonly onExitCodes?: {
    readonly containerName?: string;
    readonly operator: 'In' | 'NotIn';
    readonly values: readonly number[];
  };
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

/** The Job succeeds as soon as one rule is fulfilled. */
export interface SuccessPolicy {
  readonly rules: readonly {
    /** For example `0,2-5`. */
    readonly succeededIndexes?: string;
    readonly succeededCount?: number;
  }[];
}

export interface JobStatus {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  /** Pods that are Pending or Running and not being deleted. */
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  /** For example `0,2-5`. */
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: {
    readonly succeeded?: readonly string[];
    readonly failed?: readonly string[];
  };
}

export type JobCondition = Pick<Condition, 'type' | 'status'> &
  Partial<Condition> & { readonly lastProbeTime?: string };

/** `batch.kubernetes.io/...` names that the Job controller writes on Pods. */
export const JOB_NAME_LABEL = 'batch.kubernetes.io/job-name';
export const CONTROLLER_UID_LABEL = 'batch.kubernetes.io/controller-uid';
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** Pod annotations under `backoffLimitPerIndex`: earlier failures of the Pod's index. */
export const INDEX_FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count';
export const INDEX_IGNORED_FAILURE_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count';
export const JOB_TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
