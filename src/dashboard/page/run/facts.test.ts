import { describe, expect, it } from 'vitest';
import type { JobSetView, MemberView } from '../../../jobset/view/status-view.ts';
import { factsOf } from './facts.tsx';

const GOODPUT: NonNullable<JobSetView['goodput']> = {
  elapsedMs: 10_000,
  classes: {
    Waiting: 1000,
    Suspended: 0,
    Starting: 0,
    Productive: 9000,
    Lost: 0,
    Running: 0,
    Hung: 0,
    Restarting: 0,
    Pending: 0,
  },
  share: 0.9,
  unknown: null,
  savedMs: 9000,
  judgedMs: 10_000,
  judgedUntilMs: 50_000,
};
const JOB_SET: JobSetView = {
  namespace: 'default',
  name: 'train',
  state: 'Released',
  shown: { kind: 'Running', text: 'Running' },
  epoch: 4,
  syncedEpoch: 4,
  replicatedJobs: 1,
  lastFailure: null,
  announced: 3,
  size: 4,
  inPlaceRestarts: 3,
  restarts: 0,
  backoffEndMs: null,
  countedRestarts: 2,
  maxRestarts: 5,
  extraRestarts: 1,
  restartsWithoutProgress: 0,
  progress: {
    lowestStep: 88,
    highestStep: 100,
    checkpoint: 90,
    checkpointMs: 4000,
    stepsPerSecond: 2,
  },
  conditions: [],
  restartHistory: [],
  goodput: GOODPUT,
  restoreWarning: null,
  avoidedNodes: [],
};
const MEMBERS = new Map([
  ['a', { phase: 'Running' } as MemberView],
  ['b', { phase: 'Pending' } as MemberView],
]);
const NONE: ReadonlyMap<string, MemberView> = new Map();

const told = (
  more: Partial<JobSetView> = {},
  members: ReadonlyMap<string, MemberView> = MEMBERS,
): readonly string[] =>
  factsOf({ jobSet: { ...JOB_SET, ...more }, members, sinceMs: 1000, nowMs: 60_000 }).map(
    ({ name, value, more: rest }) => [name, value, rest].filter(Boolean).join('; '),
  );

describe('factsOf', () => {
  it('tells how a group does', () => {
    expect(told()).toEqual([
      'Epoch; 4; it runs',
      'Members running; 1 of 4',
      'Step; 100; 2.00 steps/s, 12 steps between first and last',
      'Checkpoint; 90; 5.0 s old',
      'Restarts used; 2 of 5; 3 in place, 1 extra',
      'Goodput; 90 %; 9.0 s of 10.0 s saved, until 10.0 s ago',
    ]);
  });

  it('tells no steps apart that reports of members alone can make', () => {
    const progress = { lowestStep: 89, highestStep: 100, stepsPerSecond: 2 };
    expect(told({ progress })).toContain('Step; 100; 2.00 steps/s');
  });

  it('keeps the last step of a run that is over', () => {
    const progress = { lowestStep: 100, highestStep: 100, checkpoint: 90 };
    expect(told({ state: 'Completed', progress }, NONE).slice(2, 4)).toEqual([
      'Last step; 100; that was reported',
      'Checkpoint; 90',
    ]);
  });

  it.each<[string, Partial<JobSetView>, readonly string[]]>([
    [
      'knows the checkpoint from goodput when nobody tells of it',
      { state: 'Completed', goodput: { ...GOODPUT, checkpoint: 1200 } },
      ['Last step; –; told only while members run', 'Checkpoint; 1,200'],
    ],
    [
      'prefers what members tell',
      { progress: { checkpoint: 90 }, goodput: { ...GOODPUT, checkpoint: 80 } },
      ['Step; –; no member reports steps', 'Checkpoint; 90'],
    ],
    [
      'says that a run without checkpoints is over',
      { state: 'Completed', goodput: { ...GOODPUT, share: 1 } },
      ['Last step; –; told only while members run', 'Checkpoint; –; none was reported'],
    ],
  ])('%s', (_, more, facts) => {
    expect(told({ progress: null, ...more }, NONE).slice(2, 4)).toEqual(facts);
  });

  it('tells for whom a group waits', () => {
    expect(told({ state: 'AtBarrier', epoch: 5 }).slice(0, 2)).toEqual([
      'Epoch; 5; members gather for it',
      'At the barrier; 3 of 4; waits for 1 member',
    ]);
  });

  it('has words for what is not there', () => {
    const plain = { state: 'Running', epoch: null, syncedEpoch: null } as const;
    expect(
      told({ ...plain, progress: null, goodput: null, extraRestarts: 0, restarts: 1 }),
    ).toEqual([
      'Members running; 1 of 4',
      'Step; –; no member reports steps',
      'Checkpoint; –; none is reported',
      'Restarts used; 2 of 5; 1 of all Jobs',
      'Goodput; unknown; its time is not accounted for',
    ]);
    expect(told({ state: 'Suspended' }, NONE)).toContain('Members; 4; no Pods now');
  });
});
