/**
 * The objects `cause` and `ended` in messages to the hub and in notices
 * (`docs/reference/hub-protocol.md`): the exit of a worker that restarts its group, and the signs
 * of an end. An age in milliseconds dates the end, because clocks of nodes differ.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { isLocalRank, isMilliseconds, isRank, isStep } from '../reported-number.ts';
import { encodedBytes, lastLines } from './limited-text.ts';
import {
  FIRST_RANKS,
  HOW_ENDED,
  isByItself,
  isEpoch,
  parseExit,
  type Signs,
  type WorkerEnd,
} from './worker-end.ts';

/** In UTF-8 and JSON. */
export const MAX_LAST_WORDS_BYTES = 512;
/** In UTF-8 and JSON. */
export const MAX_UNFIT_BYTES = 200;
/** In UTF-8 and JSON. */
export const MAX_WHERE_BYTES = 128;

/** Whether a reported sign is in its bounds. */
const SIGNS: { readonly [Sign in keyof Signs]-?: (value: unknown) => boolean } = {
  oom: isTrue,
  silentMs: isMilliseconds,
  longestMs: isMilliseconds,
  step: isStep,
  inPhase: isTrue,
  states: (value) => typeof value === 'string' && /^[TtD]{1,3}$/.test(value),
  stoppedMs: isMilliseconds,
  cpuMs: isMilliseconds,
  runnableMs: isMilliseconds,
  launcher: isTrue,
  unfit: (value) => value !== '' && isText(value, MAX_UNFIT_BYTES),
  local: isLocalRank,
  rank: isRank,
  firstRank: (value) => FIRST_RANKS.some((known) => known === value),
  where: (value) => value !== '' && isText(value, MAX_WHERE_BYTES),
  failedMs: isMilliseconds,
  saidMs: isMilliseconds,
  lastWords: (value) => isText(value, MAX_LAST_WORDS_BYTES),
};

function isTrue(value: unknown): boolean {
  return value === true;
}

function isText(value: unknown, limit: number): boolean {
  return typeof value === 'string' && encodedBytes(value) <= limit;
}

/** The fields of `cause`: `epoch`, and `exitCode` or `signal`. */
export function causeFields({ epoch, exit }: WorkerEnd): object {
  return { epoch, ...exit };
}

/** Undefined for an invalid cause. */
export function parseCause(cause: unknown): WorkerEnd | undefined {
  if (!isJsonObject(cause)) return undefined;
  const { epoch } = cause;
  const exit = parseExit(cause);
  if (exit === undefined || !isEpoch(epoch)) return undefined;
  return { epoch, how: 'Unknown', exit, atMs: 0, restartsGroup: true };
}

/** Undefined for an invalid report, which counts as none: it is only evidence. */
export function parseEnded(report: unknown, epoch: number): WorkerEnd | undefined {
  if (!isJsonObject(report)) return undefined;
  const { agoMs, exitCode, signal } = report;
  const how = HOW_ENDED.find((known) => known === report['how']);
  const exit = parseExit(report);
  const isExit = exit !== undefined || (exitCode === undefined && signal === undefined);
  const signs = parseSigns(report);
  if (how === undefined || !isMilliseconds(agoMs) || !isExit || signs === undefined)
    return undefined;
  return { epoch, how, ...(exit && { exit }), ...signs, atMs: 0 - agoMs };
}

function parseSigns(report: JsonObject): Signs | undefined {
  const signs: Record<string, unknown> = {};
  for (const [sign, isValid] of Object.entries(SIGNS)) {
    const value = report[sign];
    if (value === undefined) continue;
    if (!isValid(value)) return undefined;
    signs[sign] = value;
  }
  return signs;
}

/** The fields of `ended`, as `parseEnded` reads them. */
export function endedFields(end: WorkerEnd): object {
  const { epoch: _, restartsGroup: _restarts, atMs, how, exit, oom, ...signs } = end;
  const byItself = isByItself(end) || undefined;
  return { how, ...exit, oom, byItself, ...signs, agoMs: Math.max(0, Math.round(0 - atMs)) };
}

/**
 * `fields` with the end as their member `ended`, in at most `limit` bytes of JSON: the last words
 * are shortened first, and then the end is left out.
 */
export function withEnded(fields: object, end: WorkerEnd | undefined, limit: number): object {
  if (end === undefined || end.how === 'Unknown') return fields;
  const { lastWords, ...rest } = end;
  const ended = endedFields(rest);
  const bare = { ...fields, ended };
  const room = limit - bytesOf(bare) - bytesOf({ lastWords: '' });
  if (lastWords !== undefined && room > 0) {
    const kept = lastLines(lastWords, Math.min(room, MAX_LAST_WORDS_BYTES));
    if (kept !== '') return { ...fields, ended: { ...ended, lastWords: kept } };
  }
  return bytesOf(bare) <= limit ? bare : fields;
}

function bytesOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}
