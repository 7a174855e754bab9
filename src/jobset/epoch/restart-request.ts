/**
 * A user's request to end an epoch: its number in an annotation. Once that epoch is over the
 * request means nothing, so it is obeyed once, even if the operator crashes, and never has to be
 * removed.
 */
import { invalidValue } from '../../kube/field-error.ts';
import type { StringMap } from '../../kube/meta.ts';
import type { FieldError } from '../../kube/status.ts';
import { isFailure, SIDECARS_CANNOT_TELL } from '../culprits/failure-words.ts';
import { isOpen } from '../culprits/records.ts';
import type { GroupFacts } from '../facts.ts';
import type { JobSet, RestartRecord } from '../jobset.ts';
import { RESTART_EPOCH } from '../names.ts';
import { isReleased } from './in-place-restart.ts';
import { parseEpoch } from './pod-facts.ts';
import { MAX_EPOCH } from './worker-end.ts';

/** Whether the user asks to end the current epoch, and it was released. */
export function isRestartRequested({ jobSet, group }: GroupFacts): boolean {
  const requested = jobSet.metadata.annotations?.[RESTART_EPOCH];
  return requested === String(group.epoch) && isReleased(group);
}

/** A record of the status as users see it; `cause` is also `Requested`. */
export type ReportedRestart = Omit<RestartRecord, 'cause'> & {
  readonly cause: string;
  /** Who failed first is not judged yet: members tell how they ended when they have stopped. */
  readonly isOpen?: true;
  /** Why it names nobody, if that has a reason of its own. */
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

export function restartEpochErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const text = annotations?.[RESTART_EPOCH];
  // The request is compared as text, so leading zeros would never match.
  if (text === undefined || text === String(parseEpoch(text))) return [];
  const detail = `expected the number of an epoch such as "7", from 1 to ${MAX_EPOCH}`;
  return [invalidValue(`metadata.annotations[${RESTART_EPOCH}]`, text, detail)];
}
