import { expect, it } from 'vitest';
import type { ReportedRestart } from './reported-restarts.ts';
import { causeInWords, countedInWords, isFinalFailure } from './restart-words.ts';

const RECORD: ReportedRestart = {
  epoch: 4,
  time: '2026-11-23T10:00:00.500000Z',
  cause: 'WorkerFailed',
  counted: false,
};

it('says what ended an epoch', () => {
  const hang = { pod: 'p', exitCode: null, reason: 'WorkerHung', message: 'was silent' };
  expect(causeInWords(RECORD)).toBe('a worker failed');
  expect(causeInWords({ ...RECORD, witness: hang })).toBe('a worker hung');
  expect(causeInWords({ cause: 'Unheard' })).toBe('Unheard');
});

it('says why a restart did not count', () => {
  expect(countedInWords({ ...RECORD, counted: true }, false)).toBe('counted');
  expect(countedInWords(RECORD, true)).toBe('final: the JobSet failed');
  expect(countedInWords(RECORD, false)).toBe('not counted: the failure policy says so');
  expect(countedInWords({ ...RECORD, cause: 'Scaled' }, false)).toBe('not counted: no failure');
});

it.each([
  ['2026-11-23T10:00:00Z', false, true],
  ['2026-11-23T10:00:02Z', false, false],
  ['2026-11-23T10:00:00Z', true, false],
])('knows the failure that ended the run: failed at %s, counted %s', (time, counted, isFinal) => {
  expect(isFinalFailure({ ...RECORD, counted }, Date.parse(time))).toBe(isFinal);
});
