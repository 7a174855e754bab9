/**
 * Which ReplicatedJobs may run by the startup order of the spec. Everything that starts Jobs uses
 * this one answer: their creation, their resume, and the release of a stage of a group that
 * restarts in place.
 */

import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';
import type { DependsOn } from '../jobset.ts';
import type { ReplicatedJobStatus } from '../jobset-status.ts';

export interface StartupOrder {
  /** Names of the ReplicatedJobs that may be created, resumed or released. */
  readonly startable: ReadonlySet<string>;
  /**
   * The ReplicatedJob at which `InOrder` waits; undefined without that policy, or when it is done.
   */
  readonly inProgress: string | undefined;
}

/**
 * `counters` say how far each ReplicatedJob is; one without a counter has not begun. A suspended
 * `InOrder` JobSet gets all its Jobs, but a ReplicatedJob with `dependsOn` waits for its
 * dependencies.
 */
export function startableReplicatedJobs(
  spec: Pick<DefaultedSpec, 'replicatedJobs' | 'startupPolicy'>,
  counters: readonly ReplicatedJobStatus[],
  isSuspended: boolean,
): StartupOrder {
  const progress = progressOf(spec.replicatedJobs, counters);
  const isInOrder = spec.startupPolicy.startupPolicyOrder === 'InOrder' && !isSuspended;
  const inProgress = isInOrder ? firstNotStarted(spec.replicatedJobs, progress) : undefined;
  const startable = new Set<string>();
  for (const replicatedJob of spec.replicatedJobs) {
    if (hasReached(replicatedJob.dependsOn ?? [], progress)) startable.add(replicatedJob.name);
    if (replicatedJob.name === inProgress) break;
  }
  return { startable, inProgress };
}

/** How many Jobs a ReplicatedJob has, and how far they are. */
interface Progress {
  readonly replicas: number;
  /** Jobs that are ready or have ended; failed ones count too, as in upstream. */
  readonly started: number;
  readonly succeeded: number;
}

function progressOf(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  counters: readonly ReplicatedJobStatus[],
): ReadonlyMap<string, Progress> {
  const counterOf = new Map(counters.map((counter) => [counter.name, counter]));
  return new Map(
    replicatedJobs.map(({ name, replicas }) => {
      const counter = counterOf.get(name);
      return [name, { replicas, ...progressIn(counter) }];
    }),
  );
}

/**
 * Counts a suspended Job as not started, even if its status still shows ready Pods: readiness from
 * before a suspend must not start the next ReplicatedJob of a resume.
 */
function progressIn(counter: ReplicatedJobStatus | undefined): Omit<Progress, 'replicas'> {
  if (counter === undefined) return { started: 0, succeeded: 0 };
  const { ready, failed, succeeded, suspended } = counter;
  return { started: (suspended > 0 ? 0 : ready) + failed + succeeded, succeeded };
}

/**
 * `InOrder`: each ReplicatedJob starts when all Jobs of the one before it are ready or have ended.
 */
function firstNotStarted(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  progress: ReadonlyMap<string, Progress>,
): string | undefined {
  return replicatedJobs.find(({ name }) => {
    const of = progress.get(name);
    return of !== undefined && of.started !== of.replicas;
  })?.name;
}

/**
 * Whether all dependencies of a ReplicatedJob are met. `Ready` means that all Jobs have started,
 * failed ones included; `Complete` means that all have succeeded. A dependency without Jobs is met at
 * once. A dependency that does not exist is never met.
 */
function hasReached(
  dependsOn: readonly DependsOn[],
  progress: ReadonlyMap<string, Progress>,
): boolean {
  return dependsOn.every(({ name, status }) => {
    const of = progress.get(name);
    if (of === undefined) return false;
    return (status === 'Ready' ? of.started : of.succeeded) === of.replicas;
  });
}
