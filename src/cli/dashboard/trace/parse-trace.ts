/**
 * Reads the lines of a trace. A trace is a file from anywhere, so each line is checked: objects by the
 * schemas by which an API server would have checked them.
 */
import { kindSchema, objectMetaErrors } from '@lockstep/embedded-kubernetes/kinds';
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '@lockstep/kube/json/json-depth.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { ObjectMeta } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { OBJECT_META } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { object } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import {
  EVENT_KINDS,
  MAX_TEXT_LENGTH,
  type Told,
  TRACE_VERSION,
  type TraceEvent,
  type TraceHead,
  type TraceState,
} from '../../../dashboard/messages/trace.ts';
import { parseProgress } from '../../../jobset/progress/progress.ts';
import { isStep } from '../../../jobset/reported-number.ts';
import { JOBSET_SCHEMA } from '../../../jobset/schema/schema.ts';
import { isEpoch } from '../../../jobset/worker-end/worker-end.ts';

export interface Trace {
  readonly head: TraceHead;
  /** At least one. */
  readonly events: readonly TracedEvent[];
  readonly states: readonly TracedState[];
}

export interface TracedEvent extends TraceEvent {
  /** How many of the states stand before it. */
  readonly states: number;
}

/** With the number of its line, from 1. */
export interface TracedState {
  readonly line: number;
  readonly state: TraceState;
}

/** The message names the line, and says what was expected. */
export class TraceProblem extends Error {
  override readonly name = 'TraceProblem';
}

/** What a page gets at once; a run of an hour has some thousand. */
export const MAX_EVENTS = 100_000;
/**
 * UTF-16 code units. An API server takes objects of up to 1.5 MiB. The time that JSON takes to read
 * grows faster than its length.
 */
export const MAX_LINE_LENGTH = 2_000_000;
/** UTF-16 code units of a value that is shown. */
const SHOWN_LENGTH = 80;
/** The latest time that a `Date` can have. */
const MAX_MS = 8.64e15;
const POD_SCHEMA = kindSchema(PODS);
const IN_A_NAMESPACE = { namespaced: true, nameRule: dns1123SubdomainErrors };

/** Throws a `TraceProblem`. */
export function parseTrace(text: string): Trace {
  let head: TraceHead | undefined;
  const events: TracedEvent[] = [];
  const states: TracedState[] = [];
  let atMs = 0;
  let line = 0;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    line++;
    if (end - start > MAX_LINE_LENGTH) {
      const had = `it has ${end - start} characters`;
      throw problem(line, `${had}, expected at most ${MAX_LINE_LENGTH}`);
    }
    const written = text.slice(start, end);
    start = end + 1;
    const parsed = parsedObject(written);
    if (parsed === undefined) throw unreadable(line, written, found < 0);
    if (isDeeperThan(parsed, MAX_JSON_DEPTH)) throw problem(line, TOO_DEEP);
    if (head === undefined) {
      head = headOf(parsed, written);
      continue;
    }
    atMs = timeOf(parsed, atMs, line);
    const event = eventIn(parsed, atMs, line);
    if (event === undefined) states.push({ line, state: stateIn(parsed, atMs, line) });
    else events.push({ ...event, states: states.length });
    if (events.length > MAX_EVENTS) {
      throw problem(line, `there are more than ${MAX_EVENTS} events, expected no more`);
    }
  }
  if (head === undefined) throw new TraceProblem(`it is empty, expected ${A_TRACE}`);
  if (events.length === 0) throw problem(line, 'the file ends without any event, expected one');
  return { head, events, states };
}

const A_TRACE = 'what "npm run simulate -- --seed N --trace FILE" writes';

const TOO_DEEP = `it has more than ${MAX_JSON_DEPTH} levels of lists and objects, expected no more`;

function problem(line: number, what: string): TraceProblem {
  return new TraceProblem(`line ${line}: ${what}`);
}

function unreadable(line: number, written: string, isLast: boolean): TraceProblem {
  const expected = line === 1 ? A_TRACE : 'an object in JSON';
  const cut = isLast && line > 1 ? '; the file seems to be cut off there' : '';
  return problem(line, `${shownValue(written)}, expected ${expected}${cut}`);
}

function headOf({ kind, version, seed, startMs }: JsonObject, written: string): TraceHead {
  if (kind !== 'Trace') throw problem(1, `${shownValue(written)}, expected ${A_TRACE}`);
  if (version !== TRACE_VERSION) {
    throw problem(1, `version: ${shownValue(version)}, expected ${TRACE_VERSION}`);
  }
  if (!isStep(seed)) throw problem(1, `seed: ${shownValue(seed)}, expected a whole number`);
  if (typeof startMs !== 'number' || Math.abs(startMs) > MAX_MS / 2) {
    throw problem(1, `startMs: ${shownValue(startMs)}, expected milliseconds since 1970`);
  }
  return { kind, version, seed, startMs };
}

function timeOf({ atMs }: JsonObject, beforeMs: number, line: number): number {
  if (typeof atMs === 'number' && atMs >= beforeMs && atMs <= MAX_MS / 2) return atMs;
  const expected = `milliseconds, at least the ${beforeMs} of the line before`;
  throw problem(line, `atMs: ${shownValue(atMs)}, expected ${expected}`);
}

/** Undefined: the line is no event. */
function eventIn({ kind, text }: JsonObject, atMs: number, line: number): TraceEvent | undefined {
  const known = EVENT_KINDS.find((each) => each === kind);
  if (known === undefined) return undefined;
  if (typeof text === 'string' && text.length <= MAX_TEXT_LENGTH)
    return { kind: known, atMs, text };
  const expected = `a text of at most ${MAX_TEXT_LENGTH} characters`;
  throw problem(line, `text: ${shownValue(text)}, expected ${expected}`);
}

function stateIn(parsed: JsonObject, atMs: number, line: number): TraceState {
  const { kind, jobSet, pod } = parsed;
  switch (kind) {
    case 'JobSet':
      return { kind, atMs, jobSet: checked('jobSet', jobSet, JOBSET_SCHEMA, line) };
    case 'Pod':
      return { kind, atMs, pod: checked('pod', pod, POD_SCHEMA, line) };
    case 'PodGone':
      return { kind, atMs, uid: uidIn(parsed, line) };
    case 'Told':
      return { kind, atMs, uid: uidIn(parsed, line), ...toldIn(parsed, line) };
    default:
      throw problem(
        line,
        `kind: ${shownValue(kind)}, expected one of JobSet, Pod, PodGone, Told, ${EVENT_KINDS.join(', ')}`,
      );
  }
}

function uidIn({ uid }: JsonObject, line: number): string {
  if (typeof uid === 'string' && uid !== '') return uid;
  throw problem(line, `uid: ${shownValue(uid)}, expected the UID of a Pod`);
}

function toldIn({ epoch, progress: fields }: JsonObject, line: number): Told {
  if (epoch !== undefined && !isEpoch(epoch)) {
    throw problem(line, `epoch: ${shownValue(epoch)}, expected an epoch`);
  }
  const progress = isJsonObject(fields) ? parseProgress(fields) : undefined;
  if (fields !== undefined && progress === undefined) {
    throw problem(line, `progress: ${shownValue(fields)}, expected the progress of a worker`);
  }
  return defined({ epoch, progress });
}

function checked<T>(field: string, value: unknown, schema: JsonSchema, line: number): T {
  const refuse = (what: string): TraceProblem => problem(line, `${field}: ${what}`);
  if (!isJsonObject(value)) throw refuse(`${shownValue(value)}, expected an object`);
  const [error] = validate(object({ metadata: OBJECT_META }), value).concat(
    validate(schema, value),
  );
  if (error !== undefined) throw refuse(formatFieldError(error));
  const { metadata: meta = {} } = value as { readonly metadata?: ObjectMeta };
  const [wrong] = objectMetaErrors(meta, IN_A_NAMESPACE);
  if (wrong !== undefined) throw refuse(formatFieldError(wrong));
  for (const name of ['name', 'uid', 'creationTimestamp', 'resourceVersion'] as const) {
    if (!meta[name]) throw refuse(`metadata.${name}: ${shownValue(meta[name])}, expected a text`);
  }
  if (!isJsonObject(value['spec'])) throw refuse('spec: nothing, expected an object');
  return value as T;
}

/** At most `SHOWN_LENGTH` characters, on one line. */
function shownValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text =
    typeof value === 'string' ? quote(value.slice(0, SHOWN_LENGTH)) : JSON.stringify(value);
  return text.length > 2 * SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}...` : text;
}
