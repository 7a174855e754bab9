/** What the server tells a page that shows all JobSets: a whole list at first, then changes. */
import type { OverviewRow } from '../../jobset/view/overview.ts';
import type { ProblemsMessage } from './problems.ts';

export type OverviewMessage =
  /**
   * Everything that the user may see, in no order. It replaces what was sent before. `firstLook`:
   * the cluster is one of `lockstep up`.
   */
  | {
      readonly type: 'Rows';
      readonly rows: readonly OverviewRow[];
      readonly firstLook?: FirstLook | undefined;
    }
  /** Rows that came or changed, and the keys of those that went. */
  | {
      readonly type: 'Changes';
      readonly rows: readonly OverviewRow[];
      readonly gone: readonly string[];
    }
  | ProblemsMessage;

/** Commands that lead a newcomer through the example `mnist`. */
export interface FirstLook {
  readonly apply: string;
  readonly kill: string;
  readonly stop: string;
  readonly report: string;
}

export interface OverviewState {
  /** False until the first rows have come. */
  readonly isComplete: boolean;
  /** By UID. */
  readonly rows: ReadonlyMap<string, OverviewRow>;
  readonly problems: readonly string[];
  readonly firstLook?: FirstLook | undefined;
}

export const EMPTY_OVERVIEW: OverviewState = { isComplete: false, rows: new Map(), problems: [] };

export function withOverviewMessage(
  before: OverviewState,
  message: OverviewMessage,
): OverviewState {
  switch (message.type) {
    case 'Rows':
      return {
        ...before,
        isComplete: true,
        rows: byUid(message.rows),
        firstLook: message.firstLook,
      };
    case 'Changes': {
      const rows = new Map([...before.rows, ...byUid(message.rows)]);
      for (const uid of message.gone) rows.delete(uid);
      return { ...before, rows };
    }
    case 'Problems':
      return { ...before, problems: message.problems };
  }
}

function byUid(rows: readonly OverviewRow[]): ReadonlyMap<string, OverviewRow> {
  return new Map(rows.map((row) => [row.uid, row]));
}
