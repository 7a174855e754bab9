/** What the server tells a page that shows the log of one member, or of one process of it. */

export type LogMessage =
  /** Newer than all before; text of a worker, which may be anything. */
  | { readonly type: 'Lines'; readonly lines: readonly LogLine[] }
  /** Why the log cannot be read now, as a sentence; null: it can again. */
  | { readonly type: 'Problem'; readonly problem: string | null }
  /** All lines of the Pod follow though one process was asked for: why, without a full stop. */
  | { readonly type: 'Whole'; readonly why: string }
  /**
   * The Pod has ended or is gone, and its log was read. The stream stays open, because a browser
   * opens one that ends again.
   */
  | { readonly type: 'End' };

export interface LogLine {
  /** RFC 3339 with up to nanoseconds, as the node wrote it. */
  readonly time: string;
  /** At most `MAX_LINE_LENGTH`; ends with `CUT_MARK` if it was longer. */
  readonly text: string;
}

/** UTF-16 code units. */
export const MAX_LINE_LENGTH = 4096;
/** The end of a line of which more was written. */
export const CUT_MARK = ' … [cut]';
/** Lines that are read at first, and that a page keeps. */
export const FIRST_LINES = 100;
export const MAX_LINES = 1000;
