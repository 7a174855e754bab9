import { expect, test } from 'vitest';
import { changeCondition, isFinished, MAX_MESSAGE_BYTES } from './conditions.ts';

const NOW_MS = Date.parse('2026-01-02T03:04:05.678Z');
const OLD = {
  type: 'Suspended',
  status: 'True',
  reason: 'SuspendedJobs',
  message: 'jobset is suspended',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
const { lastTransitionTime: _time, ...SAME } = OLD;

test.each([
  [
    'an absent one is added when it is True',
    [],
    SAME,
    [{ ...SAME, lastTransitionTime: '2026-01-02T03:04:05Z' }],
  ],
  ['an absent one is not added when it is False', [], { ...SAME, status: 'False' }, []],
  ['the same again changes nothing', [OLD], SAME, [OLD]],
  [
    'a new message keeps the time of the transition',
    [OLD],
    { ...SAME, message: 'other' },
    [{ ...OLD, message: 'other' }],
  ],
  [
    'a new status moves the time',
    [OLD],
    { ...SAME, status: 'False', reason: 'ResumeJobs' },
    [{ ...OLD, status: 'False', reason: 'ResumeJobs', lastTransitionTime: '2026-01-02T03:04:05Z' }],
  ],
] as const)('conditions: %s', (_behaviour, before, change, after) => {
  const changed = changeCondition(before, change, NOW_MS);
  expect(changed).toEqual(after);
  expect(changed === before).toBe(JSON.stringify(before) === JSON.stringify(after));
});

test('a long message is cut between characters, and is no change when it comes again', () => {
  const change = { ...SAME, message: `1${'\u{1f600}'.repeat(20_000)}` };
  const changed = changeCondition([OLD], change, NOW_MS);
  const message = changed[0]?.message ?? '';
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
  expect(message).toMatch(/^1\u{1f600}+\.\.\.$/u);
  expect(changeCondition(changed, change, NOW_MS)).toBe(changed);
});

test('the two of the startup policy: one that becomes True turns the other off in its place', () => {
  const progress = { ...OLD, type: 'StartupPolicyInProgress', reason: 'P', message: 'p' } as const;
  const completed = {
    type: 'StartupPolicyCompleted',
    status: 'True',
    reason: 'C',
    message: 'c',
  } as const;
  const done = changeCondition([progress], completed, NOW_MS);
  const time = '2026-01-02T03:04:05Z';
  expect(done).toEqual([
    { ...progress, status: 'False' },
    { ...completed, lastTransitionTime: time },
  ]);
  const { lastTransitionTime: _, ...again } = progress;
  expect(changeCondition(done, again, NOW_MS)).toEqual([
    { ...progress, lastTransitionTime: time },
    { ...completed, status: 'False', lastTransitionTime: time },
  ]);
});

test('a JobSet is finished by Completed or Failed that is True', () => {
  expect(isFinished(undefined)).toBe(false);
  expect(isFinished([{ ...OLD, type: 'Failed', status: 'False' }])).toBe(false);
  expect(isFinished([{ ...OLD, type: 'Failed' }])).toBe(true);
  expect(isFinished([{ ...OLD, type: 'Completed' }])).toBe(true);
});
