/** What the states of a JobSet are called, and what they mean. */
import type { JobSetState } from '../../../jobset/view/jobset-state.ts';

/** How a state looks: with what it has in common with others. */
export type Tone = 'active' | 'good' | 'warn' | 'bad' | 'idle';

export interface StateWords {
  readonly word: string;
  readonly meaning: string;
  readonly tone: Tone;
}

/** In the order in which they ask for attention. */
export const STATE_WORDS: Readonly<Record<JobSetState, StateWords>> = {
  Failed: { word: 'Failed', meaning: 'It has failed for good', tone: 'bad' },
  AtBarrier: {
    word: 'At barrier',
    meaning: 'The members of the group gather for the next epoch',
    tone: 'warn',
  },
  Released: { word: 'Released', meaning: 'The workers of the epoch run', tone: 'active' },
  Running: { word: 'Running', meaning: 'Its Jobs run, without restart in place', tone: 'active' },
  Suspended: { word: 'Suspended', meaning: 'It has no Pods until it is resumed', tone: 'idle' },
  Completed: { word: 'Completed', meaning: 'It has succeeded', tone: 'good' },
};

export const STATES = Object.keys(STATE_WORDS) as readonly JobSetState[];
