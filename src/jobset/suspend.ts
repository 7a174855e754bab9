import type { Job } from '../kube/job.ts';
import type { Stored, StringMap } from '../kube/meta.ts';
import type { PodTemplateSpec, Toleration } from '../kube/pod.ts';

/**
 * Suspending and resuming child Jobs (spec 4.7). Suspending keeps the Jobs; resuming brings what may
 * be changed while a JobSet is suspended (Pod labels, annotations, node selector, tolerations and
 * scheduling gates) into each Job before its Pods are made. A Job that is not resumed is not touched.
 */
export interface JobResume {
  /** Kubernetes takes scheduling changes only from a Job that has no start time. */
  readonly clearsStartTime: boolean;
  /** A merge patch of the Job. */
  readonly patch: { readonly spec: { readonly suspend: false; readonly template?: unknown } };
}

/** `desired` is the Pod template that the Job would get if it were made now. */
export function resumeOf(job: Stored<Job>, desired: PodTemplateSpec): JobResume {
  const metadata = {
    ...missing('labels', desired.metadata?.labels, job.spec.template.metadata?.labels),
    ...missing(
      'annotations',
      desired.metadata?.annotations,
      job.spec.template.metadata?.annotations,
    ),
  };
  const spec = {
    ...missing('nodeSelector', desired.spec.nodeSelector, job.spec.template.spec.nodeSelector),
    ...union('tolerations', desired.spec.tolerations, job.spec.template.spec.tolerations),
    ...union(
      'schedulingGates',
      desired.spec.schedulingGates,
      job.spec.template.spec.schedulingGates,
    ),
  };
  const template = {
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(Object.keys(spec).length === 0 ? {} : { spec }),
  };
  const isChanged = Object.keys(template).length > 0;
  return {
    clearsStartTime: isChanged && job.status?.startTime !== undefined,
    patch: { spec: { suspend: false, ...(isChanged ? { template } : {}) } },
  };
}

export function isSuspended(job: Job): boolean {
  return job.spec.suspend === true;
}

function missing(
  field: string,
  wanted: StringMap | undefined,
  present: StringMap | undefined,
): Readonly<Record<string, StringMap>> {
  const entries = Object.entries(wanted ?? {}).filter(([key, value]) => present?.[key] !== value);
  return entries.length === 0 ? {} : { [field]: Object.fromEntries(entries) };
}

function union<T extends Toleration | { readonly name: string }>(
  field: string,
  wanted: readonly T[] | undefined,
  present: readonly T[] | undefined,
): Readonly<Record<string, readonly T[]>> {
  const known = new Set((present ?? []).map(canonical));
  const added = (wanted ?? []).filter((item) => !known.has(canonical(item)));
  return added.length === 0 ? {} : { [field]: [...(present ?? []), ...added] };
}

/** Equal for equal flat objects, whatever the order of their keys. */
function canonical(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
