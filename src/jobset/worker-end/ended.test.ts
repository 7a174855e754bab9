import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEnded, withEnded } from './ended.ts';
import type { WorkerEnd } from './worker-end.ts';

const SIGNS = {
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
const HUNG = { how: 'Hung', signal: 'SIGKILL', agoMs: 12, ...SIGNS };
const END: WorkerEnd = {
  epoch: 7,
  how: 'Hung',
  exit: { signal: 'SIGKILL' },
  ...SIGNS,
  atMs: -12,
};

describe('the signs of an end', () => {
  test.each<[object, WorkerEnd]>([
    [HUNG, END],
    [
      { how: 'Exited', exitCode: 1, byItself: true, agoMs: 0 },
      { epoch: 7, how: 'Exited', exit: { exitCode: 1 }, atMs: 0 },
    ],
  ])('%j are taken as they are', (report, end) =>
    expect(parseEnded({ ...report, later: 1 }, 7)).toEqual(end),
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
    { how: 'Exited', agoMs: 1, exitCode: 1, signal: 'SIGKILL' },
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
    expect(parseEnded(report, 7)).toBeUndefined();
  });

  test('loses its last words before anything else', () => {
    const fields = { epoch: 8, starts: 1 };
    const size = (value: object): number => JSON.stringify(value).length;
    const { lastWords: _, ...bare } = HUNG;
    expect(withEnded(fields, END, 1500)).toEqual({ ...fields, ended: HUNG });
    const least = size({ ...fields, ended: bare });
    expect(withEnded(fields, END, least)).toEqual({ ...fields, ended: bare });
    expect(withEnded(fields, END, least - 1)).toEqual(fields);
    expect(withEnded(fields, undefined, 1500)).toEqual(fields);
  });

  test('never takes more than its limit', () => {
    const words = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(words, fc.integer({ min: 60, max: 700 }), (lastWords, limit) => {
        const told = withEnded(
          { epoch: 8 },
          { epoch: 7, how: 'Exited', lastWords, atMs: -1 },
          limit,
        );
        expect(new TextEncoder().encode(JSON.stringify(told)).byteLength).toBeLessThanOrEqual(
          limit,
        );
      }),
    );
  });
});
