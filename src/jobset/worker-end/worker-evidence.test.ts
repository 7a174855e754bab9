import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginning, encodedBytes, lastLines, parseEnded, withEnded } from './worker-evidence.ts';

const HUNG = {
  how: 'Hung',
  signal: 'SIGKILL',
  agoMs: 12,
  silentMs: 61_000,
  longestMs: 900,
  step: 330,
  states: 'T',
  stoppedMs: 4000,
  cpuMs: 0,
  runnableMs: 4990,
  launcher: true,
  unfit: 'GPU 3: 2 uncorrectable errors',
  where: 'wait (sync.py:7)',
  failedMs: 2900,
  saidMs: 3000,
  lastWords: 'NCCL timeout\n',
} as const;

describe('the evidence of a worker', () => {
  test.each([HUNG, { how: 'Exited', exitCode: 1, byItself: true, agoMs: 0 }])(
    '%j is taken as it is',
    ({ agoMs, ...evidence }) =>
      expect(parseEnded({ ...evidence, agoMs, later: 1 })).toEqual({ evidence, atMs: 0 - agoMs }),
  );

  test.each([
    undefined,
    [],
    'Hung',
    {},
    { how: 'Hung' },
    { how: 'Vanished', agoMs: 1 },
    { how: 'Exited', agoMs: -1 },
    { how: 'Exited', agoMs: 1, exitCode: 256 },
    { how: 'Signaled', agoMs: 1, signal: 'kill' },
    { how: 'Killed', agoMs: 1, oom: 'yes' },
    { how: 'Killed', agoMs: 1, states: 'RRRRRRRR' },
    { how: 'Killed', agoMs: 1, states: 'T', stoppedMs: -1 },
    { how: 'Killed', agoMs: 1, runnableMs: '5000' },
    { how: 'Killed', agoMs: 1, launcher: false },
    { how: 'Killed', agoMs: 1, lastWords: 'a'.repeat(513) },
    { how: 'Killed', agoMs: 1, failedMs: -1 },
    { how: 'Killed', agoMs: 1, saidMs: 0.5 },
    { how: 'Hung', agoMs: 1, where: '' },
    { how: 'Hung', agoMs: 1, where: 'é'.repeat(65) },
    { how: 'Exited', agoMs: 1, unfit: '' },
    { how: 'Exited', agoMs: 1, unfit: 7 },
    { how: 'Exited', agoMs: 1, unfit: '\u001b'.repeat(34) },
  ])('%j counts as none', (report) => {
    expect(parseEnded(report)).toBeUndefined();
  });

  test('loses its last words before anything else', () => {
    const fields = { epoch: 8, starts: 1 };
    const size = (value: object): number => JSON.stringify(value).length;
    const { lastWords: _, ...bare } = HUNG;
    const { agoMs, ...evidence } = HUNG;
    const end = { evidence, atMs: -agoMs };
    expect(withEnded(fields, end, 1500)).toEqual({ ...fields, ended: HUNG });
    const least = size({ ...fields, ended: bare });
    expect(withEnded(fields, end, least)).toEqual({ ...fields, ended: bare });
    expect(withEnded(fields, end, least - 1)).toEqual(fields);
    expect(withEnded(fields, undefined, 1500)).toEqual(fields);
  });

  test('never takes more than its limit', () => {
    const words = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(words, fc.integer({ min: 60, max: 700 }), (lastWords, limit) => {
        const told = withEnded(
          { epoch: 8 },
          { evidence: { how: 'Exited', lastWords }, atMs: -1 },
          limit,
        );
        expect(new TextEncoder().encode(JSON.stringify(told)).byteLength).toBeLessThanOrEqual(
          limit,
        );
      }),
    );
  });
});

test.each([
  ['where', 9, 'where'],
  ['a😀b', 5, 'a😀'],
  ['a😀b', 4, 'a'],
  ['\u001b!', 5, ''],
])('the beginning of %j in %i bytes is %j', (text, limit, kept) => {
  expect(beginning(text, limit)).toBe(kept);
});

describe('the last lines of a text', () => {
  test.each([
    ['one\ntwo\nthree', 9, 'three'],
    ['one\ntwo', 100, 'one\ntwo'],
    ['without end', 3, 'end'],
    ['one\nlonger\n', 8, 'longer\n'],
    ['a😀', 4, '😀'],
    ['', 0, ''],
  ])('%j in %i bytes are %j', (text, limit, kept) => expect(lastLines(text, limit)).toBe(kept));

  test('fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(60), (text, limit) => {
        const kept = lastLines(text, limit);
        expect(encodedBytes(kept)).toBeLessThanOrEqual(limit);
        expect(text.endsWith(kept)).toBe(true);
      }),
    );
  });
});
