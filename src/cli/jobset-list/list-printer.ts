/** Prints lists of JobSets, once or live. */
import { printable } from '@lockstep/kube/quote.ts';
import type { OverviewRow } from '../../jobset/view/overview.ts';
import { compareUrgency } from '../../jobset/view/shown-state.ts';
import { NO_SCREEN, screenText, type Terminal } from '../jobset-status/status-printer.ts';
import { documentOf, jobSetReference, nextDocument } from '../output-form.ts';
import { listTable } from './list-table.ts';
import type { ListOptions } from './options.ts';

/** What is shown at one moment. */
export interface ListView {
  /** By namespace and name; tables have them by urgency. */
  readonly rows: readonly OverviewRow[];
  /** Why something is missing, or old. */
  readonly problem?: string;
}

type PrintOptions = Pick<ListOptions, 'output' | 'hasHeadings' | 'isEverywhere'>;

export function printList(
  { rows }: ListView,
  options: PrintOptions,
  to: Terminal,
  nowMs: number,
): void {
  const { output } = options;
  if (output === 'json' || output === 'yaml') to.write(documentOf({ items: rows }, output));
  else if (output === 'name') to.write(textOf(rows.map(({ name }) => jobSetReference(name))));
  else if (rows.length > 0) to.write(textOf(table(rows, options, nowMs, to.screen)));
}

/**
 * Shows view after view: in place on a screen; elsewhere each row when it is new or has changed, as
 * `kubectl get --watch` does, or as one document.
 */
export function liveListPrinter(
  options: PrintOptions,
  to: Terminal,
  now: () => number,
): (view: ListView) => void {
  const { output } = options;
  if (to.screen !== undefined && (output === 'table' || output === 'wide')) {
    return (view) => {
      to.write(screenOf(view, options, to.screen ?? NO_SCREEN, now()));
    };
  }
  const known = new Map<string, string>();
  let hasBegun = false;
  return ({ rows }) => {
    const changed = rows.filter((row) => {
      const text = JSON.stringify(row);
      const isNews = known.get(row.uid) !== text;
      known.set(row.uid, text);
      return isNews;
    });
    const present = new Set(rows.map(({ uid }) => uid));
    for (const uid of known.keys()) if (!present.has(uid)) known.delete(uid);
    if (output === 'json' || output === 'yaml') {
      for (const row of changed) to.write(nextDocument(row, output));
    } else if (changed.length > 0) {
      const hasHeadings = options.hasHeadings && !hasBegun;
      to.write(textOf(table(changed, { ...options, hasHeadings }, now())));
      hasBegun = true;
    }
  };
}

/** Rows of a screen for the time of the look, for what is left out, and for the cursor. */
const OTHER_ROWS = 3;

function screenOf(
  { rows, problem }: ListView,
  options: PrintOptions,
  screen: { readonly rows: number; readonly columns: number },
  nowMs: number,
): string {
  const all = rows.length === 0 ? ['no JobSets'] : table(rows, options, nowMs, screen);
  const room = Math.max(1, screen.rows - OTHER_ROWS);
  const more = all.length > room ? [`and ${all.length - room} more`] : [];
  const lines = [
    ...all.slice(0, room),
    ...more,
    ...(problem === undefined ? [] : [printable(problem)]),
  ];
  return screenText(lines.map((line) => line.slice(0, screen.columns)));
}

function table(
  rows: readonly OverviewRow[],
  options: PrintOptions,
  nowMs: number,
  screen?: Terminal['screen'],
): readonly string[] {
  const width = screen?.columns;
  const { output, hasHeadings, isEverywhere } = options;
  const isWide = output === 'wide';
  const inOrder = rows.toSorted((a, b) => compareUrgency(a.shown, b.shown));
  return listTable(inOrder, { hasNamespaces: isEverywhere, isWide, hasHeadings, width }, nowMs);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
