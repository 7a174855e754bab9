/** What one member does, for a table in a terminal and the page. */
import type { JobSetState } from './jobset-state.ts';
import type { JobSetView, MemberView } from './status-view.ts';

/** In words for a table with little room. If a member can have two states, the worse comes first. */
export const MEMBER_STATES = {
  Failed: 'Failed',
  NodeLost: 'Node lost',
  Held: 'Held',
  Kept: 'Kept',
  Ending: 'Terminating',
  Pending: 'Pending',
  Behind: 'Not at barrier',
  AtBarrier: 'At barrier',
  Running: 'Running',
  Succeeded: 'Succeeded',
} as const;
export type MemberState = keyof typeof MEMBER_STATES;

type RunState = Pick<JobSetView, 'state' | 'epoch' | 'releasedFirst'>;

/**
 * A Pod that is `Running` need not have a worker: it has none while its group gathers. If the epoch
 * of a member is not known, only the state of its Pod is shown.
 */
export function memberState(member: MemberView, group: RunState): MemberState {
  const { state, epoch, releasedFirst = [] } = group;
  const isBehind = isLive(state) && member.epoch !== null && member.epoch < (epoch ?? 0);
  if (member.phase === 'Succeeded') return 'Succeeded';
  if (member.phase === 'Failed') return 'Failed';
  if (member.isNodeLost) return 'NodeLost';
  if (member.phase === 'Terminating') return 'Ending';
  if (member.heldBy !== null) return 'Held';
  if (member.phase !== 'Running') return 'Pending';
  if (member.isKept === true) return 'Kept';
  if (state === 'AtBarrier' && !releasedFirst.includes(member.replicatedJob)) {
    return isBehind || member.epoch === null ? 'Behind' : 'AtBarrier';
  }
  if (isBehind) return 'Behind';
  return 'Running';
}

/** The state for a table, with the reason of a wait: `Pending (ErrImagePull)`. */
export function memberStateInWords(member: MemberView, group: RunState): string {
  const { phase, heldBy } = member;
  const state = memberState(member, group);
  if (state === 'Pending') return phase;
  const words = state === 'Held' ? phase : MEMBER_STATES[state];
  return heldBy === null ? words : `${words} (${heldBy})`;
}

function isLive(state: JobSetState): boolean {
  return state === 'AtBarrier' || state === 'Released';
}
