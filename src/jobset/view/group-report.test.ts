import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { type GroupReport, groupReport, parseGroupReports, seenOf } from './group-report.ts';

const SILENCE = { sinceMs: 93_000, limitMs: 10_000, isLong: true, isSinceRelease: true } as const;
const GROUP = { jobSet: 'uid', epoch: 3, announced: 4 };

it('tells how long a group is silent, whatever the clocks of hub and reader say', () => {
  const report = groupReport({ ...GROUP, silence: SILENCE }, 100_000);
  expect(report.silence).toEqual({
    forMs: 7000,
    limitMs: 10_000,
    isLong: true,
    isSinceRelease: true,
  });
  const text = JSON.stringify([report, groupReport(GROUP, 0)]);
  expect(parseGroupReports(text, 500_300)).toEqual([
    { ...GROUP, silence: { ...SILENCE, sinceMs: 493_000 } },
    GROUP,
  ]);
});

it('counts only for the epoch of which it tells', () => {
  const seen = { announced: 4, silence: SILENCE };
  expect(seenOf(jobSetWith(2, 2, 7), { ...GROUP, silence: SILENCE })).toEqual(seen);
  expect(seenOf(jobSetWith(3, 3, 7), { ...GROUP, silence: SILENCE })).toEqual({});
  expect(seenOf(jobSetWith(2, 2, 7), undefined)).toEqual({});
});

const SOUND: GroupReport = { ...GROUP, silence: { forMs: 1, isLong: false } };

it.each<[string, unknown]>([
  ['no list', SOUND],
  ['no object', [1]],
  ['an epoch that is none', [{ ...SOUND, epoch: 'x' }]],
  ['no UID', [{ ...SOUND, jobSet: 7 }]],
  ['a count that is none', [{ ...SOUND, announced: -1 }]],
  ['a silence of words', [{ ...SOUND, silence: 'long' }]],
  ['a silence without end', [{ ...SOUND, silence: { forMs: 1e300, isLong: true } }]],
  ['a time-out that is none', [{ ...SOUND, silence: { forMs: 1, isLong: true, limitMs: '1' } }]],
])('takes nothing from a Pod that answers with %s', (_what, answer) => {
  expect(parseGroupReports(JSON.stringify([SOUND]), 0)).toHaveLength(1);
  expect(parseGroupReports(JSON.stringify(answer), 0)).toBeUndefined();
  expect(parseGroupReports('{', 0)).toBeUndefined();
});
