/** What an agent says of its worker over its stream to the hub, and partly as annotations of its Pod. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { causeFields, endedFields, parseCause, parseEnded, withEnded } from './ended.ts';
import { isEpoch, isSuccess, type WorkerEnd, withoutSigns, withoutWords } from './worker-end.ts';

/** A longer announcement loses its last words, and then the signs of the end. */
export const MAX_ANNOUNCEMENT_BYTES = 1500;

/** An agent's announcement, repeated at will: the newest epoch counts. */
export interface Announcement {
  readonly epoch: number;
  /** How many agents of this Pod have announced this epoch by now, including this one. */
  readonly starts: number;
  /**
   * How the worker of an earlier epoch ended. The end in the epoch before this one is sent whole. An
   * older end is sent only if it restarts the group, and only its exit.
   */
  readonly end?: WorkerEnd | undefined;
}

/** In a message: `cause` is the exit that restarts the group, `ended` the signs of the last end. */
export function announcementFields({ epoch, starts, end }: Announcement): object {
  const cause = end?.restartsGroup === true ? causeFields(end) : undefined;
  const last = end?.epoch === epoch - 1 ? end : undefined;
  return withEnded({ epoch, starts, ...defined({ cause }) }, last, MAX_ANNOUNCEMENT_BYTES);
}

/** Undefined for an invalid announcement. */
export function parseAnnouncement(object: JsonObject): Announcement | undefined {
  const { epoch, starts } = object;
  if (!isEpoch(epoch) || !isEpoch(starts)) return undefined;
  const last = parseEnded(object['ended'], epoch - 1);
  if (object['cause'] === undefined) return { epoch, starts, ...defined({ end: last }) };
  const cause = parseCause(object['cause']);
  if (cause === undefined || cause.epoch >= epoch) return undefined;
  return { epoch, starts, end: { ...cause, ...(cause.epoch === epoch - 1 && last) } };
}

/** The end that is the reason for an announcement, as far as a notice may say it. */
export function causeIn({ epoch, end }: Announcement): WorkerEnd | undefined {
  if (end?.restartsGroup !== true) return undefined;
  return end.epoch === epoch - 1 ? end : withoutSigns(end);
}

/** The success of a worker: an exit with 0 by itself, without its last words. */
export function successFields(success: WorkerEnd | undefined): object {
  if (success === undefined) return {};
  return { epoch: success.epoch, ended: endedFields(withoutWords(success)) };
}

/** Like all evidence, a success with a value out of bounds counts as none. */
export function parseSuccess({ epoch, ended }: JsonObject): WorkerEnd | undefined {
  const end = isEpoch(epoch) ? parseEnded(ended, epoch) : undefined;
  return end !== undefined && isSuccess(end) ? withoutWords(end) : undefined;
}
