import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, it, test } from 'vitest';
import { storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import { groupState } from '../jobset/epoch/group-state.ts';
import type { GroupRanks, StoredRanks } from '../jobset/jobset-status.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import { type Body, startAgent } from './agent.ts';
import { step } from './barrier.ts';
import type { Barrier, BarrierEvent, Effect } from './barrier-state.ts';
import type { Channel, ChannelListener, GroupSnapshot } from './channel.ts';
import { EnvironmentReader } from './environment.ts';
import { NO_MARKER, processMarkerStore } from './marker.ts';
import { numbersIn, ownRanksOf } from './own-ranks.ts';
import { MemberProgress } from './progress/member-progress.ts';

const ENV = {
  LOCKSTEP_PROCESSES_PER_POD: '8',
  LOCKSTEP_JOB_INDEX: '1',
  JOB_COMPLETION_INDEX: '2',
  REPLICATED_JOB_NAME: 'workers',
};
const OWN = {
  replicatedJob: 'workers',
  jobIndex: 1,
  completionIndex: 2,
  processes: 8,
  hasLogPrefix: true,
};
const RANKS: GroupRanks = {
  world: 64,
  groups: 8,
  master: 'train-workers-0-0.train',
  replicatedJobs: [
    { name: 'workers', firstGroupRank: 0, firstRank: 0, processesPerPod: 8, podsPerJob: 4 },
  ],
};
const NUMBERS: MemberRanks = {
  processes: 8,
  firstRank: 48,
  world: 64,
  groupRank: 6,
  groups: 8,
  master: 'train-workers-0-0.train',
};

describe('the ranks of an agent', () => {
  test.each<[string, object, object | undefined]>([
    ['are those of its variables', ENV, OWN],
    ['may have no prefix', { ...ENV, LOCKSTEP_LOG_PREFIX: 'Off' }, { ...OWN, hasLogPrefix: false }],
    [
      'are none without a number of processes',
      { ...ENV, LOCKSTEP_PROCESSES_PER_POD: '' },
      undefined,
    ],
  ])('%s', (_what, env, expected) => {
    const read = new EnvironmentReader({ ...env });
    expect(ownRanksOf(read)).toEqual(expected);
    expect(read.errors).toEqual([]);
  });

  test.each<[string, object]>([
    ['LOCKSTEP_PROCESSES_PER_POD', { LOCKSTEP_PROCESSES_PER_POD: '65' }],
    ['LOCKSTEP_PROCESSES_PER_POD', { LOCKSTEP_PROCESSES_PER_POD: '0' }],
    ['LOCKSTEP_JOB_INDEX', { LOCKSTEP_JOB_INDEX: '' }],
    ['JOB_COMPLETION_INDEX', { JOB_COMPLETION_INDEX: '-1' }],
    ['REPLICATED_JOB_NAME', { REPLICATED_JOB_NAME: '' }],
    ['LOCKSTEP_LOG_PREFIX', { LOCKSTEP_LOG_PREFIX: 'Never' }],
  ])('are an error if %s is wrong', (name, wrong) => {
    const read = new EnvironmentReader({ ...ENV, ...wrong });
    ownRanksOf(read);
    expect(read.errors).toEqual([expect.stringContaining(`environment variable ${name}: `)]);
  });
});

test.each([
  ['taken for the epoch that they were counted for', 4, NUMBERS],
  ['left alone if they are of the epoch before, as an older operator keeps them', 3, undefined],
  ['left alone without an epoch', undefined, undefined],
])('numbers in a status are %s', (_what, epoch, expected) => {
  const jobSet = storedJobSet({});
  const stored = { deprecatedEpoch: 3, syncedEpoch: 4, ranks: { ...RANKS, epoch } as StoredRanks };
  expect(numbersIn(groupState({ ...jobSet, status: stored }, 'workers'), OWN)).toEqual(expected);
});

function status(
  [deprecated, released]: readonly [number, number],
  ranks: GroupRanks | undefined,
  rest: Partial<GroupSnapshot> = {},
): GroupSnapshot {
  const flags = { isBypassed: false, isFresh: true, timeouts: {}, members: 8 };
  const state = { uid: 'uid-1', version: '7', deprecated, released, ...flags, ...rest };
  return ranks === undefined ? state : { ...state, ranks };
}

function seen(...of: Parameters<typeof status>): BarrierEvent {
  return { type: 'snapshot', snapshot: status(...of) };
}

/** The effects of these events from the start of an agent on, without writes of markers. */
function play(...events: readonly BarrierEvent[]): readonly Effect[] {
  let state: Barrier = {
    mode: 'Supervisor',
    jobSetUid: 'uid-1',
    marker: NO_MARKER,
    known: undefined,
    isPodEnding: false,
    isCutOff: false,
    stage: { name: 'Unsynced' },
    ownRanks: OWN,
  };
  const effects: Effect[] = [];
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    effects.push(...next.effects.filter(({ type }) => type !== 'writeMarker'));
  }
  return effects;
}

const WRITTEN: BarrierEvent = { type: 'markerWritten' };
const AT_BARRIER = [seen([0, 0], undefined), WRITTEN, { type: 'announced', epoch: 1 }] as const;
const ANNOUNCES = expect.objectContaining({ type: 'announce' });
const MISSES = { type: 'missNumbers' };
const LIFTS = { type: 'lift', epoch: 1, ranks: NUMBERS };

describe('a barrier before ranks', () => {
  const OTHER = { ...RANKS, groups: 4, world: 32 };
  const FOUR = { ...RANKS.replicatedJobs[0], name: 'workers', processesPerPod: 4 };
  const HALF = { ...RANKS, world: 32, replicatedJobs: [{ ...RANKS.replicatedJobs[0], ...FOUR }] };

  it('lifts with the numbers of the release', () => {
    expect(play(...AT_BARRIER, seen([0, 1], RANKS), WRITTEN)).toEqual([ANNOUNCES, LIFTS]);
  });

  test.each<[string, GroupRanks | undefined]>([
    ['there are no numbers', undefined],
    ['they are of a group without this member', OTHER],
    ['they are of another number of processes', HALF as GroupRanks],
  ])('stays down while %s, says so once, and lifts when it hears its own', (_why, ranks) => {
    const waits = [...AT_BARRIER, seen([0, 1], ranks), seen([0, 1], ranks)];
    expect(play(...waits)).toEqual([ANNOUNCES, MISSES]);
    expect(play(...waits, seen([0, 1], RANKS), WRITTEN)).toEqual([ANNOUNCES, MISSES, LIFTS]);
  });

  it('stays down if the numbers are gone while the marker is written', () => {
    const events = [...AT_BARRIER, seen([0, 1], RANKS), seen([0, 1], undefined), WRITTEN];
    expect(play(...events)).toEqual([ANNOUNCES, MISSES]);
    expect(play(...events, seen([0, 1], RANKS), WRITTEN)).toEqual([ANNOUNCES, MISSES, LIFTS]);
  });

  it('opens with the numbers of now while it is bypassed, and not before', () => {
    const bypassed = { isBypassed: true };
    const events = [seen([0, 0], undefined, bypassed), seen([0, 0], RANKS, bypassed), WRITTEN];
    expect(play(...events)).toEqual([MISSES, LIFTS]);
  });

  it('says in the next epoch again that it waits', () => {
    const next = [seen([1, 1], undefined), WRITTEN, { type: 'announced', epoch: 2 } as const];
    const events = [...AT_BARRIER, seen([0, 1], undefined), ...next, seen([1, 2], undefined)];
    const misses = play(...events).filter(({ type }) => type === 'missNumbers');
    expect(misses).toEqual([MISSES, MISSES]);
  });

  it('continues with the next epoch if its own ends before it hears its numbers', () => {
    const events = [...AT_BARRIER, seen([0, 1], undefined), seen([1, 1], undefined), WRITTEN];
    const next = { type: 'announce', announcement: expect.objectContaining({ epoch: 2 }) };
    expect(play(...events)).toEqual([ANNOUNCES, MISSES, next]);
  });
});

it('an agent hands the numbers to its body, and logs once that it misses them', async () => {
  let listener: ChannelListener | undefined;
  const channel: Channel = {
    open: (to) => {
      listener = to;
    },
    announce: ({ epoch }) => listener?.announced(epoch),
    giveNotice: () => Promise.resolve(),
    tellSuccess: () => undefined,
    askForPod: () => undefined,
    ping: () => undefined,
    close: () => undefined,
  };
  const lifts: unknown[] = [];
  const body: Body = {
    mode: 'Supervisor',
    progress: new MemberProgress(),
    lift: (epoch, _ended, ranks) => lifts.push([epoch, ranks]),
    stopWorker: () => undefined,
    killHung: () => undefined,
    hurry: () => undefined,
  };
  const logger = new MemoryLogger();
  startAgent({
    jobSetUid: 'uid-1',
    marker: NO_MARKER,
    markers: processMarkerStore(),
    channel,
    body,
    ownRanks: OWN,
    clock: new VirtualClock(),
    logger,
  });
  const hear = async (...of: Parameters<typeof status>): Promise<void> => {
    listener?.snapshot(status(...of));
    await new Promise((resolve) => setImmediate(resolve));
  };
  await hear([0, 0], undefined);
  await hear([0, 1], undefined);
  await hear([0, 1], undefined);
  const warnings = logger.records.filter(({ level }) => level === 'warn');
  expect(warnings.map(({ message }) => message)).toEqual([
    'no rank may start: nothing says which numbers they have',
  ]);
  expect(String(warnings[0]?.fields['why'])).toContain('has none for epoch 1:');
  expect(lifts).toEqual([]);
  await hear([0, 1], RANKS);
  expect(lifts).toEqual([[1, NUMBERS]]);
});
