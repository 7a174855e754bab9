/** Which Pods belong to a Job. */
import type { Stored } from '@lockstep/kube/meta.ts';
import { externalManager, type Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { labelRequirementsOf, matchesLabels } from '@lockstep/kube/selectors/label-selector.ts';
import { isFinished } from './conditions.ts';

/**
 * A Job's Pods are those that it controls and selects. It adopts selected Pods without a
 * controller, and releases Pods that it controls but no longer selects, because their labels were
 * changed.
 */
export interface PodClaims {
  readonly own: readonly Stored<Pod>[];
  readonly adopted: readonly Stored<Pod>[];
  readonly disowned: readonly Stored<Pod>[];
}

/** `orphans` are the Pods in the Job's namespace without a controller. */
export function claimPods(
  job: Job,
  controlled: readonly Stored<Pod>[],
  orphans: Iterable<Stored<Pod>>,
): PodClaims {
  // A finished Job only releases the Pods that it has.
  if (isFinished(job)) return { own: controlled, adopted: [], disowned: [] };
  const isSelected = selectorOf(job);
  const own: Stored<Pod>[] = [];
  const disowned: Stored<Pod>[] = [];
  for (const pod of controlled) (isSelected(pod) ? own : disowned).push(pod);
  if (job.metadata.deletionTimestamp !== undefined) return { own, adopted: [], disowned: [] };
  const adopted: Stored<Pod>[] = [];
  for (const pod of orphans) {
    if (pod.metadata.deletionTimestamp === undefined && isSelected(pod)) adopted.push(pod);
  }
  return { own, adopted, disowned };
}

/** Whether the Job would adopt this Pod, which has no controller. */
export function wouldAdopt(job: Job, pod: Pod): boolean {
  const isOpen =
    externalManager(job) === undefined &&
    job.metadata.deletionTimestamp === undefined &&
    !isFinished(job);
  return isOpen && job.metadata.namespace === pod.metadata.namespace && selectorOf(job)(pod);
}

function selectorOf({ spec }: Job): (pod: Pod) => boolean {
  const requirements = labelRequirementsOf(spec.selector);
  return ({ metadata }) => matchesLabels(requirements, metadata.labels);
}
