/** What a process said last before it ended, from the log that it shares with others. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import { printable } from '@lockstep/kube/quote.ts';

/** How much of the end of the log is read; a stack trace has a few KiB. */
const READ_BYTES = 64 * 1024;
const MAX_LINES = 3;
const MAX_LENGTH = 400;
const ERROR_LEVELS: readonly unknown[] = ['error', 'fatal'];

/** The last lines that tell of an error, in short; none if the log cannot be read. */
export function lastErrors(file: string, fromByte: number): readonly string[] {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const { size } = fstatSync(descriptor);
    const from = Math.max(fromByte, size - READ_BYTES);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    const length = readSync(descriptor, bytes, 0, bytes.length, from);
    return errorsIn(bytes.toString('utf8', 0, length));
  } catch {
    return [];
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Errors of a log of JSON lines. Other lines, such as lines of a crash, tell of errors too. */
export function errorsIn(log: string): readonly string[] {
  const told: string[] = [];
  let isCrash = false;
  let isBelowError = false;
  for (const line of log.split('\n')) {
    // Node prints the members of an error below its stack.
    isBelowError = FRAME.test(line) || (isBelowError && !ENTRY.test(line) && !END.test(line));
    const error = isBelowError ? undefined : errorIn(line.trimEnd());
    if (error === undefined) continue;
    // A crash shows the source first, and the error below it.
    if (isCrash && !error.isEntry) told.pop();
    isCrash = !error.isEntry;
    told.push(error.text);
  }
  return [...new Set(told)].slice(-MAX_LINES);
}

const FRAME = /^\s+at /;
const ENTRY = /^\{"/;
const END = /^Node\.js v/;
/** These lines of a crash say nothing to a user. */
const NOISE = /^\s*(\^|node:|Node\.js v|$)/;

/** `isEntry`: of the log, not of a crash. */
function errorIn(line: string): { readonly text: string; readonly isEntry: boolean } | undefined {
  if (NOISE.test(line)) return undefined;
  const entry = parsedJson(line);
  if (entry === undefined) return { text: bounded(line), isEntry: false };
  if (!isJsonObject(entry) || !ERROR_LEVELS.includes(entry['level'])) return undefined;
  const { msg, err } = entry;
  const message = typeof msg === 'string' ? msg : '';
  const cause = isJsonObject(err) ? err['message'] : err;
  const why = typeof cause === 'string' ? cause.replace(/^\w+: /, '') : '';
  // Many messages end with the error.
  const text = why === '' || message.includes(why) ? message : `${message}: ${why}`;
  return { text: bounded(text), isEntry: true };
}

function bounded(text: string): string {
  const shown = printable(text);
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}...` : shown;
}
