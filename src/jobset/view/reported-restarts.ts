/** The records of restarts, as users see them. */
import { isFailure, SIDECARS_CANNOT_TELL } from '../culprits/failure-words.ts';
import { isOpen } from '../epoch/restart-history.ts';
import type { JobSet } from '../jobset.ts';
import type { RestartRecord } from '../jobset-status.ts';
import { RESTART_EPOCH } from '../names.ts';

/** A record of the status as users see it; `cause` is also `Requested`. */
export type ReportedRestart = Omit<RestartRecord, 'cause'> & {
  readonly cause: string;
  /** The suspects are not known yet: members report their ends when they have stopped. */
  readonly isOpen?: true;
  /** Why the record has no suspect, if there is a known reason. */
  readonly whyUnknown?: string;
};

/**
 * The records of the status, the newest first. A request is recorded as `Resumed`, because a
 * definition of an earlier version would refuse a status with a new cause.
 */
export function reportedRestarts({ metadata, status = {} }: JobSet): readonly ReportedRestart[] {
  const requested = metadata.annotations?.[RESTART_EPOCH];
  const { restartHistory = [], restartMode, terminalState } = status;
  return restartHistory.map((record, i) => {
    const isRequested = record.cause === 'Resumed' && requested === String(record.epoch);
    if (isRequested) return { ...record, cause: 'Requested' };
    const { suspects } = record;
    if ((suspects !== undefined && suspects.length > 0) || !isFailure(record)) return record;
    const isUnjudged = suspects === undefined && isOpen(record);
    if (i === 0 && isUnjudged && terminalState === undefined) return { ...record, isOpen: true };
    return restartMode === 'Sidecar' ? { ...record, whyUnknown: SIDECARS_CANNOT_TELL } : record;
  });
}
