/** Renders a JobSet and its members as a table. */
import { humanDuration } from '@lockstep/kube/duration.ts';
import { printable } from '@lockstep/kube/quote.ts';
import { lastCauseInWords } from '../../jobset/view/last-cause.ts';
import { memberStateInWords } from '../../jobset/view/member-state.ts';
import type { ReportedRestart } from '../../jobset/view/reported-restarts.ts';
import { stateWords } from '../../jobset/view/shown-state.ts';
import type {
  ConditionView,
  JobSetView,
  MemberView,
  PodRefusal,
  StatusView,
} from '../../jobset/view/status-view.ts';
import { aligned } from '../aligned.ts';
import { avoidedLines, goodputLines } from '../goodput-lines.ts';
import { shortened, wrapped } from '../printed-text.ts';
import { groupLines, progressColumns, stepText } from './progress-lines.ts';
import { budgetText, culpritLines, lastWordsLine, restartLine } from './restart-lines.ts';

/** How much is shown, and in which room. */
export interface TableOptions {
  /** All that is known of restarts, nodes and members, and nothing is cut or wrapped. */
  readonly isWide: boolean;
  /** Columns of the terminal; undefined: lines may have any length. */
  readonly width?: number | undefined;
  readonly nowMs: number;
}

/**
 * First what a person wants to know of the JobSet, then what there is to do and why it failed last,
 * and then where each member is.
 */
export function memberTable(view: StatusView, options: TableOptions): string {
  const width = options.isWide ? undefined : options.width;
  const lines = [...summary(view, options), ...missing(view, options)];
  const table = columns(view.jobSet, view.members, {
    ...options,
    width: width ?? Number.POSITIVE_INFINITY,
  });
  return [...lines.flatMap(fitting(width)), '', ...table].map((line) => `${line}\n`).join('');
}

/**
 * The table for a screen of this size. If not all members fit, those outside the current epoch and
 * those with ranks that are behind come first.
 */
export function memberScreen(
  view: StatusView,
  screen: { readonly rows: number; readonly columns: number },
  { isWide, nowMs }: Pick<TableOptions, 'isWide' | 'nowMs'>,
): readonly string[] {
  const { jobSet, members, problem } = view;
  const options = { isWide, nowMs, width: screen.columns };
  const lines = [
    ...summary(view, options),
    ...missing(view, options),
    ...(problem === undefined ? [] : [printable(problem)]),
  ];
  const folds = lines.flatMap(fitting(screen.columns));
  const head = [...folds.slice(0, Math.max(1, screen.rows - LEAST_TABLE_ROWS)), ''];
  // One row for the headings, one for what is left out, one for the cursor.
  const room = Math.max(1, screen.rows - head.length - 3);
  const isAll = members.length <= room;
  const isBehind = ({ epoch, progress }: MemberView): boolean =>
    epoch !== jobSet.epoch || progress?.lag !== undefined;
  const ordered = isAll
    ? members
    : [...members.filter(isBehind), ...members.filter((member) => !isBehind(member))];
  const table = columns(jobSet, ordered.slice(0, room), options);
  const more = isAll ? [] : [`and ${members.length - room} more`];
  return [...head, ...table, ...more].map((line) => line.slice(0, screen.columns));
}

/** Rows of a screen can only be counted if no line is longer than one. */
function fitting(width: number | undefined): (line: string) => readonly string[] {
  return (line) => (width === undefined ? [line] : wrapped(line, width));
}

function summary({ jobSet, members }: StatusView, options: TableOptions): readonly string[] {
  const { isWide, nowMs } = options;
  const { restartHistory, avoidedNodes } = jobSet;
  return [
    jobSetLine(jobSet, members, nowMs),
    ...[
      // The last failure says it too.
      ...conditionLines(jobSet.conditions.filter(({ type }) => type !== 'Failed')),
      ...warningLines(jobSet),
      ...keptLines(jobSet, nowMs),
      ...failureLines(jobSet, options),
      ...groupLines(jobSet, members),
      ...(isWide ? [countsLine(jobSet)] : []),
      ...goodputLines(jobSet.goodput),
      ...avoidedLines(avoidedNodes).slice(0, isWide ? undefined : SHOWN_NODES),
      ...(isWide ? restartHistory.flatMap((record, i) => restartLines(record, i, jobSet)) : []),
    ].map((line) => `  ${line}`),
  ];
}

function keptLines({ keptUntilMs = 0 }: JobSetView, nowMs: number): readonly string[] {
  const leftMs = keptUntilMs - nowMs;
  if (leftMs <= 0) return [];
  return [
    `no worker runs any more: the Pods are kept for ${humanDuration(leftMs)} with their logs`,
  ];
}

/** The newest with all that is known of who failed. */
function restartLines(record: ReportedRestart, i: number, jobSet: JobSetView): readonly string[] {
  const culprits = i === 0 ? culpritLines(record, jobSet) : [];
  return [restartLine(record, jobSet), ...culprits.map((line) => `  ${line}`)];
}

/** Who failed last, how, and what it said at the end. */
function failureLines(
  { lastFailure, restartHistory }: JobSetView,
  { isWide, nowMs }: TableOptions,
): readonly string[] {
  if (lastFailure === null) return [];
  const age = humanDuration(Math.max(0, nowMs - lastFailure.timeMs));
  const [newest] = restartHistory;
  const words = newest && lastWordsLine(newest);
  return [
    printable(`last failure ${age} ago: ${lastFailure.text}`),
    ...(isWide ? [] : [words, newest?.whyUnknown].filter((line) => line !== undefined)),
  ];
}

/** Why Pods are not even created. The reason is in Events, which not every user may read. */
function missing(
  { jobSet, members, refusal }: StatusView,
  { nowMs }: Pick<TableOptions, 'nowMs'>,
): readonly string[] {
  const { namespace, name, state, size } = jobSet;
  if (refusal !== undefined) {
    const age = humanDuration(Math.max(0, nowMs - refusal.timeMs));
    return [`  ${refusalLine(refusal)} (${age} ago)`];
  }
  const count = size - members.length;
  if (count <= 0 || (state !== 'AtBarrier' && state !== 'Running')) return [];
  return [
    `  ${count} of ${size} Pods are not there: the Events of "kubectl -n ${namespace} describe jobset ${name}" may say why`,
  ];
}

/** What the condition sends its reader to. What refuses a Pod chooses the words. */
export function refusalLine({ job, reason, message }: PodRefusal): string {
  return printable(`newest Event of Job ${job}: ${reason}: ${message}`);
}

/**
 * The last failure and the budget are shown elsewhere, so the only news of a restart is what the
 * group waits for. Messages quote Pods and people, so they may contain anything.
 */
export function conditionLines(conditions: readonly ConditionView[]): readonly string[] {
  return conditions.flatMap(({ type, reason, message }) => {
    if (type !== 'RestartingInPlace') return [printable(`${type}: ${message} (${reason})`)];
    const wait = message.slice(message.lastIndexOf(BUDGET_END) + BUDGET_END.length);
    if (!message.includes(BUDGET_END)) return [printable(message)];
    return wait === '' ? [] : [printable(wait.replace(/^; /, ''))];
  });
}

/** What its message says before this is shown elsewhere. */
const BUDGET_END = ' restarts used';

/** `train: Running, step 1,338, 4 of 4 workers, 2 of 5 restarts used` */
export function jobSetLine(
  jobSet: JobSetView,
  members: readonly MemberView[],
  nowMs: number,
): string {
  const { name, shown, progress } = jobSet;
  const parts = [
    stateWords(shown, nowMs),
    stepText(progress),
    workersText(jobSet, members),
    budgetText(jobSet),
  ];
  return `${name}: ${parts.filter((part) => part !== undefined).join(', ')}`;
}

/** For a log, in which steps and seconds would be a line with each look. */
export function lastingLine(jobSet: JobSetView, members: readonly MemberView[]): string {
  const { kind, text } = jobSet.shown;
  return jobSetLine({ ...jobSet, shown: { kind, text }, progress: null }, members, 0);
}

/** The line of the JobSet says that it gathers: one for each member would be too many in a log. */
const RUNS = { state: 'Running', epoch: null } as const;

export function memberLine(member: MemberView): string {
  const { label, pod, node, epoch, channel, lastCause } = member;
  const where = node === null ? '' : ` on ${nodeText(member)}`;
  const announced = epoch === null ? 'no epoch' : `epoch ${epoch}`;
  const over = channel === null ? '' : ` over ${channel}`;
  const cause = lastCause === null ? '' : `, ${lastCauseInWords(lastCause)}`;
  return printable(
    `worker ${label}, Pod ${pod}${where}: ${memberStateInWords(member, RUNS)}, ${announced}${over}${cause}`,
  );
}

const NOTHING = '-';
const GAP = '  ';
/** The report has all of them. */
const SHOWN_NODES = 4;
/** Rows of a screen that the lines above the table leave free. */
const LEAST_TABLE_ROWS = 6;

/** How many run; the words of other states count those that have come. */
function workersText(
  { shown: { kind }, size }: JobSetView,
  members: readonly MemberView[],
): string | undefined {
  if (kind !== 'Running' && kind !== 'Hung') return undefined;
  const running = members.filter((one) => one.phase === 'Running' && !one.isNodeLost).length;
  return `${running} of ${size} workers`;
}

/** How often the group and its Jobs were restarted, counted or not. */
function countsLine({ syncedEpoch, inPlaceRestarts, restarts }: JobSetView): string {
  const noun = inPlaceRestarts === 1 ? 'restart' : 'restarts';
  const inPlace = syncedEpoch === null ? '' : `${inPlaceRestarts} ${noun} in place for failures, `;
  return `${inPlace}${restarts} of all Jobs`;
}

function nodeText({ node, isNodeLost }: MemberView): string {
  return isNodeLost ? `${node} (NotReady)` : (node ?? NOTHING);
}

/** Why a group that runs may not be well. */
export function warningLines(of: Pick<JobSetView, 'restoreWarning'>): readonly string[] {
  const { restoreWarning } = of;
  return restoreWarning === null ? [] : [`warning: ${restoreWarning}`];
}

/** The heading, and a cell for each member. */
type Column = readonly string[];

const LAST_CAUSE = 'LAST CAUSE';
/** A shorter one says nothing, so others go first. */
const LEAST_CAUSE = 'epoch 5: followed another'.length;

/** Which columns go where there is no room, the first of them first. */
const DISPENSABLE = [
  'CHECKPOINT',
  'WORKER PHASE',
  'POD',
  'SILENT',
  'EPOCH',
  LAST_CAUSE,
  'NODE',
  'STEP',
  'PHASE',
];

/** Only the last column is ever cut, and none is wide. */
function columns(
  jobSet: JobSetView,
  members: readonly MemberView[],
  { isWide, width = Number.POSITIVE_INFINITY }: TableOptions,
): readonly string[] {
  const columnOf = (heading: string, cell: (member: MemberView) => string): Column => [
    heading,
    ...members.map((member) => printable(cell(member))),
  ];
  let all: readonly Column[] = [
    columnOf('WORKER', ({ label }) => label),
    columnOf('POD', ({ pod }) => pod),
    columnOf('NODE', nodeText),
    columnOf('PHASE', (member) => memberStateInWords(member, jobSet)),
    columnOf('EPOCH', ({ epoch }) => (epoch === null ? NOTHING : String(epoch))),
    ...(isWide ? [columnOf('CHANNEL', ({ channel }) => channel ?? NOTHING)] : []),
    ...progressColumns(members),
    columnOf(LAST_CAUSE, ({ lastCause }) =>
      lastCause === null ? NOTHING : lastCauseInWords(lastCause),
    ),
  ];
  for (const name of DISPENSABLE) {
    if (leastWidth(all) <= width) break;
    all = all.filter(([heading]) => heading !== name);
  }
  const last = all.at(-1) ?? [];
  const room = width - widthOf(all.slice(0, -1)) - GAP.length;
  const isCut = last[0] === LAST_CAUSE;
  const shown = isCut ? [...all.slice(0, -1), last.map((cell) => shortened(cell, room))] : all;
  if (members.length === 0) return [];
  const rows = [undefined, ...members].map((_, i) => shown.map((column) => column[i] ?? ''));
  return aligned(rows, GAP);
}

function widest(cellsOfColumn: Column): number {
  return Math.max(...cellsOfColumn.map(({ length }) => length));
}

function widthOf(table: readonly Column[]): number {
  return table.reduce((sum, column) => sum + widest(column), GAP.length * (table.length - 1));
}

function leastWidth(table: readonly Column[]): number {
  const last = table.at(-1) ?? [];
  const isCut = last[0] === LAST_CAUSE;
  const surplus = isCut ? Math.max(0, widest(last) - LEAST_CAUSE) : 0;
  return widthOf(table) - surplus;
}
