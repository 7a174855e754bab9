/** Makes a Job's Pods from its template. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { OwnerReference, Stored, StringMap } from '@lockstep/kube/meta.ts';
import {
  COMPLETION_INDEX,
  JOB_TRACKING_FINALIZER,
  JOBS,
  type Job,
} from '@lockstep/kube/objects/job.ts';
import { type Container, type EnvVar, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import { failureCountAnnotations } from './index-failures.ts';

/**
 * The Pod that a Job creates, for a completion index or without one. The template already has the
 * labels that select the Pod: the API server added them when the Job was created. `replaced` is the
 * failed Pod of this index, if any.
 */
export function podFromTemplate(
  job: Stored<Job>,
  index: number | undefined,
  replaced?: Stored<Pod>,
): Pod {
  const { metadata = {}, spec } = job.spec.template;
  const { name, namespace } = job.metadata;
  const pod: Pod = {
    ...typeMetaOf(PODS),
    metadata: {
      generateName: generatedPrefix(name, index),
      ...defined({ namespace, labels: metadata.labels, annotations: metadata.annotations }),
      finalizers: [...new Set([...(metadata.finalizers ?? []), JOB_TRACKING_FINALIZER])],
      ownerReferences: [referenceToJob(job)],
    },
    spec,
  };
  if (index === undefined) return pod;
  return withIndex(pod, `${index}`, name, failureCountAnnotations(job, replaced));
}

/** The owner reference by which the Job controls the Pod. */
export function referenceToJob({ metadata }: Stored<Job>): OwnerReference {
  return {
    ...typeMetaOf(JOBS),
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The API server cuts `generateName` bases to this length; the index must survive that. */
const MAX_GENERATED_BASE_LENGTH = 58;

function generatedPrefix(jobName: string, index: number | undefined): string {
  const suffix = index === undefined ? '-' : `-${index}-`;
  return jobName.slice(0, MAX_GENERATED_BASE_LENGTH - suffix.length) + suffix;
}

const INDEX_VARIABLE: EnvVar = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
};

function withIndex(pod: Pod, index: string, jobName: string, counts: StringMap): Pod {
  const { metadata, spec } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [COMPLETION_INDEX]: index },
      annotations: { ...metadata.annotations, [COMPLETION_INDEX]: index, ...counts },
    },
    spec: {
      ...spec,
      hostname: `${jobName}-${index}`,
      containers: spec.containers.map(withIndexVariable),
      ...(spec.initContainers === undefined
        ? {}
        : { initContainers: spec.initContainers.map(withIndexVariable) }),
    },
  };
}

function withIndexVariable(container: Container): Container {
  const env = container.env ?? [];
  if (env.some((variable) => variable.name === INDEX_VARIABLE.name)) return container;
  return { ...container, env: [...env, INDEX_VARIABLE] };
}
