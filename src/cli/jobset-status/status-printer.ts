/** Prints views of a JobSet. */

import type { StatusView } from '../../jobset/view/status-view.ts';
import { memberScreen, memberTable } from './member-table.ts';
import { groupLines } from './progress-lines.ts';
import { statusChanges } from './status-changes.ts';

/** The output of a command. */
export interface Terminal {
  write(text: string): void;
  /** Undefined for a file or a pipe. */
  readonly screen: { readonly rows: number; readonly columns: number } | undefined;
}

export type StatusOutput = 'table' | 'json';

/** Shows one view once. */
export function printStatus(view: StatusView, output: StatusOutput, to: Terminal): void {
  to.write(output === 'json' ? `${JSON.stringify(view, undefined, 2)}\n` : memberTable(view));
}

/**
 * Shows view after view: in place on a screen; elsewhere one line for each change or, as JSON, one
 * line with each changed view. Progress alone is no change, but it gets a line now and then.
 */
export function livePrinter(
  output: StatusOutput,
  to: Terminal,
  now: () => Date,
): (view: StatusView) => void {
  if (output === 'json') {
    let last = '';
    return (view) => {
      const text = JSON.stringify(view, withoutProgress);
      if (text !== last) to.write(`${JSON.stringify(view)}\n`);
      last = text;
    };
  }
  if (to.screen !== undefined) {
    let clear = CLEAR_SCREEN;
    return (view) => {
      const lines = memberScreen(view, to.screen ?? NO_SCREEN);
      to.write(
        `${clear}${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_REST}`,
      );
      clear = '';
    };
  }
  let before: StatusView | undefined;
  let progress = '';
  let progressMs = Number.NEGATIVE_INFINITY;
  return (view) => {
    const time = now();
    const lines = [...statusChanges(before, view)];
    const newest = groupLines(view.jobSet.progress, view.members);
    if (newest.join() !== progress && time.getTime() - progressMs >= PROGRESS_INTERVAL_MS) {
      lines.push(...newest);
      progress = newest.join();
      progressMs = time.getTime();
    }
    for (const line of lines) to.write(`${time.toISOString()} ${line}\n`);
    before = view;
  };
}

/** Progress changes with every look at a healthy group. */
const PROGRESS_INTERVAL_MS = 60_000;

/** Leaves out what changes with every look at a healthy run. */
function withoutProgress(name: string, value: unknown): unknown {
  return name === 'progress' || name === 'goodput' ? undefined : value;
}

const NO_SCREEN = { rows: Number.POSITIVE_INFINITY, columns: Number.POSITIVE_INFINITY };

/** Control sequences of terminals (ECMA-48). */
const CLEAR_SCREEN = '\u001b[2J';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_REST = '\u001b[J';
