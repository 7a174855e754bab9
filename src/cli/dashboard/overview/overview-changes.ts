/** The messages that a page with all JobSets needs. */
import type { OverviewMessage } from '../../../dashboard/messages/overview.ts';
import type { OverviewRow } from '../../../jobset/view/overview.ts';

/** A page draws no more rows with ease, and nobody reads them. */
export const MAX_ROWS = 5000;

/** By UID. */
export type Rows = ReadonlyMap<string, OverviewRow>;

/** Undefined if a user would see no difference. */
export function overviewChanges(told: Rows, now: Rows): OverviewMessage | undefined {
  const gone = [...told.keys()].filter((uid) => !now.has(uid));
  const rows = [...now].flatMap(([uid, row]) => {
    const before = told.get(uid);
    return before !== undefined && looksLike(before, row) ? [] : [row];
  });
  return gone.length + rows.length === 0 ? undefined : { type: 'Changes', rows, gone };
}

/** The rows that a page has after the changes, which may be older in what does not show. */
export function toldRows(told: Rows, message: OverviewMessage): Rows {
  if (message.type !== 'Changes') return told;
  const rows = new Map(told);
  for (const uid of message.gone) rows.delete(uid);
  for (const row of message.rows) rows.set(row.uid, row);
  return rows;
}

/** Productive time grows all the while: a tenth of a percent shows. */
const SHOWN_GOODPUT = 1000;

function looksLike(a: OverviewRow, b: OverviewRow): boolean {
  return shown(a) === shown(b);
}

function shown({ goodput, ...row }: OverviewRow): string {
  return JSON.stringify([row, goodput === null ? null : Math.round(goodput * SHOWN_GOODPUT)]);
}
