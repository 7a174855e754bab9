/**
 * An agent's report about the end of its worker. From all reports, the operator finds the worker that
 * failed first.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { isMilliseconds, isStep } from '../reported-number.ts';
import { isExitCode, isSignal } from './worker-end.ts';

/**
 * `Exited` and `Signaled`: by itself. `Stopped`: it was told to, and obeyed. `Killed`: it was told
 * to, and its grace ran out. `Hung`: it made no progress for too long, and was killed for that.
 */
export type HowEnded = (typeof HOW_ENDED)[number];
const HOW_ENDED = ['Exited', 'Signaled', 'Stopped', 'Killed', 'Hung'] as const;

export interface WorkerEvidence {
  readonly how: HowEnded;
  /** 0 to 255. */
  readonly exitCode?: number;
  /** A name such as `SIGKILL`. */
  readonly signal?: string;
  /** The kernel ended a process of the container because memory ran out. */
  readonly oom?: true;
  /** It ended before it was told to. */
  readonly byItself?: true;
  /** Milliseconds from its last report to its end; absent: it never reported. */
  readonly silentMs?: number;
  /** The longest silence between two of its steps, in milliseconds; absent before the second. */
  readonly longestMs?: number;
  readonly step?: number;
  /** It was in a phase with a time-out of its own that still held. */
  readonly inPhase?: true;
  /**
   * States of its processes just before it was stopped, as letters of `/proc/PID/stat`: `T` and `t`
   * (stopped since its last step), `D` (waits for a disk, in two looks 5 s apart).
   */
  readonly states?: string;
  /** Milliseconds to the end from the first sight of the process that was stopped last. */
  readonly stoppedMs?: number;
  /** CPU time of its processes in the last 5 s, in milliseconds. */
  readonly cpuMs?: number;
  /** How long its busiest thread ran or waited for a CPU in the last 5 s, in milliseconds. */
  readonly runnableMs?: number;
  /** Its first process only waited for others, which did the work. */
  readonly launcher?: true;
  /** The line that a preflight printed last, or why else it did not pass; 1 to 200 bytes in JSON. */
  readonly unfit?: string;
  /** The place of the program when it hung, as a user's command printed it; 1 to 128 bytes in JSON. */
  readonly where?: string;
  /**
   * Milliseconds from the first traceback that it printed to its end. It made no step after that,
   * and was not told to stop before.
   */
  readonly failedMs?: number;
  /** Milliseconds from its last words to its end, where these are from its standard error. */
  readonly saidMs?: number;
  /** The last words of the worker. */
  readonly lastWords?: string;
}

/** The end of a worker, with what its agent knows of it. */
export interface EndedWorker {
  readonly evidence: WorkerEvidence;
  /**
   * Monotonic, by the clock of the process that holds it. In a message, 0 is the time at which that
   * is sent: `shifted` leads from one clock to the other.
   */
  readonly atMs: number;
}

/** The end by a clock that is ahead by `byMs`. */
export function shifted(ended: EndedWorker, byMs: number): EndedWorker {
  return { evidence: ended.evidence, atMs: ended.atMs + byMs };
}

/** In UTF-8 and JSON. */
export const MAX_LAST_WORDS_BYTES = 512;
/** In UTF-8 and JSON. */
export const MAX_UNFIT_BYTES = 200;
/** In UTF-8 and JSON. */
export const MAX_WHERE_BYTES = 128;

/** Undefined for an invalid report, which counts as none: it is only evidence. */
export function parseEnded(report: unknown): EndedWorker | undefined {
  if (!isJsonObject(report)) return undefined;
  const { agoMs, silentMs, longestMs, cpuMs, step, exitCode, signal } = report;
  const {
    stoppedMs,
    runnableMs,
    states,
    unfit,
    where,
    failedMs,
    saidMs,
    lastWords,
    oom,
    byItself,
    inPhase,
    launcher,
  } = report;
  const how = HOW_ENDED.find((known) => known === report['how']);
  if (how === undefined || !isMilliseconds(agoMs)) return undefined;
  const isValid =
    isOptional(silentMs, isMilliseconds) &&
    isOptional(longestMs, isMilliseconds) &&
    isOptional(cpuMs, isMilliseconds) &&
    isOptional(stoppedMs, isMilliseconds) &&
    isOptional(runnableMs, isMilliseconds) &&
    isOptional(step, isStep) &&
    isOptional(exitCode, isExitCode) &&
    isOptional(signal, isSignal) &&
    isOptional(states, isStates) &&
    isOptional(unfit, isUnfit) &&
    isOptional(where, isWhere) &&
    isOptional(failedMs, isMilliseconds) &&
    isOptional(saidMs, isMilliseconds) &&
    isOptional(lastWords, isLastWords) &&
    isOptional(oom, isTrue) &&
    isOptional(byItself, isTrue) &&
    isOptional(inPhase, isTrue) &&
    isOptional(launcher, isTrue);
  if (!isValid) return undefined;
  const ended = defined({ exitCode, signal, oom, byItself });
  const before = defined({ silentMs, longestMs, step, inPhase });
  const seen = defined({ states, stoppedMs, cpuMs, runnableMs, launcher });
  const said = defined({ unfit, where, failedMs, saidMs, lastWords });
  return { evidence: { how, ...ended, ...before, ...seen, ...said }, atMs: 0 - agoMs };
}

function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || is(value);
}

function isStates(value: unknown): value is string {
  return typeof value === 'string' && /^[TtD]{1,3}$/.test(value);
}

function isUnfit(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && encodedBytes(value) <= MAX_UNFIT_BYTES;
}

function isWhere(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && encodedBytes(value) <= MAX_WHERE_BYTES;
}

function isLastWords(value: unknown): value is string {
  return typeof value === 'string' && encodedBytes(value) <= MAX_LAST_WORDS_BYTES;
}

function isTrue(value: unknown): value is true {
  return value === true;
}

/** The member `ended` of a message, as `parseEnded` reads it. It ends with how long ago that was. */
export function endedFields({ evidence, atMs }: EndedWorker): object {
  return { ...evidence, agoMs: Math.max(0, Math.round(0 - atMs)) };
}

/**
 * `fields` with the end as their member `ended`, in at most `limit` bytes of JSON: the last words
 * are shortened first, and then the end is left out.
 */
export function withEnded(fields: object, ended: EndedWorker | undefined, limit: number): object {
  if (ended === undefined) return fields;
  const { lastWords, ...evidence } = ended.evidence;
  const rest = endedFields({ evidence, atMs: ended.atMs });
  const bare = { ...fields, ended: rest };
  const room = limit - bytesOf(bare) - bytesOf({ lastWords: '' });
  if (lastWords !== undefined && room > 0) {
    const kept = lastLines(lastWords, Math.min(room, MAX_LAST_WORDS_BYTES));
    if (kept !== '') return { ...fields, ended: { ...rest, lastWords: kept } };
  }
  return bytesOf(bare) <= limit ? bare : fields;
}

function bytesOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}

/** The longest end of `text` that takes at most `limit` bytes in JSON, from a line's start if any. */
export function lastLines(text: string, limit: number): string {
  let kept = text;
  while (encodedBytes(kept) > limit) {
    const feed = kept.indexOf('\n');
    kept = feed === -1 || feed === kept.length - 1 ? cutFront(kept, limit) : kept.slice(feed + 1);
  }
  return kept;
}

/** The longest beginning of `text` that takes at most `limit` bytes in JSON. */
export function beginning(text: string, limit: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += encodedBytes(character);
    if (bytes > limit) break;
    kept += character;
  }
  return kept;
}

/** The bytes of `text` as a string in JSON, without quotes. */
export function encodedBytes(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).byteLength - 2;
}

function cutFront(text: string, limit: number): string {
  const characters = Array.from(text);
  let bytes = 0;
  let from = characters.length;
  while (from > 0) {
    bytes += encodedBytes(characters[from - 1] ?? '');
    if (bytes > limit) break;
    from--;
  }
  return characters.slice(from).join('');
}
