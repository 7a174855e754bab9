/** Which members a reader looks for. */
import { memberState } from '../../../../jobset/view/member-state.ts';
import type { MemberView } from '../../../../jobset/view/status-view.ts';
import type { RunState } from './states.ts';

export const KINDS = ['All', 'Behind', 'NotReady', 'Lagging'] as const;
export type Kind = (typeof KINDS)[number];

export interface Filter {
  readonly kind: Kind;
  readonly text: string;
}

export const NO_FILTER: Filter = { kind: 'All', text: '' };

/** `Behind`: it has not announced the current epoch, or makes steps that others have made before. */
export function matches({ kind, text }: Filter, member: MemberView, group: RunState): boolean {
  if (kind === 'All' && text === '') return true;
  return isOfKind(kind, member, group) && hasText(text.trim().toLowerCase(), member);
}

const READY: readonly string[] = ['Running', 'Succeeded', 'AtBarrier'];
/** A member that is one step behind is on its way. */
const STEPS_OF_CHANCE = 1;

function isOfKind(kind: Kind, member: MemberView, group: RunState): boolean {
  const state = memberState(member, group);
  switch (kind) {
    case 'All':
      return true;
    case 'Behind': {
      const { step } = member.progress ?? {};
      const { highestStep = 0 } = group.progress ?? {};
      return state === 'Behind' || (step !== undefined && highestStep - step > STEPS_OF_CHANCE);
    }
    case 'NotReady':
      return !READY.includes(state);
    case 'Lagging':
      return member.progress?.lag !== undefined;
  }
}

function hasText(text: string, { pod, node, job, index, heldBy, phase }: MemberView): boolean {
  if (text === '') return true;
  const all = [pod, node ?? '', `${job}/${index ?? ''}`, heldBy ?? '', phase];
  return all.some((each) => each.toLowerCase().includes(text));
}
