/**
 * A client with upstream's types that writes a whole status drops all fields that its types lack:
 * epochs, charges, the history. Without them, restarts that were not charged would count as charged,
 * and the next failure could be the last. The operator that remembers what was there puts it back.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../jobset-status.ts';

/** The fields of a status that upstream's types have, and so keep. */
const UPSTREAMS: ReadonlySet<string> = new Set<keyof JobSetStatus>([
  'conditions',
  'terminalState',
  'restarts',
  'restartsCountTowardsMax',
  'replicatedJobsStatus',
  'previousInPlaceRestartAttempt',
  'currentInPlaceRestartAttempt',
]);
const UPSTREAMS_OF_JOBS: ReadonlySet<string> = new Set<keyof ReplicatedJobStatus>([
  'name',
  'ready',
  'succeeded',
  'failed',
  'active',
  'suspended',
  'jobRestarts',
  'jobRestartsCountTowardsMax',
]);

/** How often one JobSet's status may be put back at once, and then in each hour. */
export const STATUS_RESTORES_PER_HOUR = 4;

export interface Restored {
  readonly status: JobSetStatus;
  /** The fields that were gone. */
  readonly fields: readonly string[];
}

/**
 * The status with the lost fields, or undefined if another kind of client wrote it. The evidence:
 * each of our fields is gone, and upstream's fields show no other change. The Jobs are the same ones,
 * no Jobs were recreated, and no attempt has begun. `known` is the status that this operator saw
 * last; `lacks` are fields that the stored definition drops anyway.
 */
export function restoredStatus(
  known: JobSetStatus | undefined,
  now: JobSetStatus | undefined,
  lacks: ReadonlySet<string> = new Set(),
): Restored | undefined {
  if (known === undefined || now === undefined) return undefined;
  const fields = ownFields(known).filter((field) => !lacks.has(field));
  if (fields.length === 0 || hasOwnFields(now) || !isAtSamePoint(known, now)) return undefined;
  const { replicatedJobsStatus: before = [] } = known;
  const replicatedJobsStatus = now.replicatedJobsStatus?.map((each) => {
    const old = before.find(({ name }) => name === each.name);
    return { ...old, ...each };
  });
  const status = { ...known, ...now, ...(replicatedJobsStatus && { replicatedJobsStatus }) };
  return { status, fields };
}

/**
 * Own fields of a status that a write `sent`, and that the API server has not `stored`. `lacks` are
 * fields that its definition does not have. If it has the others, it does not serve it yet.
 */
export function droppedFields(
  sent: JobSetStatus,
  stored: JobSetStatus = {},
  lacks: ReadonlySet<string> = new Set(),
): readonly string[] {
  const has = (status: JobSetStatus, field: string): boolean =>
    (status as Record<string, unknown>)[field] !== undefined;
  return ownFields(sent).filter(
    (field) => has(sent, field) && !has(stored, field) && !lacks.has(field),
  );
}

function ownFields(status: JobSetStatus): readonly string[] {
  return Object.keys(status).filter((field) => !UPSTREAMS.has(field));
}

function hasOwnFields(status: JobSetStatus): boolean {
  const jobs = status.replicatedJobsStatus ?? [];
  const isOwn = (field: string): boolean => !UPSTREAMS_OF_JOBS.has(field);
  return (
    ownFields(status).length > 0 ||
    jobs.some((job) => isJsonObject(job) && Object.keys(job).some(isOwn))
  );
}

function isAtSamePoint(known: JobSetStatus, now: JobSetStatus): boolean {
  const names = ({ replicatedJobsStatus = [] }: JobSetStatus): string =>
    replicatedJobsStatus.map(({ name }) => name).join(' ');
  return (
    (known.restarts ?? 0) === (now.restarts ?? 0) &&
    (known.restartsCountTowardsMax ?? 0) === (now.restartsCountTowardsMax ?? 0) &&
    names(known) === names(now) &&
    isAbsentOrSame(now.previousInPlaceRestartAttempt, known.previousInPlaceRestartAttempt) &&
    isAbsentOrSame(now.currentInPlaceRestartAttempt, known.currentInPlaceRestartAttempt)
  );
}

/** Types from before 0.11 have no attempts. */
function isAbsentOrSame(now: number | undefined, known: number | undefined): boolean {
  return now === undefined || now === known;
}
