import { expect, it } from 'vitest';
import { MAX_EVENTS, MAX_LINE_LENGTH, parseTrace, TraceProblem } from './parse-trace.ts';
import { HEAD, jobSetLine, LINES, podLine, textOf } from './trace.fixture.ts';

const EVENT = { kind: 'Peace', atMs: 5, text: '>> peace' };
const A_TRACE = 'expected what "npm run simulate -- --seed N --trace FILE" writes';

it('reads events and states in their order', () => {
  const { head, events, states } = parseTrace(textOf(LINES));
  expect(head).toEqual(HEAD);
  expect(events.map((event) => [event.kind, event.states])).toEqual([
    ['Act', 0],
    ['Announced', 4],
    ['Status', 6],
    ['WorkerEnds', 7],
    ['Violated', 9],
    ['Peace', 9],
  ]);
  expect(states.map(({ line }) => line)).toEqual([3, 4, 5, 6, 8, 9, 11, 13, 14]);
});

/** A fault whose line has so many characters. */
function longLine(length: number): string {
  const line = JSON.stringify({ ...EVENT, x: '' });
  return line.replace('"x":""', `"x":"${'x'.repeat(length - line.length)}"`);
}

it('reads a line of the longest length, and refuses a longer one before it parses it', () => {
  const head = textOf([HEAD]);
  expect(parseTrace(`${head}${longLine(MAX_LINE_LENGTH)}`).events).toHaveLength(1);
  expect(() => parseTrace(`${head}${longLine(MAX_LINE_LENGTH + 1)}`)).toThrow(
    new TraceProblem('line 2: it has 2000001 characters, expected at most 2000000'),
  );
  expect(() => parseTrace(`${head}${'{'.repeat(MAX_LINE_LENGTH + 1)}`)).toThrow('line 2: it has');
});

const DEEP = '['.repeat(200_000) + ']'.repeat(200_000);

it.each<[what: string, text: string, line: number]>([
  ['version', `{"kind":"Trace","version":${DEEP}}`, 1],
  ['event', `${textOf([HEAD])}{"kind":"Peace","atMs":5,"text":${DEEP}}`, 2],
  ['JobSet', `${textOf([HEAD])}{"kind":"JobSet","atMs":5,"jobSet":{"spec":{"a":${DEEP}}}}`, 2],
])('names the line of a deep %s', (_, text, line) => {
  const message = `line ${line}: it has more than 1000 levels of lists and objects, expected no more`;
  expect(() => parseTrace(text)).toThrow(new TraceProblem(message));
});

it('reads a last line without a line feed', () => {
  expect(parseTrace(textOf([HEAD, EVENT]).trimEnd()).events).toHaveLength(1);
});

it.each<[what: string, text: string, message: string]>([
  ['nothing', '', `it is empty, ${A_TRACE}`],
  ['another text', 'hello\n', `line 1: "hello", ${A_TRACE}`],
  ['control characters', '\u001b[31m\n', `line 1: "\\x1b[31m", ${A_TRACE}`],
  ['another JSON', '[]\n', `line 1: "[]", ${A_TRACE}`],
  [
    'a line that is cut off',
    `${textOf([HEAD, EVENT])}{"kind":"Pe`,
    'line 3: "{\\"kind\\":\\"Pe", expected an object in JSON; the file seems to be cut off there',
  ],
  [
    'an empty line',
    `${textOf([HEAD])}\n${textOf([EVENT])}`,
    'line 2: "", expected an object in JSON',
  ],
  ['no events', textOf([HEAD]), 'line 1: the file ends without any event, expected one'],
])('refuses %s', (_, text, message) => {
  expect(() => parseTrace(text)).toThrow(new TraceProblem(message));
});

const MANY_EVENTS = `${textOf([HEAD])}${`${JSON.stringify(EVENT)}\n`.repeat(MAX_EVENTS + 1)}`;

it('refuses more events than a page takes', () => {
  expect(() => parseTrace(MANY_EVENTS)).toThrow(
    `line ${MAX_EVENTS + 2}: there are more than ${MAX_EVENTS} events, expected no more`,
  );
});

it.each<[what: string, line: object, message: string]>([
  ['no head', EVENT, A_TRACE],
  ['another version', { ...HEAD, version: 2 }, 'version: 2, expected 1'],
  ['a seed that is none', { ...HEAD, seed: -1 }, 'seed: -1, expected a whole number'],
  ['no start', { ...HEAD, startMs: '1' }, 'startMs: "1", expected milliseconds since 1970'],
  ['a start beyond all dates', { ...HEAD, startMs: 1e300 }, 'startMs: 1e+300, expected'],
])('refuses a head with %s', (_, line, message) => {
  expect(() => parseTrace(textOf([line, EVENT]))).toThrow(`line 1: `);
  expect(() => parseTrace(textOf([line, EVENT]))).toThrow(message);
});

const TOLD = { kind: 'Told', atMs: 6, uid: 'a' };

it.each<[what: string, line: object, message: string]>([
  [
    'no time',
    { ...EVENT, atMs: undefined },
    'atMs: nothing, expected milliseconds, at least the 5 of the line before',
  ],
  ['a time that goes back', { ...EVENT, atMs: 4 }, 'atMs: 4, expected milliseconds'],
  [
    'an unknown kind',
    { kind: 'Node', atMs: 6 },
    'kind: "Node", expected one of JobSet, Pod, PodGone, Told, Act',
  ],
  ['no kind', { atMs: 6 }, 'kind: nothing, expected one of'],
  ['a second head', { ...HEAD, atMs: 6 }, 'kind: "Trace", expected one of'],
  ['a kind that all objects have', { kind: 'toString', atMs: 6 }, 'kind: "toString", expected'],
  ['no text', { kind: 'Peace', atMs: 6 }, 'text: nothing, expected a text of at most 4096'],
  ['a long text', { ...EVENT, text: 'x'.repeat(4097) }, 'expected a text of at most 4096'],
  ['no UID', { kind: 'PodGone', atMs: 6 }, 'uid: nothing, expected the UID of a Pod'],
  ['a wrong epoch', { ...TOLD, epoch: 0 }, 'epoch: 0, expected an epoch'],
  [
    'a wrong progress',
    { ...TOLD, progress: { step: -1, silentMs: 0 } },
    'progress: {"step":-1,"silentMs":0}, expected the progress of a worker',
  ],
  ['no JobSet', { kind: 'JobSet', atMs: 6 }, 'jobSet: nothing, expected an object'],
  [
    'a JobSet without metadata',
    { kind: 'JobSet', atMs: 6, jobSet: { spec: {} } },
    'jobSet: metadata.name',
  ],
  [
    'a wrong JobSet',
    changed(jobSetLine(6, 0, 0), 'jobSet', { spec: { replicatedJobs: 5 } }),
    'jobSet: spec.replicatedJobs: Invalid value: "integer"',
  ],
  [
    'a JobSet without a spec',
    changed(jobSetLine(6, 0, 0), 'jobSet', { spec: undefined }),
    'jobSet: spec',
  ],
  [
    'a wrong status',
    changed(jobSetLine(6, 0, 0), 'jobSet', { status: { conditions: 'x' } }),
    'jobSet: status.conditions: Invalid value: "string"',
  ],
  [
    'a wrong Pod',
    changed(podLine(6, 0), 'pod', { status: { phase: 5 } }),
    'pod: status.phase: Invalid value: "integer"',
  ],
  [
    'wrong labels',
    changed(podLine(6, 0), 'pod', { metadata: { labels: { a: 5 } } }),
    'pod: metadata.labels.a: Invalid value: "integer"',
  ],
  [
    'a Pod without a UID',
    changed(podLine(6, 0), 'pod', { metadata: { name: 'a', namespace: 'b' } }),
    'pod: metadata.uid: nothing, expected a text',
  ],
])('refuses a line with %s', (_, line, message) => {
  expect(() => parseTrace(textOf([HEAD, EVENT, line]))).toThrow(`line 3: `);
  expect(() => parseTrace(textOf([HEAD, EVENT, line]))).toThrow(message);
});

function changed(line: object, field: 'jobSet' | 'pod', change: object): object {
  const { [field]: object } = line as Readonly<Record<string, object>>;
  return { ...line, [field]: { ...object, ...change } };
}
