/** Renders a JobSet and its members as a table. */

import { stateWords } from '../../jobset/view/shown-state.ts';
import type {
  ConditionView,
  JobSetView,
  LastCause,
  MemberView,
  StatusView,
} from '../../jobset/view/status-view.ts';
import { printable } from '../../kube/quote.ts';
import { nodeClock } from '../../runtime/adapters/node-clock.ts';
import { avoidedLines, goodputLines } from '../goodput-lines.ts';
import { groupLines, progressColumns } from './progress-lines.ts';
import { budgetText, culpritLines, restartLine } from './restart-lines.ts';

/**
 * It shows where each member is, which epoch it has announced over which channel, and how its
 * worker ended last. A wide one has all restarts and avoided nodes that the status knows.
 */
export function memberTable(view: StatusView, isWide = false): string {
  const lines = [
    ...summary(view, isWide),
    ...missing(view),
    '',
    ...columns(view.members, Number.POSITIVE_INFINITY),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The table for a screen of this size. If not all members fit, those outside the current epoch and
 * stragglers come first.
 */
export function memberScreen(
  view: StatusView,
  screen: { readonly rows: number; readonly columns: number },
): readonly string[] {
  const { jobSet, members, problem } = view;
  const lines = [...summary(view), ...(problem === undefined ? [] : [problem])];
  const folds = lines.flatMap((line) => folded(line, screen.columns));
  const head = [...folds.slice(0, Math.max(1, screen.rows - LEAST_TABLE_ROWS)), ''];
  // One row for the headings, one for what is left out, one for the cursor.
  const room = Math.max(1, screen.rows - head.length - 3);
  const isAll = members.length <= room;
  const isBehind = ({ epoch, progress }: MemberView): boolean =>
    epoch !== jobSet.epoch || progress?.isStraggler === true;
  const ordered = isAll
    ? members
    : [...members.filter(isBehind), ...members.filter((member) => !isBehind(member))];
  const table = columns(ordered.slice(0, room), screen.columns);
  const more = isAll ? [] : [`and ${members.length - room} more`];
  return [...head, ...table, ...more].map((line) => line.slice(0, screen.columns));
}

/** Folds lines as the screen would, so that rows can be counted. */
function folded(line: string, columns: number): readonly string[] {
  if (line.length <= columns) return [line];
  return [line.slice(0, columns), ...folded(line.slice(columns), columns)];
}

/**
 * One line about the JobSet, its progress and its time, one line for each important condition, for
 * each node that it avoids, and for each of its last restarts; the newest says who may have failed
 * first.
 */
function summary({ jobSet, members }: StatusView, isWide = false): readonly string[] {
  const [nodes, restarts] = isWide ? [] : [SHOWN_NODES, SHOWN_RESTARTS];
  return [
    jobSetLine(jobSet),
    ...[
      ...silenceLines(jobSet),
      ...groupLines(jobSet.progress, members),
      ...goodputLines(jobSet.goodput),
      ...jobSet.conditions.map(conditionLine),
      ...avoidedLines(jobSet.avoidedNodes).slice(0, nodes),
    ].map((line) => `  ${line}`),
    ...jobSet.restartHistory
      .slice(0, restarts)
      .flatMap((record, i) => [restartLine(record), ...(i === 0 ? culpritLines(record) : [])]),
  ];
}

/** A hang is to be seen before its time-out. */
function silenceLines({ shown }: JobSetView): readonly string[] {
  return shown.silence === undefined ? [] : [stateWords(shown, nodeClock.now())];
}

/** Why Pods are not even created. The reason is in Events, which not every user may read. */
function missing({ jobSet, members }: StatusView): readonly string[] {
  const { namespace, name, state, size } = jobSet;
  const count = size - members.length;
  if (count <= 0 || (state !== 'AtBarrier' && state !== 'Running')) return [];
  return [
    `  ${count} of ${size} Pods are not there: the Events of "kubectl -n ${namespace} describe jobset ${name}" may say why`,
  ];
}

/** Messages quote Pods and people, so they may contain anything. */
export function conditionLine({ type, reason, message }: ConditionView): string {
  return printable(`${type}: ${message} (${reason})`);
}

export function jobSetLine(jobSet: JobSetView): string {
  const { namespace, name, syncedEpoch, inPlaceRestarts, restarts } = jobSet;
  const current = syncedEpoch === null ? '' : `epoch ${syncedEpoch}, `;
  const noun = inPlaceRestarts === 1 ? 'restart' : 'restarts';
  const inPlace = syncedEpoch === null ? '' : `${inPlaceRestarts} ${noun} in place for failures, `;
  return (
    `JobSet ${namespace}/${name}: ${current}${stateText(jobSet)}; ` +
    `${inPlace}${restarts} of all Jobs; ${budgetText(jobSet)}`
  );
}

export function memberLine(member: MemberView): string {
  const { pod, node, epoch, channel, lastCause } = member;
  const where = node === null ? '' : ` on ${nodeText(member)}`;
  const announced = epoch === null ? 'no epoch' : `epoch ${epoch}`;
  const over = channel === null ? '' : ` over ${channel}`;
  const cause = lastCause === null ? '' : `, ${causeText(lastCause)}`;
  return printable(
    `${memberName(member)} Pod ${pod}${where}: ${phaseText(member)}, ${announced}${over}${cause}`,
  );
}

/** `train-w-0/2` */
export function memberName({ replicatedJob, job, index }: MemberView): string {
  return `${job === '' ? replicatedJob : job}/${index ?? NOTHING}`;
}

const HEADINGS = ['MEMBER', 'POD', 'NODE', 'PHASE', 'EPOCH', 'CHANNEL', 'LAST CAUSE'] as const;
const NOTHING = '-';
const GAP = '  ';
const SHOWN_RESTARTS = 3;
/** The report has all of them. */
const SHOWN_NODES = 4;
/** Rows of a screen that the lines above the table leave free. */
const LEAST_TABLE_ROWS = 6;

function stateText({ state, epoch, announced, size }: JobSetView): string {
  switch (state) {
    case 'Completed':
    case 'Failed':
    case 'Running':
    case 'Released':
    case 'Suspended':
      return state.toLowerCase();
    case 'AtBarrier':
      return `waits for its members at the barrier of epoch ${epoch} (${announced} of ${size} have announced it)`;
  }
}

/** The index comes from annotations, which users can write. */
function cells(member: MemberView): readonly string[] {
  const { pod, epoch, channel, lastCause } = member;
  return [
    memberName(member),
    pod,
    nodeText(member),
    phaseText(member),
    epoch === null ? NOTHING : String(epoch),
    channel ?? NOTHING,
    lastCause === null ? NOTHING : causeText(lastCause),
  ].map(printable);
}

function nodeText({ node, isNodeLost }: MemberView): string {
  return isNodeLost ? `${node} (NotReady)` : (node ?? NOTHING);
}

function phaseText({ phase, heldBy }: MemberView): string {
  return heldBy === null ? phase : printable(`${phase} (${heldBy})`);
}

function causeText({ epoch, hung, exitCode, signal }: LastCause): string {
  if (hung !== undefined) return `hung in epoch ${epoch}: ${hung}`;
  const how =
    signal !== undefined
      ? `killed by ${signal}`
      : exitCode === undefined
        ? 'failed'
        : `exited with ${exitCode}`;
  return `${how} in epoch ${epoch}`;
}

/** Progress has columns if members report it and the screen is wide enough for them. */
function columns(members: readonly MemberView[], width: number): readonly string[] {
  const rows = [HEADINGS, ...members.map(cells)];
  const known = HEADINGS.map((_, i) => padded(rows.map((row) => row[i] ?? NOTHING)));
  const progress = progressColumns(members).map(padded);
  const [firsts, lasts] = [known.slice(0, -1), known.slice(-1)];
  while (progress.length > 0 && widthOf([...firsts, ...progress, ...lasts]) > width) progress.pop();
  const all = [...firsts, ...progress, ...lasts];
  return rows.map((_, i) =>
    all
      .map((column) => column[i])
      .join(GAP)
      .trimEnd(),
  );
}

function padded(cellsOfColumn: readonly string[]): readonly string[] {
  const width = Math.max(...cellsOfColumn.map(({ length }) => length));
  return cellsOfColumn.map((cell) => cell.padEnd(width));
}

function widthOf(table: readonly (readonly string[])[]): number {
  const widths = table.map(([heading = '']) => heading.length);
  return widths.reduce((sum, width) => sum + width, GAP.length * (table.length - 1));
}
