/**
 * Remembers which Jobs have succeeded, because successes outlive their Jobs. A succeeded Job that is
 * deleted, by its own `ttlSecondsAfterFinished` or by a person, does not run again within the
 * attempt. The status keeps the indexes of all succeeded Jobs as the text of an index set. It changes
 * exactly when the counter `succeeded` does, so it costs no write of its own unless a Job is about to
 * go.
 */
import { formatIndexSet, indexesOf } from '@lockstep/kube/index-set.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { ReplicatedJobStatus } from '../jobset-status.ts';
import { jobIndexOf, replicatedJobOf } from './job-labels.ts';

/** Job indexes by name of the ReplicatedJob. */
export type JobIndexes = ReadonlyMap<string, ReadonlySet<number>>;

/** The Jobs that have succeeded in the present attempt. */
export interface Successes {
  readonly successful: readonly Stored<Job>[];
  /** Successes whose Jobs are gone, by ReplicatedJob. */
  readonly gone: JobIndexes;
}

/**
 * Successes whose Jobs are gone: those in the status, and `vanished`. An index with an existing Job
 * is judged by that Job.
 */
export function goneSuccesses(
  recorded: ReadonlyMap<string, string>,
  replicas: ReadonlyMap<string, number>,
  jobs: readonly Job[],
  vanished: readonly Job[],
): JobIndexes {
  if (recorded.size === 0 && vanished.length === 0) return NONE;
  const gone = new Map<string, Set<number>>();
  for (const [name, text] of recorded) gone.set(name, new Set(indexesOf(text)));
  for (const job of vanished) setOf(gone, replicatedJobOf(job) ?? '').add(jobIndexOf(job));
  for (const job of jobs) gone.get(replicatedJobOf(job) ?? '')?.delete(jobIndexOf(job));
  for (const [name, indexes] of gone) {
    const limit = replicas.get(name) ?? 0;
    for (const index of indexes) if (!(index < limit)) indexes.delete(index);
  }
  return gone;
}

const NONE: JobIndexes = new Map();

/** The successes in the status, by ReplicatedJob. */
export function recordedSuccesses(
  statuses: readonly ReplicatedJobStatus[] | undefined,
): ReadonlyMap<string, string> {
  const recorded = new Map<string, string>();
  for (const { name, succeededIndexes = '' } of statuses ?? []) {
    if (succeededIndexes !== '') recorded.set(name, succeededIndexes);
  }
  return recorded;
}

/** The statuses with all successes, except successes of ReplicatedJobs in `startsOver`. */
export function withSucceededIndexes(
  statuses: readonly ReplicatedJobStatus[],
  children: Successes,
  startsOver: ReadonlySet<string> = new Set(),
): readonly ReplicatedJobStatus[] {
  const succeeded = new Map<string, Set<number>>();
  for (const [name, indexes] of children.gone) succeeded.set(name, new Set(indexes));
  for (const job of children.successful) {
    setOf(succeeded, replicatedJobOf(job) ?? '').add(jobIndexOf(job));
  }
  return statuses.map((status) => {
    const { succeededIndexes: _, ...others } = status;
    const text = startsOver.has(status.name)
      ? ''
      : formatIndexSet(succeeded.get(status.name) ?? []);
    return text === '' ? others : { ...others, succeededIndexes: text };
  });
}

/** `jobs` without the successes of ReplicatedJobs that start over: their Jobs run again. */
export function withoutSuccessesOf<T extends Successes>(
  children: T,
  names: ReadonlySet<string>,
): T {
  if (names.size === 0 || children.gone.size === 0) return children;
  return { ...children, gone: new Map([...children.gone].filter(([name]) => !names.has(name))) };
}

/** The statuses for a new attempt of all Jobs, in which none has succeeded. */
export function withoutSucceededIndexes(
  statuses: readonly ReplicatedJobStatus[],
): readonly ReplicatedJobStatus[] {
  return statuses.map((status) => {
    const { succeededIndexes: _, ...others } = status;
    return others;
  });
}

/** How many Jobs have succeeded, by ReplicatedJob: `jobs`, and those that are `gone`. */
export function succeededCounts(
  jobs: readonly Job[],
  gone: JobIndexes,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [name, indexes] of gone) counts.set(name, indexes.size);
  for (const job of jobs) {
    const name = replicatedJobOf(job) ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/**
 * Whether a success would be lost if `counted` were not written now: it is not in `stored`, and its
 * Job is gone or can go at any moment.
 */
export function isRecordUrgent(
  stored: readonly ReplicatedJobStatus[] | undefined,
  counted: readonly ReplicatedJobStatus[],
  children: Successes,
): boolean {
  const atRisk = new Set(children.gone.keys());
  for (const job of children.successful) {
    if (isGoingAway(job)) atRisk.add(replicatedJobOf(job) ?? '');
  }
  if (atRisk.size === 0) return false;
  const recorded = recordedSuccesses(stored);
  return counted.some(
    ({ name, succeededIndexes = '' }) =>
      atRisk.has(name) && succeededIndexes !== (recorded.get(name) ?? ''),
  );
}

function isGoingAway({ metadata, spec }: Stored<Job>): boolean {
  return metadata.deletionTimestamp !== undefined || spec.ttlSecondsAfterFinished !== undefined;
}

function setOf(sets: Map<string, Set<number>>, name: string): Set<number> {
  const known = sets.get(name);
  if (known !== undefined) return known;
  const created = new Set<number>();
  sets.set(name, created);
  return created;
}
