import { describe, expect, it, test } from 'vitest';
import {
  groupProgress,
  type MemberSteps,
  parseMemberSteps,
  ranksBehind,
} from './group-progress.ts';

function member(of: Partial<MemberSteps>): MemberSteps {
  return { silentMs: 0, ...of };
}

const LAG = { local: 1, silentMs: 60_000 };

/** A member that made this many steps in the last 100 s. */
function made(steps: number): MemberSteps {
  return member({ step: 1000, recent: { steps, ms: 100_000 } });
}

describe('a group', () => {
  it.each<[string, readonly Partial<MemberSteps>[], object]>([
    ['without reports says nothing', [], {}],
    ['that only sets up says nothing', [{ phase: 'setup' }], {}],
    [
      'is where its members are',
      [{ step: 7, checkpoint: 5 }, { step: 9 }, { phase: 'save', checkpoint: 3 }],
      { lowestStep: 7, highestStep: 9, checkpoint: 5 },
    ],
    ['of one reports its steps', [{ step: 0 }], { lowestStep: 0, highestStep: 0 }],
    [
      'has the rate of the one in the middle',
      [made(100), made(500), made(400)],
      { lowestStep: 1000, highestStep: 1000, stepsPerSecond: 4 },
    ],
    [
      'has a rate between the two in the middle',
      [made(100), made(500), made(400), made(200)],
      { lowestStep: 1000, highestStep: 1000, stepsPerSecond: 3 },
    ],
    [
      'keeps the steps of the largest numbers apart',
      [{ step: Number.MAX_SAFE_INTEGER }, { step: Number.MAX_SAFE_INTEGER - 1 }],
      { lowestStep: Number.MAX_SAFE_INTEGER - 1, highestStep: Number.MAX_SAFE_INTEGER },
    ],
  ])('%s', (_what, members, expected) => {
    expect(groupProgress(members.map(member))).toEqual(expected);
  });
});

test.each<[string, readonly Partial<MemberSteps>[], number | undefined]>([
  ['no member', [], undefined],
  ['members that report as a whole', [{ step: 3 }], undefined],
  ['ranks, none of which lags', [{ ranks: 8 }, { step: 3 }], 0],
  [
    'ranks of two members',
    [{ ranks: 8, lag: [LAG, LAG] }, { ranks: 8 }, { ranks: 2, lag: [LAG] }],
    3,
  ],
])('ranks that lag are counted: %s', (_what, members, expected) => {
  expect(ranksBehind(members.map(member))).toBe(expected);
});

test.each<[string, object, MemberSteps | undefined]>([
  [
    'all of it',
    { step: 9, checkpoint: 5, phase: 'save', silentMs: 3, recent: { steps: 4, ms: 10 } },
    { step: 9, checkpoint: 5, phase: 'save', silentMs: 3, recent: { steps: 4, ms: 10 } },
  ],
  ['no silence', { step: 9 }, undefined],
  ['a rate of no time', { silentMs: 3, recent: { steps: 4, ms: 0 } }, { silentMs: 3 }],
  ['a rate backwards', { silentMs: 3, recent: { steps: -4, ms: 9 } }, { silentMs: 3 }],
  ['a rate that is a text', { silentMs: 3, recent: '4' }, { silentMs: 3 }],
])('what the hub reports of a member is read: %s', (_what, fields, expected) => {
  expect(parseMemberSteps(fields as Parameters<typeof parseMemberSteps>[0])).toEqual(expected);
});
