import type { Job, JobSpec } from '../../kube/job.ts';
import type { OwnerReference, StringMap } from '../../kube/meta.ts';
import type { PodSpec, PodTemplateSpec } from '../../kube/pod.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';
import { JOBSETS } from '../jobset.ts';
import * as names from '../names.ts';
import { coordinatorEndpoint, jobKey, jobName, subdomainOf } from '../naming.ts';
import {
  type PlacementRequest,
  placementRequest,
  withNodeSelectorStrategy,
} from '../placement-annotations.ts';
import { translateRestartRules } from '../restart-rules/restart-rules.ts';
import { withClaimVolumes } from '../volume-claims.ts';

/**
 * Child Jobs as a JobSet asks for them (spec 2, 3, 4.5): the template, reserved labels and
 * annotations over the user's, the subdomain, the volumes of shared claims, the suspend state always
 * said, and for an in-place restart the agent. The same input gives the same Job, whoever builds it
 * and when.
 */
export interface JobBlueprint {
  readonly jobSet: JobSetIdentity;
  readonly spec: DefaultedSpec;
  /** Of the JobSet. */
  readonly annotations: StringMap | undefined;
  readonly restarts: number;
  /** By ReplicatedJob and job index; undefined without the gate `RestartJob`. */
  readonly jobRestarts: ReadonlyMap<string, readonly number[]> | undefined;
  /** Undefined before the first run, and without its gate. */
  readonly executionAttempt: number | undefined;
  readonly inject: InjectAgent;
}

export interface JobSetIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Adds the agent to a Pod template, or returns it as it is; `agent/agent-injection.ts` decides. */
export type InjectAgent = (template: PodTemplateSpec) => PodTemplateSpec;

export type BuildJob = (replicatedJob: DefaultedReplicatedJob, jobIndex: number) => Job;

/** What is the same for all Jobs is worked out once, so that n Jobs cost n steps. */
export function jobBuilder(blueprint: JobBlueprint): BuildJob {
  const positions = positionsOf(blueprint.spec.replicatedJobs);
  return (replicatedJob, jobIndex) => {
    const position = positions.get(replicatedJob.name) ?? NOWHERE;
    return build(blueprint, { replicatedJob, position, jobIndex });
  };
}

export function ownerReferenceTo(jobSet: JobSetIdentity): OwnerReference {
  return {
    apiVersion: names.JOBSET_API_VERSION,
    kind: JOBSETS.kind,
    name: jobSet.name,
    uid: jobSet.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Where a ReplicatedJob's Jobs stand among all, and among those of its group. */
interface Position {
  readonly globalReplicas: number;
  readonly globalOffset: number;
  readonly groupReplicas: number;
  readonly groupOffset: number;
}

const NOWHERE: Position = { globalReplicas: 0, globalOffset: 0, groupReplicas: 0, groupOffset: 0 };

interface Place {
  readonly replicatedJob: DefaultedReplicatedJob;
  readonly position: Position;
  readonly jobIndex: number;
}

function positionsOf(
  replicatedJobs: readonly DefaultedReplicatedJob[],
): ReadonlyMap<string, Position> {
  let globalOffset = 0;
  const groups = new Map<string, number>();
  const offsets = replicatedJobs.map(({ name, groupName, replicas }) => {
    const offset = { name, groupName, globalOffset, groupOffset: groups.get(groupName) ?? 0 };
    globalOffset += replicas;
    groups.set(groupName, offset.groupOffset + replicas);
    return offset;
  });
  const globalReplicas = globalOffset;
  return new Map(
    offsets.map(({ name, groupName, ...offset }) => {
      return [name, { ...offset, globalReplicas, groupReplicas: groups.get(groupName) ?? 0 }];
    }),
  );
}

function build(blueprint: JobBlueprint, place: Place): Job {
  const { jobSet, spec, annotations } = blueprint;
  const { replicatedJob, jobIndex } = place;
  const { template } = replicatedJob;
  const name = jobName(jobSet.name, replicatedJob.name, jobIndex);
  const keys = reservedKeys(blueprint, place);
  const placement = placementRequest(annotations, template.metadata?.annotations);
  const notes = {
    ...keys,
    ...placement?.annotations,
    ...executionAttempt(blueprint.executionAttempt),
  };
  const jobSpec: JobSpec = {
    ...template.spec,
    suspend: spec.suspend,
    template: podTemplate(blueprint, replicatedJob, { name, keys, notes, placement }),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: jobSet.namespace,
      labels: overlaid(template.metadata?.labels, keys),
      annotations: overlaid(template.metadata?.annotations, notes),
      ownerReferences: [ownerReferenceTo(jobSet)],
      ...(template.metadata?.finalizers === undefined
        ? {}
        : { finalizers: template.metadata.finalizers }),
    },
    spec: jobSpec,
  };
}

interface JobFacts {
  readonly name: string;
  readonly keys: StringMap;
  /** The keys with what is an annotation only. */
  readonly notes: StringMap;
  readonly placement: PlacementRequest | undefined;
}

function podTemplate(
  { jobSet, spec, inject }: JobBlueprint,
  { template: { spec: jobSpec } }: DefaultedReplicatedJob,
  { name, keys, notes, placement }: JobFacts,
): PodTemplateSpec {
  const { template } = jobSpec;
  const podSpec: PodSpec = {
    ...template.spec,
    ...(spec.network.enableDNSHostnames ? { subdomain: subdomainOf(jobSet.name, spec) } : {}),
  };
  const placed =
    placement?.hasNodeSelectorStrategy === true
      ? withNodeSelectorStrategy(podSpec, jobSet.namespace, name)
      : podSpec;
  const labelled: PodTemplateSpec = {
    ...template,
    metadata: {
      ...template.metadata,
      labels: overlaid(template.metadata?.labels, keys),
      annotations: overlaid(template.metadata?.annotations, notes),
    },
    spec: withClaimVolumes(placed, spec.volumeClaimPolicies, jobSet.name),
  };
  return translateRestartRules(inject(labelled));
}

/** Reserved keys over the user's; nothing is copied where there are none of the user's. */
function overlaid(ofUser: StringMap | undefined, reserved: StringMap): StringMap {
  return ofUser === undefined ? reserved : { ...ofUser, ...reserved };
}

function executionAttempt(attempt: number | undefined): StringMap {
  return attempt === undefined ? {} : { [names.EXECUTION_ATTEMPT]: String(attempt) };
}

function reservedKeys(blueprint: JobBlueprint, place: Place): StringMap {
  const { jobSet, spec, restarts, jobRestarts } = blueprint;
  const { replicatedJob, position, jobIndex } = place;
  const { coordinator } = spec;
  const name = jobName(jobSet.name, replicatedJob.name, jobIndex);
  const ownAttempt = jobRestarts?.get(replicatedJob.name)?.[jobIndex] ?? 0;
  return {
    [names.JOBSET_NAME]: jobSet.name,
    [names.JOBSET_UID]: jobSet.uid,
    [names.REPLICATED_JOB_NAME]: replicatedJob.name,
    [names.REPLICATED_JOB_REPLICAS]: String(replicatedJob.replicas),
    [names.GLOBAL_REPLICAS]: String(position.globalReplicas),
    [names.JOB_INDEX]: String(jobIndex),
    [names.JOB_GLOBAL_INDEX]: String(position.globalOffset + jobIndex),
    [names.JOB_KEY]: jobKey(jobSet.namespace, name),
    [names.RESTART_ATTEMPT]: String(restarts),
    ...(jobRestarts === undefined ? {} : { [names.JOB_RESTART_ATTEMPT]: String(ownAttempt) }),
    [names.GROUP_NAME]: replicatedJob.groupName,
    [names.GROUP_REPLICAS]: String(position.groupReplicas),
    [names.JOB_GROUP_INDEX]: String(position.groupOffset + jobIndex),
    ...(coordinator === undefined
      ? {}
      : {
          [names.COORDINATOR]: coordinatorEndpoint(
            jobSet.name,
            coordinator,
            subdomainOf(jobSet.name, spec),
          ),
        }),
  };
}
