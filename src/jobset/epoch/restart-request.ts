/**
 * A user's request to end an epoch: its number in an annotation. Once that epoch is over the
 * request means nothing, so it is obeyed once, even if the operator crashes, and never has to be
 * removed.
 */
import { invalidValue } from '../../kube/field-error.ts';
import type { StringMap } from '../../kube/meta.ts';
import type { FieldError } from '../../kube/status.ts';
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
export type ReportedRestart = Omit<RestartRecord, 'cause'> & { readonly cause: string };

/**
 * The records of the status, the newest first. A request is recorded as `Resumed`, because a
 * definition of an earlier version would refuse a status with a new cause.
 */
export function reportedRestarts({ metadata, status }: JobSet): readonly ReportedRestart[] {
  const requested = metadata.annotations?.[RESTART_EPOCH];
  return (status?.restartHistory ?? []).map((record) => {
    const isRequested = record.cause === 'Resumed' && requested === String(record.epoch);
    return isRequested ? { ...record, cause: 'Requested' } : record;
  });
}

export function restartEpochErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const text = annotations?.[RESTART_EPOCH];
  // The request is compared as text, so leading zeros would never match.
  if (text === undefined || text === String(parseEpoch(text))) return [];
  const detail = `expected the number of an epoch such as "7", from 1 to ${MAX_EPOCH}`;
  return [invalidValue(`metadata.annotations[${RESTART_EPOCH}]`, text, detail)];
}
