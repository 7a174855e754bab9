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

/** Whether the user asks to end the current epoch, and it was released. */
export function isRestartRequested({ jobSet, group }: GroupFacts): boolean {
  const requested = jobSet.metadata.annotations?.[RESTART_EPOCH];
  return requested === String(group.epoch) && isReleased(group);
}

/**
 * The cause of a restart in words. A request is recorded as `Resumed`, because a definition of an
 * earlier version would refuse a status with a new cause.
 */
export function causeForUser({ metadata }: JobSet, { cause, epoch }: RestartRecord): string {
  const isRequested = metadata.annotations?.[RESTART_EPOCH] === String(epoch);
  return cause === 'Resumed' && isRequested ? 'Requested' : cause;
}

export function restartEpochErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const text = annotations?.[RESTART_EPOCH];
  if (text === undefined || isEpoch(text)) return [];
  const detail = `expected the number of an epoch such as "7", from 1 to ${MAX_EPOCH}`;
  return [invalidValue(`metadata.annotations[${RESTART_EPOCH}]`, text, detail)];
}

/** Epochs are int32. */
const MAX_EPOCH = 2_147_483_647;

function isEpoch(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= MAX_EPOCH;
}
