/**
 * Works with a stored definition that lacks fields of the status: an older one of ours, or the one of
 * kubernetes-sigs/jobset, if Lockstep runs beside that controller. An API server drops the fields
 * without an error, so the operator must not wait for them.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { FeatureGates } from '../../feature-gates.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { fromAttempts } from '../../status/epochs.ts';
import type { Snapshot } from '../snapshot.ts';

type StoredDefinition = Pick<Snapshot, 'lacks' | 'isDefinitionUnread'>;

/** The snapshot as a plan reads it: with epochs, and without what needs fields that are lost. */
export function readAsKept(snapshot: Snapshot): Snapshot {
  const lacks = knownToLack(snapshot);
  const { jobSet, gates } = snapshot;
  if (lacks === undefined) return snapshot;
  const status = jobSet.status && lacksEpochs(lacks) ? fromAttempts(jobSet.status) : jobSet.status;
  const read = status === undefined ? jobSet : { ...jobSet, status };
  return { ...snapshot, jobSet: read, gates: keptGates(gates, lacks) };
}

/** The part of the status to write; undefined: no field that the definition keeps has changed. */
export function writtenAsKept(snapshot: Snapshot, status: JobSetStatus): JobSetStatus | undefined {
  const lacks = knownToLack(snapshot);
  if (lacks === undefined) return status;
  const kept = without(status, lacks, '') as JobSetStatus;
  return deepEqual(kept, snapshot.jobSet.status) ? undefined : kept;
}

/** Whether epochs have to come from upstream's attempts. */
export function lacksEpochs(lacks: ReadonlySet<string>): boolean {
  return lacks.has('deprecatedEpoch') || lacks.has('syncedEpoch');
}

/** A definition that may not be read may keep everything, as far as is known. */
function knownToLack({ lacks, isDefinitionUnread }: StoredDefinition) {
  const isWhole = lacks === undefined || lacks.size === 0 || isDefinitionUnread === true;
  return isWhole ? undefined : lacks;
}

function keptGates(gates: FeatureGates, lacks: ReadonlySet<string>): FeatureGates {
  return {
    ...gates,
    ExecutionAttemptsTracking: gates.ExecutionAttemptsTracking && !lacks.has('executionAttempts'),
    JobSetActiveDeadlineSeconds: gates.JobSetActiveDeadlineSeconds && !lacks.has('startTime'),
  };
}

/** `lacks` has paths such as `goodput.course` and `replicatedJobsStatus[].syncedEpoch`. */
function without(value: unknown, lacks: ReadonlySet<string>, path: string): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, lacks, `${path}[]`));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const below = path === '' ? name : `${path}.${name}`;
      return lacks.has(below) ? [] : [[name, without(member, lacks, below)]];
    }),
  );
}
