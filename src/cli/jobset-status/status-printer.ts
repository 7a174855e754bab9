/** Prints views of a JobSet. */

import type { StatusView } from '../../jobset/view/status-view.ts';
import { documentOf, jobSetReference, nextDocument, type OutputForm } from '../output-form.ts';
import { memberScreen, memberTable } from './member-table.ts';
import { groupLines, stepText } from './progress-lines.ts';
import { statusChanges } from './status-changes.ts';

/** The output of a command. */
export interface Terminal {
  write(text: string): void;
  /** Undefined for a file or a pipe. */
  readonly screen: { readonly rows: number; readonly columns: number } | undefined;
}

export const STANDARD_OUTPUT: Terminal = {
  write: (text) => {
    process.stdout.write(text);
  },
  get screen() {
    const { isTTY, rows, columns } = process.stdout;
    return isTTY ? { rows, columns } : undefined;
  },
};

/** Shows one view once. */
export function printStatus(
  view: StatusView,
  output: OutputForm,
  to: Terminal,
  nowMs: number,
): void {
  if (output === 'json' || output === 'yaml') to.write(documentOf(view, output));
  else if (output === 'name') to.write(`${jobSetReference(view.jobSet.name)}\n`);
  else to.write(memberTable(view, { isWide: output === 'wide', width: to.screen?.columns, nowMs }));
}

/**
 * Shows view after view: in place on a screen; elsewhere one line for each change or, as JSON or
 * YAML, one document for each changed view. Progress alone is no change, but it gets a line now and then.
 */
export function livePrinter(
  output: OutputForm,
  to: Terminal,
  now: () => Date,
): (view: StatusView) => void {
  if (output === 'json' || output === 'yaml') {
    let last = '';
    return (view) => {
      const text = JSON.stringify(view, withoutProgress);
      if (text !== last) to.write(nextDocument(view, output));
      last = text;
    };
  }
  if (to.screen !== undefined) {
    let clear = CLEAR_SCREEN;
    return (view) => {
      const options = { isWide: output === 'wide', nowMs: now().getTime() };
      const lines = memberScreen(view, to.screen ?? NO_SCREEN, options);
      to.write(`${clear}${screenText(lines)}`);
      clear = '';
    };
  }
  let before: StatusView | undefined;
  let progress = '';
  let progressMs = Number.NEGATIVE_INFINITY;
  return (view) => {
    const time = now();
    const lines = [...statusChanges(before, view)];
    const newest = progressLines(view);
    if (newest.join() !== progress && time.getTime() - progressMs >= PROGRESS_INTERVAL_MS) {
      lines.push(...newest);
      progress = newest.join();
      progressMs = time.getTime();
    }
    for (const line of lines) to.write(`${time.toISOString()} ${line}\n`);
    before = view;
  };
}

/** None as long as nobody reports any. */
function progressLines({ jobSet, members }: StatusView): readonly string[] {
  if (jobSet.progress === null) return [];
  const [first, ...rest] = groupLines(jobSet, members);
  const told = [stepText(jobSet.progress), first].filter((part) => part !== undefined);
  return [told.join(', '), ...rest];
}

/** Progress changes with every look at a healthy group. */
const PROGRESS_INTERVAL_MS = 60_000;

/** Leaves out what changes with every look at a healthy run. */
function withoutProgress(name: string, value: unknown): unknown {
  return name === 'progress' || name === 'goodput' || name === 'silence' ? undefined : value;
}

export const NO_SCREEN = { rows: Number.POSITIVE_INFINITY, columns: Number.POSITIVE_INFINITY };

/** The lines in place of what the screen shows. */
export function screenText(lines: readonly string[]): string {
  return `${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_REST}`;
}

/** Control sequences of terminals (ECMA-48). */
const CLEAR_SCREEN = '\u001b[2J';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_REST = '\u001b[J';
