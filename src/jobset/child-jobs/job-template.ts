/**
 * Builds the child Jobs of a JobSet. A Job has the template, reserved labels and annotations over
 * the user's, the subdomain, the volumes of shared claims, an explicit suspend state, and the agent
 * if it restarts in place. The same input always gives the same Job.
 */
import type { ObjectMeta, StringMap } from '@lockstep/kube/meta.ts';
import type { Job, JobSpec } from '@lockstep/kube/objects/job.ts';
import type { PodSpec, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';
import { coordinatorEndpoint, jobKey, jobName, type Sha1, subdomainOf } from '../derived-names.ts';
import type { InjectAgent } from '../injection/agent-mode.ts';
import { AVOIDS_NODES, mayAvoidNodes } from '../injection/node-avoidance.ts';
import { type JobSetIdentity, ownerReferenceTo } from '../membership.ts';
import * as names from '../names.ts';
import { placementRequest, withNodeSelectorStrategy } from '../placement-annotations.ts';
import { translateRestartRules } from '../restart-rules/restart-rules.ts';
import { withClaimVolumes } from '../volume-claims.ts';

export interface JobBlueprint {
  readonly jobSet: JobSetIdentity;
  readonly spec: DefaultedSpec;
  /** The annotations of the JobSet. */
  readonly annotations: StringMap | undefined;
  readonly restarts: number;
  /** By ReplicatedJob and job index; undefined without the gate `RestartJob`. */
  readonly jobRestarts: ReadonlyMap<string, readonly number[]> | undefined;
  /** Undefined before the first run, and without its gate. */
  readonly executionAttempt: number | undefined;
  readonly inject: InjectAgent;
  readonly sha1: Sha1;
}

export type BuildJob = (replicatedJob: DefaultedReplicatedJob, jobIndex: number) => Job;

/**
 * Computes parts that all Jobs share once, and the parts of a ReplicatedJob with its first Job. Each
 * further Job costs only its own parts.
 */
export function jobBuilder(blueprint: JobBlueprint): BuildJob {
  const positions = positionsOf(blueprint.spec.replicatedJobs);
  const patterns = new Map<DefaultedReplicatedJob, Pattern>();
  return (replicatedJob, jobIndex) => {
    let pattern = patterns.get(replicatedJob);
    if (pattern === undefined) {
      const position = positions.get(replicatedJob.name) ?? NOWHERE;
      pattern = patternOf(blueprint, replicatedJob, position);
      patterns.set(replicatedJob, pattern);
    }
    return build(blueprint, pattern, jobIndex);
  };
}

/** The position of a ReplicatedJob's Jobs among all, and in their group. */
interface Position {
  readonly globalReplicas: number;
  readonly globalOffset: number;
  readonly groupReplicas: number;
  readonly groupOffset: number;
}

const NOWHERE: Position = { globalReplicas: 0, globalOffset: 0, groupReplicas: 0, groupOffset: 0 };

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

/** The common parts of a ReplicatedJob's Jobs. Keys of a single Job are present without a value. */
interface Pattern {
  readonly replicatedJob: DefaultedReplicatedJob;
  readonly position: Position;
  readonly metadata: ObjectMeta;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly spec: JobSpec;
  readonly template: PodTemplateSpec;
  readonly hasNodeSelectorStrategy: boolean;
}

function patternOf(
  blueprint: JobBlueprint,
  replicatedJob: DefaultedReplicatedJob,
  position: Position,
): Pattern {
  const { jobSet, spec, annotations } = blueprint;
  const { metadata, spec: jobSpec } = replicatedJob.template;
  const labels = reservedKeys(blueprint, replicatedJob, position);
  const placement = placementRequest(annotations, metadata?.annotations);
  const notes = {
    ...labels,
    ...placement?.annotations,
    ...executionAttempt(blueprint.executionAttempt),
  };
  const ofPods = mayAvoidNodes(annotations) ? { ...labels, ...AVOIDS_NODES } : labels;
  const template = podTemplate(blueprint, replicatedJob, { labels: ofPods, annotations: notes });
  return {
    replicatedJob,
    position,
    labels: overlaid(metadata?.labels, labels),
    annotations: overlaid(metadata?.annotations, notes),
    metadata: {
      name: '',
      namespace: jobSet.namespace,
      labels,
      annotations: notes,
      ownerReferences: [ownerReferenceTo(jobSet)],
      ...(metadata?.finalizers === undefined ? {} : { finalizers: metadata.finalizers }),
    },
    spec: { ...jobSpec, suspend: spec.suspend, template },
    template,
    hasNodeSelectorStrategy: placement?.hasNodeSelectorStrategy === true,
  };
}

function podTemplate(
  { jobSet, spec, inject }: JobBlueprint,
  {
    name,
    template: {
      spec: { template },
    },
  }: DefaultedReplicatedJob,
  { labels, annotations }: { readonly labels: StringMap; readonly annotations: StringMap },
): PodTemplateSpec {
  const podSpec: PodSpec = {
    ...template.spec,
    ...(spec.network.enableDNSHostnames ? { subdomain: subdomainOf(jobSet.name, spec) } : {}),
  };
  const labelled: PodTemplateSpec = {
    ...template,
    metadata: {
      ...template.metadata,
      labels: overlaid(template.metadata?.labels, labels),
      annotations: overlaid(template.metadata?.annotations, annotations),
    },
    spec: withClaimVolumes(podSpec, spec.volumeClaimPolicies, jobSet.name),
  };
  return translateRestartRules(inject(labelled, name));
}

/**
 * Every field of a single Job is already in the pattern, because V8 copies objects of one shape
 * fast. Job and Pods share their labels if the user set none.
 */
function build(blueprint: JobBlueprint, pattern: Pattern, jobIndex: number): Job {
  const { jobSet } = blueprint;
  const { template } = pattern;
  const name = jobName(jobSet.name, pattern.replicatedJob.name, jobIndex);
  const keys = ownKeys(blueprint, pattern, { name, jobIndex });
  const labels = { ...pattern.labels, ...keys };
  const annotations = { ...pattern.annotations, ...keys };
  const ofPods = template.metadata ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...pattern.metadata, name, labels, annotations },
    spec: {
      ...pattern.spec,
      template: {
        ...template,
        metadata: {
          ...ofPods,
          labels: ofPods.labels === pattern.labels ? labels : { ...ofPods.labels, ...keys },
          annotations:
            ofPods.annotations === pattern.annotations
              ? annotations
              : { ...ofPods.annotations, ...keys },
        },
        spec: pattern.hasNodeSelectorStrategy
          ? withNodeSelectorStrategy(template.spec, jobSet.namespace, name)
          : template.spec,
      },
    },
  };
}

/** The user's keys with the reserved ones over them; copies nothing if the user has none. */
function overlaid(ofUser: StringMap | undefined, reserved: StringMap): StringMap {
  return ofUser === undefined ? reserved : { ...ofUser, ...reserved };
}

function executionAttempt(attempt: number | undefined): StringMap {
  return attempt === undefined ? {} : { [names.EXECUTION_ATTEMPT]: String(attempt) };
}

/** All reserved keys. Keys of a single Job, which `ownKeys` fills in, are empty. */
function reservedKeys(
  { jobSet, spec, restarts, jobRestarts }: JobBlueprint,
  replicatedJob: DefaultedReplicatedJob,
  position: Position,
): StringMap {
  const { coordinator } = spec;
  return {
    [names.JOBSET_NAME]: jobSet.name,
    [names.JOBSET_UID]: jobSet.uid,
    [names.REPLICATED_JOB_NAME]: replicatedJob.name,
    [names.REPLICATED_JOB_REPLICAS]: String(replicatedJob.replicas),
    [names.GLOBAL_REPLICAS]: String(position.globalReplicas),
    [names.JOB_INDEX]: '',
    [names.JOB_GLOBAL_INDEX]: '',
    [names.JOB_KEY]: '',
    [names.RESTART_ATTEMPT]: String(restarts),
    ...(jobRestarts === undefined ? {} : { [names.JOB_RESTART_ATTEMPT]: '' }),
    [names.GROUP_NAME]: replicatedJob.groupName,
    [names.GROUP_REPLICAS]: String(position.groupReplicas),
    [names.JOB_GROUP_INDEX]: '',
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

function ownKeys(
  { jobSet, jobRestarts, sha1 }: JobBlueprint,
  { replicatedJob, position }: Pattern,
  { name, jobIndex }: { readonly name: string; readonly jobIndex: number },
): StringMap {
  const attempt = jobRestarts?.get(replicatedJob.name)?.[jobIndex] ?? 0;
  return {
    [names.JOB_INDEX]: String(jobIndex),
    [names.JOB_GLOBAL_INDEX]: String(position.globalOffset + jobIndex),
    [names.JOB_KEY]: jobKey(jobSet.namespace, name, sha1),
    ...(jobRestarts === undefined ? {} : { [names.JOB_RESTART_ATTEMPT]: String(attempt) }),
    [names.JOB_GROUP_INDEX]: String(position.groupOffset + jobIndex),
  };
}
