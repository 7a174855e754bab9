/** Renders rows of JobSets as a table, with columns as `kubectl get` has them. */

import { humanDuration } from '@lockstep/kube/duration.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { OverviewRow } from '../../jobset/view/overview.ts';
import { stateWords } from '../../jobset/view/shown-state.ts';
import { aligned } from '../aligned.ts';
import { shortened } from '../printed-text.ts';

export interface TableOptions {
  readonly hasNamespaces: boolean;
  readonly isWide: boolean;
  readonly hasHeadings: boolean;
  /** Columns of the terminal. Lines are cut so that they fit, except in a wide table. */
  readonly width?: number | undefined;
}

/** One line for the headings, if they are wanted, and one for each row. */
export function listTable(
  rows: readonly OverviewRow[],
  { hasNamespaces, isWide, hasHeadings, width }: TableOptions,
  nowMs: number,
): readonly string[] {
  const columns = COLUMNS.filter(({ only }) => only === undefined || (isWide && only === 'wide'));
  const all = hasNamespaces ? [NAMESPACE, ...columns] : columns;
  const linesWith = (shown: Shown, dropped: readonly string[] = []): readonly string[] => {
    const kept = all.filter(({ heading }) => !dropped.includes(heading));
    const cells = rows.map((row) => kept.map(({ cell }) => printable(cell(row, shown))));
    return aligned(hasHeadings ? [kept.map(({ heading }) => heading), ...cells] : cells);
  };
  if (isWide) return linesWith({ nowMs, maxFailure: Number.POSITIVE_INFINITY });
  const whole = { nowMs, maxFailure: MAX_FAILURE };
  const lines = linesWith(whole);
  if (width === undefined || longest(lines) <= width) return lines;
  const widest = Math.max(...rows.map((row) => failureText(row, whole).length));
  // Cuts one thing after the other, until the first words of failures have room.
  for (let cuts = 0; ; cuts += 1) {
    const dropped = DROPPED.slice(0, Math.max(0, cuts - 1));
    const shown = { ...whole, isBrief: cuts > 0 };
    const room = widest - Math.max(0, longest(linesWith(shown, dropped)) - width);
    const isLast = dropped.length === DROPPED.length;
    if (room < Math.min(widest, FAIR_FAILURE) && !isLast) continue;
    return linesWith({ ...shown, maxFailure: Math.max(LEAST_FAILURE, room) }, dropped);
  }
}

function longest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map(({ length }) => length));
}

interface Shown {
  readonly nowMs: number;
  readonly maxFailure: number;
  /** Without what the states can do without. */
  readonly isBrief?: boolean;
}

interface Column {
  readonly heading: string;
  readonly only?: 'wide';
  readonly cell: (row: OverviewRow, shown: Shown) => string;
}

const NOTHING = '-';
const UNKNOWN = '?';
/** The whole text is for wide tables. */
const MAX_FAILURE = 60;
/** Room for when it was, and for who failed: `5m ago: worker 2 was...`. */
const FAIR_FAILURE = 26;
const LEAST_FAILURE = 15;
/** Columns that a narrow terminal goes without, in this order. `-o wide` has them all. */
const DROPPED: readonly string[] = ['EPOCH', 'AGE', 'GOODPUT', 'RESTARTS', 'READY'];

const NAMESPACE: Column = { heading: 'NAMESPACE', cell: ({ namespace }) => namespace };
const COLUMNS: readonly Column[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'STATE', cell: ({ shown }, { nowMs, isBrief }) => stateWords(shown, nowMs, isBrief) },
  { heading: 'EPOCH', cell: ({ epoch }) => String(epoch ?? NOTHING) },
  { heading: 'READY', cell: ({ ready, size }) => `${ready ?? UNKNOWN}/${size}` },
  {
    heading: 'RESTARTS',
    cell: ({ budget }) => `${budget.countedRestarts}/${budget.maxRestarts}`,
  },
  { heading: 'GOODPUT', cell: goodputText },
  { heading: 'LAST FAILURE', cell: failureText },
  {
    heading: 'ENDED',
    only: 'wide',
    cell: ({ finishedMs }, { nowMs }) => (finishedMs === null ? NOTHING : age(finishedMs, nowMs)),
  },
  {
    heading: 'NO PROGRESS',
    only: 'wide',
    cell: ({ budget }) => String(budget.restartsWithoutProgress),
  },
  { heading: 'UID', only: 'wide', cell: ({ uid }) => uid },
  { heading: 'AGE', cell: ({ createdMs }, { nowMs }) => age(createdMs, nowMs) },
];

function failureText({ lastFailure }: OverviewRow, { nowMs, maxFailure }: Shown): string {
  if (lastFailure === null) return NOTHING;
  // Escapes take room, too.
  const text = printable(`${age(lastFailure.timeMs, nowMs)} ago: ${lastFailure.text}`);
  return shortened(text, maxFailure);
}

/** How long ago a share may have been judged without that being said. */
const NEWS_MS = 3_600_000;

/** A share below one that rounds to it would hide that time was lost. */
function goodputText({ goodput: share, goodputUntilMs }: OverviewRow, { nowMs }: Shown): string {
  if (share === null) return 'unknown';
  if (goodputUntilMs === null || nowMs - goodputUntilMs <= NEWS_MS) return percent(share);
  return `${percent(share)} (${age(goodputUntilMs, nowMs)} ago)`;
}

function percent(share: number): string {
  return share < 1 ? `${Math.min(100 * share, 99.9).toFixed(1)}%` : '100%';
}

/** Clocks differ, so what has just happened may lie in the future. */
function age(sinceMs: number, nowMs: number): string {
  return Number.isNaN(sinceMs) ? UNKNOWN : humanDuration(Math.max(0, nowMs - sinceMs));
}
