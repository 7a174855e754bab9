import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';
import type { ReplicatedJobStatus } from '../jobset.ts';
import type { StatusDraft } from '../status/status-draft.ts';
import { hasReached } from './depends-on.ts';
import { firstNotStarted } from './startup-policy.ts';

/**
 * Which ReplicatedJobs may run by the order that the spec asks for. One answer for everything that
 * starts Jobs: their creation, their resume, and the release of a stage of a group that restarts in
 * place.
 */
export interface StartupOrder {
  /** Names of the ReplicatedJobs that may be created, resumed or released. */
  readonly startable: ReadonlySet<string>;
  /** The ReplicatedJob at which `InOrder` waits; undefined without that policy, or when it is done. */
  readonly inProgress: string | undefined;
}

/**
 * `counters` say how far each ReplicatedJob is; one that is missing has not begun. While the JobSet
 * is suspended all Jobs of an `InOrder` JobSet are created, but of dependents only those whose
 * dependencies are met.
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

/** Tells that a ReplicatedJob starts which had to wait, or might have had to. */
export function announceStart(
  draft: StatusDraft,
  { startupPolicy, suspend }: Pick<DefaultedSpec, 'startupPolicy' | 'suspend'>,
  { name, dependsOn = [] }: DefaultedReplicatedJob,
): void {
  const isOrdered = startupPolicy.startupPolicyOrder === 'InOrder' || dependsOn.length > 0;
  if (suspend || !isOrdered) return;
  draft.event('Normal', 'StartingReplicatedJob', `starting replicatedJob ${name}`);
}

/** How many Jobs a ReplicatedJob has, and how far they are. */
export interface Progress {
  readonly replicas: number;
  /** Jobs that are ready or have ended; failed ones count too, as upstream counts them. */
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
 * A Job that is suspended does not run, however many ready Pods its status shows still: readiness
 * from before a suspend must not start the next ReplicatedJob of a resume.
 */
function progressIn(counter: ReplicatedJobStatus | undefined): Omit<Progress, 'replicas'> {
  if (counter === undefined) return { started: 0, succeeded: 0 };
  const { ready, failed, succeeded, suspended } = counter;
  return { started: (suspended > 0 ? 0 : ready) + failed + succeeded, succeeded };
}
