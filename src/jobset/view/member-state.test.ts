import { describe, expect, it } from 'vitest';
import { MEMBER_STATES, memberState, memberStateInWords } from './member-state.ts';
import type { MemberView } from './status-view.ts';

const MEMBER: MemberView = {
  label: '0',
  replicatedJob: 'workers',
  job: 'train-workers-0',
  index: '0',
  pod: 'train-workers-0-0-abcde',
  node: 'node-1',
  isNodeLost: false,
  phase: 'Running',
  heldBy: null,
  epoch: 4,
  channel: 'Hub',
  lastCause: null,
  progress: { step: 100, silentMs: 20 },
};
const RELEASED = { state: 'Released', epoch: 4 } as const;
const GATHERING = { state: 'AtBarrier', epoch: 4 } as const;
const FAILED = { state: 'Failed', epoch: 4 } as const;

describe('a member', () => {
  it.each([
    ['Running', 'Running', {}, RELEASED],
    ['Running', 'Running', { epoch: null }, { state: 'Running', epoch: null }],
    // An unknown epoch is not behind.
    ['Running', 'Running', { epoch: null }, RELEASED],
    ['Running', 'Running', { epoch: 3 }, FAILED],
    ['AtBarrier', 'At barrier', {}, GATHERING],
    ['Running', 'Running', {}, { ...GATHERING, releasedFirst: ['workers'] }],
    ['AtBarrier', 'At barrier', {}, { ...GATHERING, releasedFirst: ['driver'] }],
    ['Behind', 'Not at barrier', { epoch: 3 }, GATHERING],
    ['Behind', 'Not at barrier', { epoch: 3 }, RELEASED],
    ['Behind', 'Not at barrier', { epoch: null }, GATHERING],
    ['Pending', 'Pending', { phase: 'Pending' }, GATHERING],
    ['Pending', 'Unknown', { phase: 'Unknown' }, GATHERING],
    ['Held', 'Pending (Full)', { phase: 'Pending', heldBy: 'Full' }, GATHERING],
    ['Ending', 'Terminating', { phase: 'Terminating' }, GATHERING],
    ['Kept', 'Kept', { epoch: 5, isKept: true }, FAILED],
    ['NodeLost', 'Node lost', { isNodeLost: true }, GATHERING],
    ['Failed', 'Failed (Evicted)', { phase: 'Failed', heldBy: 'Evicted' }, RELEASED],
    ['Succeeded', 'Succeeded', { phase: 'Succeeded' }, RELEASED],
  ] as const)('is %s, in words %s', (state, words, more, group) => {
    const member = { ...MEMBER, ...more };
    expect(memberState(member, group)).toBe(state);
    expect(memberStateInWords(member, group)).toBe(words);
    expect(MEMBER_STATES).toHaveProperty(state);
  });
});
