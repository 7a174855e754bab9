import type { PersistentVolumeClaim } from '../kube/core.ts';
import type { JobSpec, JobTemplateSpec } from '../kube/job.ts';
import type {
  Coordinator,
  FailurePolicy,
  FailurePolicyRule,
  JobSetSpec,
  ReplicatedJob,
  RestartStrategy,
  StartupPolicy,
  SuccessPolicy,
  VolumeClaimPolicy,
} from './jobset.ts';

/**
 * The one place where a JobSet's omissions are filled in: what upstream's CRD and admission webhook
 * default (spec 1.2-1.4 and 1.11), and what an in-place restart needs of a Job (design, section 4).
 * Defaulting twice changes nothing, so it does not matter who does it first.
 */
export function withDefaults(spec: JobSetSpec): DefaultedSpec {
  const { failurePolicy, coordinator, managedBy, ttlSecondsAfterFinished } = spec;
  const strategy = failurePolicy?.restartStrategy ?? 'Recreate';
  const isInPlace = failurePolicy !== undefined && strategy === 'InPlaceRestart';
  return {
    replicatedJobs: (spec.replicatedJobs ?? []).map((job) => defaultedJob(job, isInPlace)),
    network: {
      ...spec.network,
      enableDNSHostnames: spec.network?.enableDNSHostnames ?? true,
      publishNotReadyAddresses: spec.network?.publishNotReadyAddresses ?? true,
    },
    successPolicy: spec.successPolicy ?? { operator: 'All' },
    startupPolicy: spec.startupPolicy ?? { startupPolicyOrder: 'AnyOrder' },
    suspend: spec.suspend ?? false,
    volumeClaimPolicies: (spec.volumeClaimPolicies ?? []).map(defaultedClaims),
    ...(failurePolicy === undefined
      ? {}
      : {
          failurePolicy: {
            ...failurePolicy,
            maxRestarts: failurePolicy.maxRestarts ?? 0,
            restartStrategy: strategy,
            rules: (failurePolicy.rules ?? []).map(defaultedRule),
          },
        }),
    ...(coordinator === undefined ? {} : { coordinator }),
    ...(managedBy === undefined ? {} : { managedBy }),
    ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
  };
}

/** A `JobSetSpec` in which everything that has a default is there. */
export interface DefaultedSpec {
  readonly replicatedJobs: readonly DefaultedReplicatedJob[];
  readonly network: {
    readonly enableDNSHostnames: boolean;
    readonly publishNotReadyAddresses: boolean;
    /** Empty or absent: the JobSet's name. */
    readonly subdomain?: string;
  };
  readonly successPolicy: SuccessPolicy;
  readonly failurePolicy?: DefaultedFailurePolicy;
  readonly startupPolicy: StartupPolicy;
  readonly suspend: boolean;
  readonly coordinator?: Coordinator;
  readonly managedBy?: string;
  readonly ttlSecondsAfterFinished?: number;
  readonly volumeClaimPolicies: readonly DefaultedVolumeClaimPolicy[];
}

export interface DefaultedFailurePolicy extends FailurePolicy {
  readonly maxRestarts: number;
  readonly restartStrategy: RestartStrategy;
  readonly rules: readonly DefaultedFailurePolicyRule[];
}

export interface DefaultedFailurePolicyRule extends FailurePolicyRule {
  readonly name: string;
}

export interface DefaultedVolumeClaimPolicy extends VolumeClaimPolicy {
  readonly templates: readonly PersistentVolumeClaim[];
  readonly retentionPolicy: { readonly whenDeleted: 'Delete' | 'Retain' };
}

export interface DefaultedReplicatedJob extends ReplicatedJob {
  readonly groupName: string;
  readonly replicas: number;
  readonly template: JobTemplateSpec;
}

function defaultedRule(rule: FailurePolicyRule, index: number): DefaultedFailurePolicyRule {
  const isNamed = rule.name !== undefined && rule.name !== '';
  return { ...rule, name: isNamed ? rule.name : `failurePolicyRule${index}` };
}

function defaultedClaims(policy: VolumeClaimPolicy): DefaultedVolumeClaimPolicy {
  const { templates = [], retentionPolicy } = policy;
  return { templates, retentionPolicy: { whenDeleted: retentionPolicy?.whenDeleted ?? 'Delete' } };
}

/** `backoffLimit` of an InPlaceRestart Job: Pods that fail are replaced for ever (MaxInt32). */
export const UNLIMITED_BACKOFF = 2_147_483_647;

function defaultedJob(job: ReplicatedJob, isInPlace: boolean): DefaultedReplicatedJob {
  const { template } = job;
  const podSpec = template.spec.template.spec;
  const restartPolicy = podSpec.restartPolicy ?? (isInPlace ? 'Never' : 'OnFailure');
  const spec: JobSpec = {
    ...template.spec,
    ...(isInPlace ? inPlaceDefaults(template.spec) : {}),
    completionMode: template.spec.completionMode ?? 'Indexed',
    template: { ...template.spec.template, spec: { ...podSpec, restartPolicy } },
  };
  return {
    ...job,
    groupName: job.groupName ?? 'default',
    replicas: job.replicas ?? 1,
    template: { ...template, spec },
  };
}

function inPlaceDefaults(spec: JobSpec): Partial<JobSpec> {
  const { parallelism, completions } = spec;
  return {
    parallelism: parallelism ?? completions ?? 1,
    completions: completions ?? parallelism ?? 1,
    backoffLimit: spec.backoffLimit ?? UNLIMITED_BACKOFF,
    podReplacementPolicy: spec.podReplacementPolicy ?? 'Failed',
  };
}
