/** What the Job controller reads from its Pods. */
import { controllerOf, namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import {
  COMPLETION_INDEX,
  JOB_TRACKING_FINALIZER,
  JOBS,
  type Job,
} from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';

/** A Pod is *tracked* while it has the finalizer: only then can its end still change a counter. */
export function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) === true;
}

/** `namespace/name` of the Job that controls the Pod, even if that Job does not exist. */
export function jobKeyOf(pod: Pod): string | undefined {
  const owner = controllerOf(pod.metadata);
  if (owner?.kind !== JOBS.kind || !owner.apiVersion.startsWith(`${JOBS.group}/`)) return undefined;
  return `${namespaceOf(pod.metadata)}/${owner.name}`;
}

/** Whether the object of this UID controls the Pod; false if `uid` is undefined. */
export function isControlledBy(pod: Pod, uid: string | undefined): boolean {
  return uid !== undefined && controllerOf(pod.metadata)?.uid === uid;
}

/** Ended by itself: phase Succeeded or Failed. */
export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !hasEnded(pod);
}

export function isActive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !hasEnded(pod);
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true;
}

/**
 * Whether the Pod counts as failed. Under `podReplacementPolicy: Failed` a Pod that is being
 * deleted counts only once it has ended. One without a node will never end, so it counts at once.
 */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  if (!isTerminating(pod)) return false;
  return !waitsForTerminating(job) || pod.spec.nodeName === undefined;
}

/** Whether replacements wait for Pods that are being deleted. */
export function waitsForTerminating(job: Job): boolean {
  return job.spec.podReplacementPolicy === 'Failed' || job.spec.podFailurePolicy !== undefined;
}

export function isIndexed(job: Job): boolean {
  return job.spec.completionMode === 'Indexed';
}

/** The Pod's completion index; undefined if it has none within the Job's range. */
export function indexOf(job: Job, pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[COMPLETION_INDEX] ?? '';
  if (!/^(0|[1-9]\d{0,9})$/.test(text)) return undefined;
  const index = Number(text);
  return index < (job.spec.completions ?? 0) ? index : undefined;
}

/**
 * When the Pod ended, in milliseconds: when its last container finished, sidecars included, because
 * they end last; otherwise when it stopped being ready, was deleted, or was created.
 */
export function finishTimeMs(pod: Stored<Pod>): number {
  const { status, metadata, spec } = pod;
  const sidecars = (spec.initContainers ?? []).filter((each) => each.restartPolicy === 'Always');
  const lasting = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter((each) =>
      sidecars.some(({ name }) => name === each.name),
    ),
  ];
  const finished = lasting.map((each) => timeMs(each.state?.terminated?.finishedAt));
  const latest = Math.max(...finished);
  if (finished.length > 0 && !Number.isNaN(latest)) return latest;
  const unready = status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'False');
  const sinceUnready = timeMs(unready?.lastTransitionTime);
  if (!Number.isNaN(sinceUnready)) return sinceUnready;
  const deleted = timeMs(metadata.deletionTimestamp);
  if (Number.isNaN(deleted)) return timeMs(metadata.creationTimestamp);
  return deleted - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
}

function timeMs(time: string | undefined): number {
  return time === undefined ? Number.NaN : Date.parse(time);
}
