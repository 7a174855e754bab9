/** What the actions on a JobSet are called, and what they do. */
import type { ActionOffer } from '../../messages/run.ts';

export type ActionKind = ActionOffer['action'];

export interface ActionWords {
  /** On the button that opens it. */
  readonly title: string;
  /** On the button that does it. */
  readonly verb: string;
  /** What happens, one sentence each; the first one stands beside the title. */
  readonly effects: readonly string[];
  /** What is said when it is done. */
  readonly done: string;
  readonly isDangerous: boolean;
}

export const ACTION_WORDS: Readonly<Record<ActionKind, ActionWords>> = {
  Restart: {
    title: 'Restart the group',
    verb: 'Restart',
    effects: [
      'Ends the epoch that runs now: all workers stop, and start again in their Pods.',
      'It does not count towards the restarts that are allowed.',
      'Work since the newest checkpoint is lost.',
    ],
    done: 'The restart is asked for. The operator ends the epoch.',
    isDangerous: false,
  },
  Suspend: {
    title: 'Suspend',
    verb: 'Suspend',
    effects: [
      'Deletes all Pods of the JobSet until it is resumed.',
      'Work since the newest checkpoint is lost.',
    ],
    done: 'It is suspended. Its Pods end.',
    isDangerous: false,
  },
  Resume: {
    title: 'Resume',
    verb: 'Resume',
    effects: ['Makes the Pods of the JobSet again, and starts its workers when all are there.'],
    done: 'It is resumed. Its Pods come.',
    isDangerous: false,
  },
  SetTimeout: {
    title: 'Change a time-out',
    verb: 'Change',
    effects: [
      'Says how long workers may be silent before they count as hung.',
      'Running agents learn of it within a second, and no worker restarts for it.',
    ],
    done: 'The time-out is changed.',
    isDangerous: false,
  },
  Delete: {
    title: 'Delete',
    verb: 'Delete',
    effects: [
      'Deletes the JobSet, its Jobs and its Pods, with their logs and their record of restarts.',
      'It cannot be undone.',
    ],
    done: 'It is deleted.',
    isDangerous: true,
  },
};
