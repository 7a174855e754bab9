/**
 * The one place where missing fields of a JobSet are filled in. Fills in what upstream's definition
 * and admission webhook default, and what an in-place restart needs of a Job. Idempotent, so it
 * does not matter which program does it first.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { JobSpec, JobTemplateSpec } from '@lockstep/kube/objects/job.ts';
import type { Container } from '@lockstep/kube/objects/pod.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from './feature-gates.ts';
import type {
  Coordinator,
  FailurePolicy,
  FailurePolicyRule,
  JobSet,
  JobSetSpec,
  ReplicatedJob,
  RestartStrategy,
  StartupPolicy,
  SuccessPolicy,
  VolumeClaimPolicy,
} from './jobset.ts';

export function withDefaults(
  spec: JobSetSpec = {},
  gates: Pick<FeatureGates, 'InPlaceRestart'> = DEFAULT_FEATURE_GATES,
): DefaultedSpec {
  const { failurePolicy, coordinator, managedBy } = spec;
  const { activeDeadlineSeconds, ttlSecondsAfterFinished } = spec;
  const strategy = failurePolicy?.restartStrategy ?? 'Recreate';
  const isInPlace = gates.InPlaceRestart && strategy === 'InPlaceRestart';
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
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
  };
}

/**
 * The JobSet as its creation stores it. It has only the defaults that the mutating webhook fills in,
 * because an explicit default is a field that its owner cannot leave out later. The webhook runs
 * before the schema is checked: a JobSet of another shape is returned as it is.
 */
export function defaultJobSet(jobSet: JobSet, gates: FeatureGates): JobSet {
  const given: unknown = jobSet.spec ?? {};
  if (!isDefaultable(given)) return jobSet;
  const full = withDefaults(given, gates);
  const named = defaultUpdatedJobSet({ ...jobSet, spec: given }).spec;
  const { replicatedJobs, volumeClaimPolicies } = given;
  const spec: JobSetSpec = {
    ...named,
    network: full.network,
    successPolicy: full.successPolicy,
    startupPolicy: full.startupPolicy,
    ...(replicatedJobs === undefined
      ? {}
      : {
          replicatedJobs: replicatedJobs.map((job, index) => {
            const template = full.replicatedJobs[index]?.template ?? job.template;
            return { ...job, template };
          }),
        }),
    ...(volumeClaimPolicies === undefined
      ? {}
      : {
          volumeClaimPolicies: volumeClaimPolicies.map((policy) => {
            const { retentionPolicy } = defaultedClaims(policy);
            return { ...policy, retentionPolicy };
          }),
        }),
  };
  return { ...jobSet, spec };
}

/**
 * A changed JobSet as it is stored. A client that applies its manifest again sends its list of rules
 * without the names that creation filled in. The names are put back, because the list is immutable.
 */
export function defaultUpdatedJobSet(jobSet: JobSet): JobSet {
  const given: unknown = jobSet.spec ?? {};
  if (!isDefaultable(given)) return jobSet;
  const { failurePolicy } = given;
  if (failurePolicy?.rules === undefined) return jobSet;
  const rules = failurePolicy.rules.map(defaultedRule);
  return { ...jobSet, spec: { ...given, failurePolicy: { ...failurePolicy, rules } } };
}

/** Whether all fields that defaulting reads have the types of the schema. */
function isDefaultable(spec: unknown): spec is JobSetSpec {
  if (!isJsonObject(spec)) return false;
  const { replicatedJobs, network, failurePolicy, volumeClaimPolicies } = spec;
  return (
    isAbsentOr(replicatedJobs, (jobs) => isListOf(jobs, hasPodSpec)) &&
    isAbsentOr(network, isJsonObject) &&
    isAbsentOr(failurePolicy, (policy) => {
      const isObject = isJsonObject(policy);
      return isObject && isAbsentOr(policy['rules'], (rules) => isListOf(rules, isJsonObject));
    }) &&
    isAbsentOr(volumeClaimPolicies, (policies) => isListOf(policies, hasRetentionPolicy))
  );
}

function isAbsentOr(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value === undefined || isRight(value);
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isRight);
}

function hasPodSpec(replicatedJob: unknown): boolean {
  let at = replicatedJob;
  for (const member of ['template', 'spec', 'template', 'spec']) {
    if (!isJsonObject(at)) return false;
    at = at[member];
  }
  if (!isJsonObject(at)) return false;
  const { containers, initContainers } = at;
  return [containers ?? [], initContainers ?? []].every((list) => isListOf(list, isJsonObject));
}

function hasRetentionPolicy(policy: unknown): boolean {
  return isJsonObject(policy) && isAbsentOr(policy['retentionPolicy'], isJsonObject);
}

/** A `JobSetSpec` with all defaults. */
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
  readonly activeDeadlineSeconds?: number;
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

/** `backoffLimit` of an InPlaceRestart Job: failed Pods are replaced for ever (MaxInt32). */
export const UNLIMITED_BACKOFF = 2_147_483_647;

function defaultedJob(job: ReplicatedJob, isInPlace: boolean): DefaultedReplicatedJob {
  const { template } = job;
  const podSpec = template.spec.template.spec;
  // Clients may send a missing text as an empty one.
  const restartPolicy = podSpec.restartPolicy || (isInPlace ? 'Never' : 'OnFailure');
  const spec: JobSpec = {
    ...template.spec,
    ...(isInPlace ? inPlaceDefaults(template.spec) : {}),
    completionMode: template.spec.completionMode || 'Indexed',
    template: {
      ...template.spec.template,
      spec: {
        ...podSpec,
        restartPolicy,
        ...(podSpec.containers && { containers: podSpec.containers.map(withoutEmptyPolicy) }),
        ...(podSpec.initContainers && {
          initContainers: podSpec.initContainers.map(withoutEmptyPolicy),
        }),
      },
    },
  };
  return {
    ...job,
    groupName: job.groupName ?? 'default',
    replicas: job.replicas ?? 1,
    template: { ...template, spec },
  };
}

function withoutEmptyPolicy(container: Container): Container {
  const { restartPolicy, ...rest } = container;
  const given: string | undefined = restartPolicy;
  return given === '' ? rest : container;
}

function inPlaceDefaults(spec: JobSpec): Partial<JobSpec> {
  const { parallelism, completions } = spec;
  return {
    parallelism: parallelism ?? completions ?? 1,
    completions: completions ?? parallelism ?? 1,
    backoffLimit: spec.backoffLimit ?? UNLIMITED_BACKOFF,
    podReplacementPolicy: spec.podReplacementPolicy || 'Failed',
  };
}
