import type { Job, JobSpec } from '../kube/job.ts';
import type { OwnerReference, StringMap } from '../kube/meta.ts';
import type { PodTemplateSpec } from '../kube/pod.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from './defaults.ts';
import { JOBSETS } from './jobset.ts';
import * as names from './names.ts';
import { coordinatorEndpoint, jobKey, jobName, subdomainOf } from './naming.ts';
import { translateRestartRules } from './restart-rules.ts';

/**
 * Child Jobs as a JobSet asks for them (spec 2.1, 3, 4.5): the template, reserved labels and
 * annotations over the user's, the subdomain, the suspend state always said, and for an in-place
 * restart the agent. The same input gives the same Job, whoever builds it and when.
 */
export interface JobSetIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Adds the agent to a Pod template, or returns it as it is; `agent-injection.ts` decides. */
export type InjectAgent = (template: PodTemplateSpec) => PodTemplateSpec;

export function buildJob(
  jobSet: JobSetIdentity,
  spec: DefaultedSpec,
  replicatedJob: DefaultedReplicatedJob,
  jobIndex: number,
  restarts: number,
  inject: InjectAgent,
): Job {
  const name = jobName(jobSet.name, replicatedJob.name, jobIndex);
  const keys = reservedKeys(jobSet, spec, replicatedJob, jobIndex, restarts);
  const { template } = replicatedJob;
  const jobSpec: JobSpec = {
    ...template.spec,
    suspend: spec.suspend,
    template: podTemplate(jobSet, spec, template.spec.template, keys, inject),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: jobSet.namespace,
      labels: { ...template.metadata?.labels, ...keys },
      annotations: { ...template.metadata?.annotations, ...keys },
      ownerReferences: [ownerReferenceTo(jobSet)],
      ...(template.metadata?.finalizers === undefined
        ? {}
        : { finalizers: template.metadata.finalizers }),
    },
    spec: jobSpec,
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

function podTemplate(
  jobSet: JobSetIdentity,
  spec: DefaultedSpec,
  template: PodTemplateSpec,
  keys: StringMap,
  inject: InjectAgent,
): PodTemplateSpec {
  const labelled: PodTemplateSpec = {
    ...template,
    metadata: {
      ...template.metadata,
      labels: { ...template.metadata?.labels, ...keys },
      annotations: { ...template.metadata?.annotations, ...keys },
    },
    spec: {
      ...template.spec,
      ...(spec.network.enableDNSHostnames ? { subdomain: subdomainOf(jobSet.name, spec) } : {}),
    },
  };
  return translateRestartRules(inject(labelled));
}

function reservedKeys(
  jobSet: JobSetIdentity,
  spec: DefaultedSpec,
  replicatedJob: DefaultedReplicatedJob,
  jobIndex: number,
  restarts: number,
): StringMap {
  const { coordinator, replicatedJobs } = spec;
  const ofGroup = replicatedJobs.filter((each) => each.groupName === replicatedJob.groupName);
  return {
    [names.JOBSET_NAME]: jobSet.name,
    [names.JOBSET_UID]: jobSet.uid,
    [names.REPLICATED_JOB_NAME]: replicatedJob.name,
    [names.REPLICATED_JOB_REPLICAS]: String(replicatedJob.replicas),
    [names.GLOBAL_REPLICAS]: String(sumOfReplicas(replicatedJobs)),
    [names.JOB_INDEX]: String(jobIndex),
    [names.JOB_GLOBAL_INDEX]: String(replicasBefore(replicatedJobs, replicatedJob) + jobIndex),
    [names.JOB_KEY]: jobKey(jobSet.namespace, jobName(jobSet.name, replicatedJob.name, jobIndex)),
    [names.RESTART_ATTEMPT]: String(restarts),
    [names.GROUP_NAME]: replicatedJob.groupName,
    [names.GROUP_REPLICAS]: String(sumOfReplicas(ofGroup)),
    [names.JOB_GROUP_INDEX]: String(replicasBefore(ofGroup, replicatedJob) + jobIndex),
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

function sumOfReplicas(replicatedJobs: readonly DefaultedReplicatedJob[]): number {
  return replicatedJobs.reduce((sum, { replicas }) => sum + replicas, 0);
}

function replicasBefore(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  replicatedJob: DefaultedReplicatedJob,
): number {
  const position = replicatedJobs.findIndex(({ name }) => name === replicatedJob.name);
  return sumOfReplicas(replicatedJobs.slice(0, position));
}
