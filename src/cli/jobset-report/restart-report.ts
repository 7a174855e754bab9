/** The data of `lockstep report JOBSET`: where its time went, its recorded restarts, their cost. */

import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { printable } from '@lockstep/kube/quote.ts';
import { backoffEndMs, releasingMs } from '../../jobset/epoch/restart-history.ts';
import { type GoodputAt, goodputAt } from '../../jobset/goodput/goodput-at.ts';
import { type RestartCost, restartCosts } from '../../jobset/goodput/restart-cost.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { AvoidedNode } from '../../jobset/jobset-status.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import { withoutFailure } from '../../jobset/view/overview.ts';
import { type ReportedRestart, reportedRestarts } from '../../jobset/view/reported-restarts.ts';
import { type RestartBudget, restartBudget } from '../../jobset/view/restart-budget.ts';
import { causeInWords, countedInWords, isFinalFailure } from '../../jobset/view/restart-words.ts';
import { restoreWarning } from '../../jobset/view/restore-warning.ts';
import { avoidedLines, duration, goodputTable } from '../goodput-lines.ts';
import { warningLines } from '../jobset-status/member-table.ts';
import { budgetText, culpritLines, failureText } from '../jobset-status/restart-lines.ts';
import { momentText } from '../printed-text.ts';
import { seconds } from '../restart-timeline.ts';

/** `-o json` prints it as it is. */
export interface RestartReport extends RestartBudget {
  readonly namespace: string;
  readonly name: string;
  /** How many ReplicatedJobs it has: if several, names of members need theirs. */
  readonly replicatedJobs: number;
  /** For failures: what a user or a change of the size ended is not one of them. */
  readonly inPlaceRestarts: number;
  readonly inPlaceRestartsCountTowardsMax: number;
  /** How often all Jobs were recreated. */
  readonly restarts: number;
  /** The recorded restarts, the oldest first; the status keeps the newest. */
  readonly restartHistory: readonly CostedRestart[];
  /** How long the group was down in these, as far as their phases are known. */
  readonly downMs: number;
  /** For how long a crash loop holds the next epoch back; null: nothing does. */
  readonly backoffLeftMs: number | null;
  /** What became of its time; null: the operator does not account for it. */
  readonly goodput: GoodputAt | null;
  /** Why its restart may not have loaded what was saved; null: nothing says so. */
  readonly restoreWarning: string | null;
  /** Nodes that replaced members have left, the oldest first. */
  readonly avoidedNodes: readonly AvoidedNode[];
  /** Why the JobSet failed in the end; null: it has not. */
  readonly failure: {
    readonly time: string;
    readonly reason: string;
    readonly message: string;
  } | null;
}

/** `cost` is null if nothing is known of it. */
type CostedRestart = ReportedRestart & { readonly cost: RestartCost | null };

/**
 * `reported` is what members tell of themselves; undefined: nothing is known of that. Time is
 * accounted for up to `nowMs`.
 */
export function restartReport(
  jobSet: Stored<JobSet>,
  nowMs: number,
  reported?: GroupProgress,
): RestartReport {
  const { metadata, status = {} } = jobSet;
  const costs = restartCosts(jobSet, nowMs, reported);
  const restartHistory = reportedRestarts(jobSet)
    .map((record) => ({ ...record, cost: costs.get(record.epoch) ?? null }))
    .toReversed();
  const heldUntilMs = backoffEndMs(jobSet);
  const leftMs = heldUntilMs && heldUntilMs - nowMs;
  const failed = status.conditions?.find(
    ({ type, status: is }) => type === 'Failed' && is === 'True',
  );
  return {
    namespace: namespaceOf(metadata),
    name: metadata.name,
    replicatedJobs: jobSet.spec.replicatedJobs?.length ?? 0,
    inPlaceRestarts: status.inPlaceRestarts ?? 0,
    inPlaceRestartsCountTowardsMax: status.inPlaceRestartsCountTowardsMax ?? 0,
    restarts: status.restarts ?? 0,
    ...restartBudget(jobSet),
    restartHistory,
    downMs: restartHistory.reduce((sum, record) => sum + downMs(record), 0),
    backoffLeftMs: leftMs === undefined || leftMs <= 0 ? null : leftMs,
    goodput: goodputAt(jobSet, nowMs, reported) ?? null,
    restoreWarning: restoreWarning(jobSet, reported, nowMs) ?? null,
    avoidedNodes: (status.avoidedNodes ?? []).toReversed(),
    failure:
      failed === undefined
        ? null
        : {
            time: failed.lastTransitionTime,
            reason: failed.reason,
            message: failed.message,
          },
  };
}

/** Lines for people. A line of text may be longer than `width`; a row of numbers is not. */
export function reportLines(report: RestartReport, width: number): readonly string[] {
  const { restartHistory, goodput, avoidedNodes, backoffLeftMs, failure } = report;
  const longestMs = Math.max(0, ...restartHistory.map(({ cost }) => cost?.totalMs ?? 0));
  const { replicatedJobs } = report;
  const drawn = { longestMs, width, failedMs: failedMsOf(report), replicatedJobs };
  return [
    ...totals(report),
    ...warningLines(report),
    ...(goodput === null ? [] : ['', 'where the time went:', ...goodputTable(goodput, width)]),
    ...(avoidedNodes.length === 0 ? [] : ['', ...avoidedLines(avoidedNodes)]),
    ...restartHistory.flatMap((record) => ['', ...restartLines(record, drawn)]),
    ...(backoffLeftMs === null ? [] : [`  back-off: ${seconds(backoffLeftMs)} left`]),
    ...(failure === null
      ? []
      : [
          '',
          printable(
            `${momentText(failure.time)} the JobSet failed: ${withoutFailure(failure.message, restartHistory.at(-1))} (${failure.reason})`,
          ),
        ]),
  ];
}

function totals(report: RestartReport): readonly string[] {
  const { namespace, name, inPlaceRestarts, restarts, restartHistory } = report;
  const { downMs: down } = report;
  const head = [
    `JobSet ${namespace}/${name}: ${budgetText(report)}`,
    `for failures: ${restartsText(inPlaceRestarts)} in place, ${restarts} of all Jobs`,
  ];
  const failedMs = failedMsOf(report);
  const restarted = restartHistory.filter((record) => !isFinalFailure(record, failedMs));
  const recorded = restarted.length;
  if (recorded === 0) return [...head, 'no restart is recorded'];
  const mean = seconds(down / recorded);
  const causes = causesText(restarted);
  return [
    ...head,
    printable(
      `recorded: ${restartsText(recorded)} (${causes}), ${seconds(down)} down, ${mean} on average`,
    ),
  ];
}

function failedMsOf({ failure }: RestartReport): number {
  return Date.parse(failure?.time ?? '');
}

/** `3 WorkerFailed, 1 Requested` */
function causesText(history: readonly ReportedRestart[]): string {
  const counts = new Map<string, number>();
  for (const { cause } of history) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return [...counts].map(([cause, count]) => `${count} ${cause}`).join(', ');
}

function restartsText(count: number): string {
  return count === 1 ? '1 restart' : `${count} restarts`;
}

/** How restarts are shown: bars have one scale in a report. */
interface Drawn {
  readonly longestMs: number;
  readonly width: number;
  /** When the JobSet failed; NaN: it has not. */
  readonly failedMs: number;
  readonly replicatedJobs: number;
}

function restartLines(record: CostedRestart, drawn: Drawn): readonly string[] {
  const { epoch, time, ranMs, cost } = record;
  const ran = ranMs === undefined ? 'never released' : `had run for ${duration(ranMs)}`;
  const failure = failureText(record, drawn);
  const lines = [
    `${momentText(time)} epoch ${epoch} ended: ${causeInWords(record)}, ${countedInWords(record, isFinalFailure(record, drawn.failedMs))}; ${ran}`,
    ...(failure === undefined ? [] : [`    ${failure}`]),
    ...culpritLines(record, drawn).map((line) => `    ${line}`),
    ...phasesText(record).map((line) => `    ${line}`),
  ];
  return [...lines.map(printable), ...(cost === null ? [] : costRows(cost, drawn))];
}

const LABEL_WIDTH = 16;
const TIME_WIDTH = 10;
/** Shorter bars say nothing. */
const LEAST_BAR_WIDTH = 10;

/** What a restart cost, in the order in which it passed, each with a bar on the scale of all. */
function costRows(
  { lostMs, hungMs, restartingMs, startingMs, totalMs }: RestartCost,
  { longestMs, width }: Drawn,
): readonly string[] {
  const parts = [
    ['work lost', lostMs],
    ['hung', hungMs],
    ['restarting', restartingMs],
    ['starting', startingMs],
  ] as const;
  const room = width - LABEL_WIDTH - TIME_WIDTH - 4;
  const scale = longestMs > 0 && room >= LEAST_BAR_WIDTH ? room / longestMs : 0;
  const row = (label: string, ms: number, bar: string): string =>
    `  ${label.padEnd(LABEL_WIDTH)}${duration(ms).padStart(TIME_WIDTH)}  ${bar}`
      .slice(0, width)
      .trimEnd();
  let beforeMs = 0;
  const rows = parts.flatMap(([label, ms]) => {
    if (ms === undefined || ms === 0) return [];
    const [from, to] = [beforeMs, beforeMs + ms].map((at) => Math.round(at * scale));
    beforeMs += ms;
    // A part that is too short for the scale has no bar, so that bars can be compared.
    return [row(label, ms, `${' '.repeat(from ?? 0)}${'#'.repeat((to ?? 0) - (from ?? 0))}`)];
  });
  return rows.length === 0 ? [] : [...rows, row('cost in all', totalMs, '')];
}

/** `announced after 0.10 s, all at barrier after 0.40 s, released after 0.50 s` */
function phasesText({ phases = {} }: ReportedRestart): readonly string[] {
  const { detectMs, announceMs, backoffMs } = phases;
  const events = [
    ['announced', detectMs],
    ['all at barrier', announceMs],
    ['back-off over', backoffMs],
    ['released', releasingMs(phases)],
  ] as const;
  let atMs = 0;
  const told = events.flatMap(([event, ms]) => {
    if (ms === undefined) return [];
    atMs += ms;
    return [`${event} after ${seconds(atMs)}`];
  });
  if (told.length === 0) return [];
  // Where the time of the failure is unknown, time counts from the end of the epoch.
  return [
    `from the ${detectMs === undefined ? 'end of the epoch' : 'failure'}: ${told.join(', ')}`,
  ];
}

function downMs({ phases }: ReportedRestart): number {
  return (phases?.detectMs ?? 0) + (phases?.announceMs ?? 0) + (phases?.releaseMs ?? 0);
}
