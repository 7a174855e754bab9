/**
 * A user's request to end an epoch: its number in an annotation. Once that epoch is over, the request
 * has no effect. So the operator obeys it once, even if it crashes, and nobody has to remove it.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { JobSet } from '../jobset.ts';
import { RESTART_EPOCH } from '../names.ts';
import { parseEpoch } from '../roster/pod-facts.ts';
import { MAX_EPOCH } from '../worker-end/worker-end.ts';
import { type Group, isReleased } from './in-place-restart.ts';

/** Whether the user asks to end the current epoch, and it was released. */
export function isRestartRequested({ metadata }: Pick<JobSet, 'metadata'>, group: Group): boolean {
  const requested = metadata.annotations?.[RESTART_EPOCH];
  return requested === String(group.epoch) && isReleased(group);
}

export function restartEpochErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const text = annotations?.[RESTART_EPOCH];
  // The request is compared as text, so leading zeros would never match.
  if (text === undefined || text === String(parseEpoch(text))) return [];
  const detail = `expected the number of an epoch such as "7", from 1 to ${MAX_EPOCH}`;
  return [invalidValue(`metadata.annotations[${RESTART_EPOCH}]`, text, detail)];
}
