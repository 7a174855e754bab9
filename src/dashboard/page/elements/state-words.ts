/** What the states of a JobSet are called, and what they mean. */
import { STATE_KINDS, type StateKind } from '../../../jobset/view/shown-state.ts';

/** How a state looks: with what it has in common with others. */
export type Tone = 'active' | 'good' | 'warn' | 'bad' | 'idle';

export interface StateWords {
  /** For all JobSets of a kind; `stateWords` says more of one. */
  readonly word: string;
  readonly meaning: string;
  readonly tone: Tone;
}

export const STATE_WORDS: Readonly<Record<StateKind, StateWords>> = {
  Hung: { word: 'Hung?', meaning: 'Its workers are silent for longer than usual', tone: 'bad' },
  Stuck: { word: 'Stuck', meaning: 'It does not go on until somebody acts', tone: 'bad' },
  BackingOff: {
    word: 'Backing off',
    meaning: 'It failed several times right after its start, and waits before it starts again',
    tone: 'warn',
  },
  Failed: { word: 'Failed', meaning: 'It has failed for good', tone: 'bad' },
  AtBarrier: {
    word: 'At barrier',
    meaning: 'The members of the group gather for the next epoch',
    tone: 'warn',
  },
  Starting: { word: 'Starting', meaning: 'Its Pods start', tone: 'warn' },
  Running: { word: 'Running', meaning: 'Its workers run', tone: 'active' },
  Suspended: { word: 'Suspended', meaning: 'It has no Pods until it is resumed', tone: 'idle' },
  Completed: { word: 'Completed', meaning: 'It has succeeded', tone: 'good' },
};

/** In the order in which they ask for attention. */
export const STATES = STATE_KINDS;
