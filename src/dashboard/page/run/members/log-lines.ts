/** The log of a member, as messages of the server build it up. */
import { type LogMessage, MAX_LINES } from '../../../messages/log.ts';
import { shown } from '../../elements/shown-text.ts';

/** A line of a worker is at most 4,096 long already; what follows is named by the server. */
const SHOWN_LENGTH = 5000;

export interface ShownLine {
  /** It stays the same while older lines are dropped. */
  readonly number: number;
  readonly time: string;
  readonly text: string;
}

export interface LogState {
  readonly isComplete: boolean;
  readonly lines: readonly ShownLine[];
  readonly problem: string | null;
  readonly isEnded: boolean;
  /** Why all lines of the Pod are shown, though one process was chosen; null: they are not. */
  readonly whole: string | null;
}

export const EMPTY_LOG: LogState = {
  isComplete: false,
  lines: [],
  problem: null,
  isEnded: false,
  whole: null,
};

export function withLogMessage(before: LogState, message: LogMessage): LogState {
  switch (message.type) {
    case 'Lines': {
      const next = (before.lines.at(-1)?.number ?? 0) + 1;
      const lines = message.lines.slice(-MAX_LINES).map(
        ({ time, text }, i): ShownLine => ({
          number: next + i,
          time: timeOfDay(time),
          text: shown(text.replaceAll('\t', '    '), SHOWN_LENGTH),
        }),
      );
      return { ...before, isComplete: true, lines: [...before.lines, ...lines].slice(-MAX_LINES) };
    }
    case 'Problem':
      return { ...before, problem: message.problem };
    case 'Whole':
      return { ...before, whole: message.why };
    case 'End':
      return { ...before, isComplete: true, isEnded: true };
  }
}

/** `12:03:04.123`, in UTC as the node wrote it. */
function timeOfDay(time: string): string {
  return /T([0-9:]{8}(?:\.[0-9]{1,3})?)/.exec(time)?.[1] ?? shown(time, 12);
}
