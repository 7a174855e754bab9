/** Resumes one child Job. */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { ObjectMeta, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { externalManager, type Job } from '@lockstep/kube/objects/job.ts';
import type { PodSpec, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { EXECUTION_ATTEMPT } from '../names.ts';
import { isTrue } from '../status/conditions.ts';
import { resourceChanges } from './container-resources.ts';

/**
 * A resumed Job gets everything from the template that may change while a JobSet is suspended: Pod
 * labels, annotations, node selector, tolerations, scheduling gates, and container resources. It
 * loses what the template has lost.
 */
export type Resume =
  /** Kubernetes does not accept these changes yet. */
  { readonly kind: 'Wait' } | ({ readonly kind: 'Resume' } & JobResume);

export interface JobResume {
  /** Before 1.35 Kubernetes accepts no changes of a Job with a start time. */
  readonly clearsStartTime: boolean;
  /** True if Kubernetes may refuse the change because of container resources. */
  readonly changesResources: boolean;
  /** A merge patch of the Job. */
  readonly patch: {
    readonly metadata?: Pick<ObjectMeta, 'annotations'>;
    readonly spec: Readonly<Record<string, unknown>>;
  };
}

/** `desired` is the Job as it would be made now. */
export function resumeOf(job: Stored<Job>, desired: Job, hasMutableResources: boolean): Resume {
  const present = job.spec.template;
  const wanted = desired.spec.template;
  const scheduling = { ...metadataPatch(present, wanted), ...specPatch(present.spec, wanted.spec) };
  const resources = hasMutableResources ? resourceChanges(present.spec, wanted.spec) : undefined;
  const isChanged = Object.keys(scheduling).length > 0 || resources !== undefined;
  if (isChanged && !hasStopped(job)) return { kind: 'Wait' };
  const template = {
    ...(scheduling.metadata === undefined ? {} : { metadata: scheduling.metadata }),
    ...(scheduling.spec === undefined && resources === undefined
      ? {}
      : { spec: { ...scheduling.spec, ...resources } }),
  };
  return {
    kind: 'Resume',
    clearsStartTime: isChanged && job.status?.startTime !== undefined,
    changesResources: resources !== undefined,
    patch: {
      ...attemptPatch(job, desired),
      spec: { suspend: false, ...(isChanged ? { template } : {}) },
    },
  };
}

/**
 * Whether the Pod template of a suspended Job may change: it has no Pods, and it has not started or
 * the Job controller has marked it as suspended. Other managers need not mark it.
 */
function hasStopped(job: Job): boolean {
  const { active = 0, startTime, conditions } = job.status ?? {};
  const isTold = isTrue(conditions, 'Suspended') || externalManager(job) !== undefined;
  return active === 0 && (startTime === undefined || isTold);
}

/** Labels by which the API server lets every Job select its Pods. */
const OF_THE_JOB_CONTROLLER = [
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
  'controller-uid',
  'job-name',
];

function metadataPatch(
  present: PodTemplateSpec,
  wanted: PodTemplateSpec,
): { readonly metadata?: Readonly<Record<string, MapPatch>> } {
  const { labels = {}, annotations } = present.metadata ?? {};
  const kept = Object.fromEntries(
    OF_THE_JOB_CONTROLLER.flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
  const metadata = {
    ...replacing('labels', { ...wanted.metadata?.labels, ...kept }, labels),
    ...replacing('annotations', wanted.metadata?.annotations, annotations),
  };
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

function specPatch(
  present: PodSpec,
  wanted: PodSpec,
): { readonly spec?: Readonly<Record<string, unknown>> } {
  const spec = {
    ...replacing('nodeSelector', wanted.nodeSelector, present.nodeSelector),
    ...replacingList('tolerations', wanted.tolerations, present.tolerations),
    ...replacingList('schedulingGates', wanted.schedulingGates, present.schedulingGates),
  };
  return Object.keys(spec).length === 0 ? {} : { spec };
}

/** The annotation of the Job's run; it may change at any time. */
function attemptPatch(
  job: Job,
  desired: Job,
): { readonly metadata?: Pick<ObjectMeta, 'annotations'> } {
  const wanted = desired.metadata.annotations?.[EXECUTION_ATTEMPT];
  if (wanted === undefined || job.metadata.annotations?.[EXECUTION_ATTEMPT] === wanted) return {};
  return { metadata: { annotations: { [EXECUTION_ATTEMPT]: wanted } } };
}

/** In a merge patch, null removes a key. */
type MapPatch = Readonly<Record<string, string | null>> | null;

function replacing(
  field: string,
  wanted: StringMap = {},
  present: StringMap = {},
): Readonly<Record<string, MapPatch>> {
  if (Object.keys(wanted).length === 0) {
    return Object.keys(present).length === 0 ? {} : { [field]: null };
  }
  const removed = Object.keys(present).filter((key) => wanted[key] === undefined);
  const changed = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  if (removed.length === 0 && changed.length === 0) return {};
  const patch = [...changed, ...removed.map((key): [string, null] => [key, null])];
  return { [field]: Object.fromEntries(patch) };
}

function replacingList<T extends object>(
  field: string,
  wanted: readonly T[] = [],
  present: readonly T[] = [],
): Readonly<Record<string, readonly T[] | null>> {
  const isSame =
    wanted.length === present.length && wanted.every((item, i) => deepEqual(item, present[i]));
  if (isSame) return {};
  return { [field]: wanted.length === 0 ? null : wanted };
}
