/** The differences between two views of a JobSet. */
import { printable } from '@lockstep/kube/quote.ts';
import type { ReportedRestart } from '../../jobset/view/reported-restarts.ts';
import type { StatusView } from '../../jobset/view/status-view.ts';
import { avoidedLines } from '../goodput-lines.ts';
import {
  conditionLines,
  lastingLine,
  memberLine,
  refusalLine,
  warningLines,
} from './member-table.ts';
import { culpritLines, restartLine } from './restart-lines.ts';

/**
 * One line each for what a log should show: the JobSet if its line has changed, new restarts,
 * conditions and avoided nodes, and members that changed, came or went. Progress and time alone are
 * no change: it would be a line for each look. Before the first view there is nothing.
 */
export function statusChanges(
  before: StatusView | undefined,
  after: StatusView,
): readonly string[] {
  return [
    ...restarts(before, after),
    ...changed(before === undefined ? [] : [lineOf(before)], [lineOf(after)]),
    ...changed(
      conditionLines(before?.jobSet.conditions ?? []),
      conditionLines(after.jobSet.conditions),
    ),
    ...changed(refusalLines(before), refusalLines(after)),
    ...changed(before === undefined ? [] : warningLines(before.jobSet), warningLines(after.jobSet)),
    ...changed(
      avoidedLines(before?.jobSet.avoidedNodes ?? []),
      avoidedLines(after.jobSet.avoidedNodes),
    ),
    ...changed(before?.members.map(memberLine) ?? [], after.members.map(memberLine)),
    ...gone(before, after),
    ...problems(before, after),
  ];
}

function lineOf({ jobSet, members }: StatusView): string {
  return lastingLine(jobSet, members);
}

function refusalLines(view: StatusView | undefined): readonly string[] {
  return view?.refusal === undefined ? [] : [refusalLine(view.refusal)];
}

function changed(before: readonly string[], after: readonly string[]): readonly string[] {
  const known = new Set(before);
  return after.filter((line) => !known.has(line));
}

/** Restarts that happened between the views; earlier ones are in the history. */
function restarts(before: StatusView | undefined, after: StatusView): readonly string[] {
  if (before === undefined) return [];
  const known = before.jobSet.restartHistory[0];
  const latest = after.jobSet.restartHistory[0];
  const ended = after.jobSet.restartHistory
    .filter(({ epoch }) => epoch > (known?.epoch ?? 0))
    .reverse()
    .map((record) => restartLine(record, after.jobSet));
  // Evidence is judged after the restart has begun, so a record may name its culprits later.
  const isTold = known !== undefined && known.epoch === latest?.epoch;
  const told = isTold ? linesOf(known, after) : [];
  const news = latest === undefined ? [] : changed(told, linesOf(latest, after));
  return [...ended, ...news.filter((line) => !ended.includes(line))];
}

function linesOf(record: ReportedRestart, { jobSet }: StatusView): readonly string[] {
  return [restartLine(record, jobSet), ...culpritLines(record, jobSet)];
}

function gone(before: StatusView | undefined, after: StatusView): readonly string[] {
  const pods = new Set(after.members.map(({ pod }) => pod));
  return (before?.members ?? [])
    .filter(({ pod }) => !pods.has(pod))
    .map((member) => `worker ${member.label}, Pod ${member.pod} is gone`);
}

function problems(before: StatusView | undefined, after: StatusView): readonly string[] {
  if (before?.problem === after.problem) return [];
  return [printable(after.problem ?? 'all is up to date again')];
}
