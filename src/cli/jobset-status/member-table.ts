/** Renders a JobSet and its members as a table. */
import { describeWitness } from '../../jobset/epoch/witness.ts';
import type { RestartRecord } from '../../jobset/jobset.ts';
import { printable } from '../../kube/quote.ts';
import type {
  ConditionView,
  JobSetView,
  LastCause,
  MemberView,
  StatusView,
} from './status-view.ts';

/**
 * It shows where each member is, which epoch it has announced over which channel, and how its
 * worker ended last.
 */
export function memberTable(view: StatusView): string {
  const lines = [
    ...summary(view.jobSet),
    ...missing(view),
    '',
    ...columns(view.members.map(cells)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The table for a screen of this size. If not all members fit, those outside the current epoch come
 * first.
 */
export function memberScreen(
  view: StatusView,
  screen: { readonly rows: number; readonly columns: number },
): readonly string[] {
  const { jobSet, members, problem } = view;
  const lines = [...summary(jobSet), ...(problem === undefined ? [] : [problem])];
  const head = [...lines.flatMap((line) => folded(line, screen.columns)), ''];
  // One row for the headings, one for what is left out, one for the cursor.
  const room = Math.max(1, screen.rows - head.length - 3);
  const isAll = members.length <= room;
  const isBehind = (member: MemberView): boolean => member.epoch !== jobSet.epoch;
  const ordered = isAll
    ? members
    : [...members.filter(isBehind), ...members.filter((member) => !isBehind(member))];
  const table = columns(ordered.slice(0, room).map(cells));
  const more = isAll ? [] : [`and ${members.length - room} more`];
  return [...head, ...table, ...more].map((line) => line.slice(0, screen.columns));
}

/** Folds lines as the screen would, so that rows can be counted. */
function folded(line: string, columns: number): readonly string[] {
  if (line.length <= columns) return [line];
  return [line.slice(0, columns), ...folded(line.slice(columns), columns)];
}

/**
 * One line about the JobSet, one for each important condition, and one for each of its last
 * restarts.
 */
export function summary(jobSet: JobSetView): readonly string[] {
  return [
    jobSetLine(jobSet),
    ...jobSet.conditions.map((condition) => `  ${conditionLine(condition)}`),
    ...jobSet.restartHistory.slice(0, SHOWN_RESTARTS).map(restartLine),
  ];
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
  const { namespace, name, syncedEpoch, inPlaceRestarts, restarts, maxRestarts } = jobSet;
  const current = syncedEpoch === null ? '' : `epoch ${syncedEpoch}, `;
  const noun = inPlaceRestarts === 1 ? 'restart' : 'restarts';
  const inPlace = syncedEpoch === null ? '' : `${inPlaceRestarts} ${noun} in place, `;
  return (
    `JobSet ${namespace}/${name}: ${current}${stateText(jobSet)}; ` +
    `${inPlace}${restarts} of all Jobs, at most ${maxRestarts} that count`
  );
}

export function restartLine({ epoch, time, cause, witness, phases }: RestartRecord): string {
  const who = witness === undefined ? '' : `, ${describeWitness(witness)}`;
  const announceMs = phases?.announceMs;
  const took = announceMs === undefined ? '' : `; all had announced after ${announceMs} ms`;
  return printable(`  ${time} epoch ${epoch} ended: ${cause}${who}${took}`);
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
const SHOWN_RESTARTS = 3;

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

function causeText({ epoch, exitCode, signal }: LastCause): string {
  const how =
    signal !== undefined
      ? `killed by ${signal}`
      : exitCode === undefined
        ? 'failed'
        : `exited with ${exitCode}`;
  return `${how} in epoch ${epoch}`;
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const all = [HEADINGS, ...rows];
  const widths = HEADINGS.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
