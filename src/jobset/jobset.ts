/** The types of the JobSet API. */
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { JobTemplateSpec } from '@lockstep/kube/objects/job.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import type { JobSetStatus } from './jobset-status.ts';
import { JOBSET_API_VERSION } from './names.ts';

/**
 * `jobset.x-k8s.io/v1alpha2 JobSet`. `schema/crd.ts` holds its schema; a test compares both.
 */
export interface JobSet extends KubeObject {
  readonly spec: JobSetSpec;
  readonly status?: JobSetStatus;
}

export const JOBSETS: Resource<JobSet> = resource(JOBSET_API_VERSION, 'jobsets', 'JobSet');

/** The generation of a JobSet whose spec was never changed. */
export const FIRST_GENERATION = 1;

/** It grows with every change of the spec. */
export function generationOf({ metadata }: JobSet): number {
  return metadata.generation ?? FIRST_GENERATION;
}

export interface JobSetSpec {
  readonly replicatedJobs?: readonly ReplicatedJob[];
  readonly network?: Network;
  readonly successPolicy?: SuccessPolicy;
  readonly failurePolicy?: FailurePolicy;
  readonly startupPolicy?: StartupPolicy;
  readonly suspend?: boolean;
  readonly coordinator?: Coordinator;
  readonly managedBy?: string;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly volumeClaimPolicies?: readonly VolumeClaimPolicy[];
}

export interface ReplicatedJob {
  readonly name: string;
  readonly groupName?: string;
  readonly template: JobTemplateSpec;
  readonly replicas?: number;
  readonly dependsOn?: readonly DependsOn[];
}

/** The ReplicatedJob `name` has to reach `status` before the one with this entry is started. */
export interface DependsOn {
  readonly name: string;
  readonly status: 'Ready' | 'Complete';
}

export interface Network {
  readonly enableDNSHostnames?: boolean;
  readonly subdomain?: string;
  readonly publishNotReadyAddresses?: boolean;
}

export interface SuccessPolicy {
  readonly operator: 'All' | 'Any';
  readonly targetReplicatedJobs?: readonly string[];
}

export interface FailurePolicy {
  readonly maxRestarts?: number;
  readonly restartStrategy?: RestartStrategy;
  readonly rules?: readonly FailurePolicyRule[];
}

/**
 * A rule judges the Jobs that match all of its lists; an absent or empty list matches every Job.
 */
export interface FailurePolicyRule {
  /** Part of condition reasons. Absent: `failurePolicyRule<index>`. */
  readonly name?: string;
  readonly action: FailurePolicyAction;
  /** Reasons of the Job's Failed condition. */
  readonly onJobFailureReasons?: readonly string[];
  /** RE2; one of them has to match anywhere in the message of the Failed condition. */
  readonly onJobFailureMessagePatterns?: readonly string[];
  readonly targetReplicatedJobs?: readonly string[];
}

export type FailurePolicyAction =
  | 'FailJobSet'
  | 'RestartJobSet'
  | 'RestartJobSetAndIgnoreMaxRestarts'
  | 'RestartJob'
  | 'RestartJobAndIgnoreMaxRestarts';

export type RestartStrategy = 'Recreate' | 'BlockingRecreate' | 'InPlaceRestart';

export interface StartupPolicy {
  readonly startupPolicyOrder: 'AnyOrder' | 'InOrder';
}

/** PersistentVolumeClaims that all Jobs share, named `<template>-<jobset>`. */
export interface VolumeClaimPolicy {
  readonly templates?: readonly PersistentVolumeClaim[];
  readonly retentionPolicy?: { readonly whenDeleted?: 'Delete' | 'Retain' };
}

export interface Coordinator {
  readonly replicatedJob: string;
  readonly jobIndex?: number;
  readonly podIndex?: number;
}
