/** What the server tells a page that shows the log of one member. */

export type LogMessage =
  /** Newer than all before; text of a worker, which may be anything. */
  | { readonly type: 'Lines'; readonly lines: readonly LogLine[] }
  /** Why the log cannot be read now, as a sentence; null: it can again. */
  | { readonly type: 'Problem'; readonly problem: string | null }
  /** The Pod has ended or is gone, and its log was read. */
  | { readonly type: 'End' };

export interface LogLine {
  /** RFC 3339 with up to nanoseconds, as the node wrote it. */
  readonly time: string;
  /** At most `MAX_LINE_LENGTH`; what was cut off is named at its end. */
  readonly text: string;
}

/** UTF-16 code units. */
export const MAX_LINE_LENGTH = 4096;
/** Lines that are read at first, and that a page keeps. */
export const FIRST_LINES = 100;
export const MAX_LINES = 1000;
