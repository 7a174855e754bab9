/**
 * The value of the Pod annotation `lockstep/notice`: an agent's report about the end of its worker,
 * before the Pod's status shows it. A sidecar that is told to stop knows only its epoch and writes it
 * as a plain number. A supervisor has seen its worker end and writes JSON
 * (`docs/design/member-hazards.md#a-stop-looks-like-a-failure`).
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { type Exit, isEpoch, reportedEnd } from './worker-end.ts';
import { type EndedWorker, parseEnded, withEnded } from './worker-evidence.ts';

export interface Notice {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  /** How it ended; absent if the agent cannot know (sidecar). */
  readonly end?: Exit;
  /** What a supervisor knows of that end; 0 is the time at which the notice was written. */
  readonly ended?: EndedWorker;
}

/** In bytes. A longer notice loses its last words, and then its evidence. */
const MAX_NOTICE_BYTES = 1000;
/** Far more than any notice needs; a longer text is not parsed at all. */
const NOTICE_LENGTH_LIMIT = 1024;

export function formatNotice({ epoch, end, ended }: Notice): string {
  if (end === undefined) return String(epoch);
  return JSON.stringify(withEnded({ epoch, ...end }, ended, MAX_NOTICE_BYTES));
}

/** Undefined for an invalid notice: it is only a hint. Invalid evidence counts as none. */
export function parseNotice(text: string): Notice | undefined {
  if (/^[0-9]{1,10}$/.test(text)) {
    const epoch = Number(text);
    return isEpoch(epoch) ? { epoch } : undefined;
  }
  if (text.length > NOTICE_LENGTH_LIMIT) return undefined;
  const parsed = parseObject(text);
  const reported = parsed === undefined ? undefined : reportedEnd(parsed);
  if (reported === undefined) return undefined;
  return { ...reported, ...defined({ ended: parseEnded(parsed?.['ended']) }) };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
