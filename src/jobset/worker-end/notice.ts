/**
 * The value of the Pod annotation `lockstep/notice`: an agent's report about the end of its worker,
 * before the Pod's status shows it. A sidecar that is told to stop knows only its epoch and writes it
 * as a plain number. A supervisor has seen its worker end and writes JSON
 * (`docs/design/member-hazards.md#a-stop-looks-like-a-failure`).
 */
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import { causeFields, parseCause, parseEnded, withEnded } from './ended.ts';
import { isEpoch, type WorkerEnd } from './worker-end.ts';

export interface Notice {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  /**
   * The end of the worker, which restarts the group. Absent if the agent cannot know it (sidecar).
   * `atMs` 0 is the time at which the notice was written.
   */
  readonly end?: WorkerEnd;
}

/** In bytes. A longer notice loses its last words, and then its signs. */
const MAX_NOTICE_BYTES = 1000;
/** Far more than any notice needs; a longer text is not parsed at all. */
const NOTICE_LENGTH_LIMIT = 1024;

export function formatNotice({ epoch, end }: Notice): string {
  if (end === undefined) return String(epoch);
  return JSON.stringify(withEnded(causeFields(end), end, MAX_NOTICE_BYTES));
}

/** Undefined for an invalid notice: it is only a hint. Invalid signs count as none. */
export function parseNotice(text: string): Notice | undefined {
  if (/^[0-9]{1,10}$/.test(text)) {
    const epoch = Number(text);
    return isEpoch(epoch) ? { epoch } : undefined;
  }
  if (text.length > NOTICE_LENGTH_LIMIT) return undefined;
  const parsed = parsedObject(text);
  const cause = parseCause(parsed);
  if (cause === undefined) return undefined;
  const { epoch } = cause;
  return { epoch, end: { ...cause, ...parseEnded(parsed?.['ended'], epoch) } };
}
