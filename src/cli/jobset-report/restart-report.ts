/** The data of `lockstep report JOBSET`: where its time went, its recorded restarts, their cost. */

import { backoffEndMs, releasingMs } from '../../jobset/epoch/restart-history.ts';
import { type ReportedRestart, reportedRestarts } from '../../jobset/epoch/restart-request.ts';
import { type GoodputAt, goodputAt } from '../../jobset/goodput/goodput-at.ts';
import { type RestartCost, restartCosts } from '../../jobset/goodput/restart-cost.ts';
import type { AvoidedNode, JobSet } from '../../jobset/jobset.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import { type RestartBudget, restartBudget } from '../../jobset/view/restart-budget.ts';
import { formatDuration } from '../../kube/duration.ts';
import { namespaceOf, type Stored } from '../../kube/meta.ts';
import { printable } from '../../kube/quote.ts';
import { avoidedLines, duration, goodputTable } from '../goodput-lines.ts';
import { budgetText, culpritLines, failureText } from '../jobset-status/restart-lines.ts';
import { seconds, timelineRows } from '../restart-timeline.ts';

/** `-o json` prints it as it is. */
export interface RestartReport extends RestartBudget {
  readonly namespace: string;
  readonly name: string;
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
    inPlaceRestarts: status.inPlaceRestarts ?? 0,
    inPlaceRestartsCountTowardsMax: status.inPlaceRestartsCountTowardsMax ?? 0,
    restarts: status.restarts ?? 0,
    ...restartBudget(jobSet),
    restartHistory,
    downMs: restartHistory.reduce((sum, record) => sum + downMs(record), 0),
    backoffLeftMs: leftMs === undefined || leftMs <= 0 ? null : leftMs,
    goodput: goodputAt(jobSet, nowMs, reported) ?? null,
    avoidedNodes: (status.avoidedNodes ?? []).toReversed(),
    failure:
      failed === undefined
        ? null
        : { time: failed.lastTransitionTime, reason: failed.reason, message: failed.message },
  };
}

/** Lines for people. A line of text may be longer than `width`; a row of numbers is not. */
export function reportLines(report: RestartReport, width: number): readonly string[] {
  const { restartHistory, goodput, avoidedNodes, backoffLeftMs, failure } = report;
  const longestMs = Math.max(0, ...restartHistory.map(downMs));
  return [
    ...totals(report),
    ...(goodput === null ? [] : ['', 'where the time went:', ...goodputTable(goodput, width)]),
    ...(avoidedNodes.length === 0 ? [] : ['', ...avoidedLines(avoidedNodes)]),
    ...restartHistory.flatMap((record) => ['', ...restartLines(record, { longestMs, width })]),
    ...(backoffLeftMs === null ? [] : [`  back-off: ${seconds(backoffLeftMs)} left`]),
    ...(failure === null
      ? []
      : [
          '',
          printable(`${failure.time} the JobSet failed: ${failure.message} (${failure.reason})`),
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
  const recorded = restartHistory.length;
  if (recorded === 0) return [...head, 'no restart is recorded'];
  const mean = seconds(down / recorded);
  const causes = causesText(restartHistory);
  return [
    ...head,
    printable(
      `recorded: ${restartsText(recorded)} (${causes}), ${seconds(down)} down, ${mean} on average`,
    ),
  ];
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

function restartLines(
  record: CostedRestart,
  scale: { readonly longestMs: number; readonly width: number },
): readonly string[] {
  const { epoch, time, cause, counted, ranMs, cost } = record;
  const ran = ranMs === undefined ? 'never released' : `had run for ${formatDuration(ranMs)}`;
  const lines = [`${time} epoch ${epoch} ended: ${cause}, ${counted ? '' : 'not '}counted; ${ran}`];
  const failure = failureText(record);
  if (failure !== undefined) lines.push(`    ${failure}`);
  // The rows below tell how long it was down.
  if (cost !== null && cost.totalMs > (cost.restartingMs ?? 0)) {
    lines.push(`    ${costText(cost)}`);
  }
  return [
    ...lines.map(printable),
    ...culpritLines(record, Number.POSITIVE_INFINITY),
    ...phaseRows(record, scale),
  ];
}

/** `cost 38.6 s: 19.0 s of work lost, 15.0 s hung, 0.12 s restarting, 4.50 s starting` */
function costText({ lostMs, hungMs, restartingMs, startingMs, totalMs }: RestartCost): string {
  const parts = [
    [lostMs, 'of work lost'],
    [hungMs, 'hung'],
    [restartingMs, 'restarting'],
    [startingMs, 'starting'],
  ] as const;
  const told = parts.flatMap(([ms, what]) =>
    ms === undefined || ms === 0 ? [] : [`${duration(ms)} ${what}`],
  );
  return `cost ${duration(totalMs)}: ${told.join(', ')}`;
}

function phaseRows(
  { phases }: ReportedRestart,
  scale: { readonly longestMs: number; readonly width: number },
): readonly string[] {
  const { detectMs, announceMs, backoffMs } = phases ?? {};
  const known = Object.entries({
    announced: detectMs,
    atBarrier: announceMs,
    heldBack: backoffMs,
    released: releasingMs(phases ?? {}),
  });
  const durations = known.flatMap(([phase, ms]) =>
    ms === undefined ? [] : [[phase, ms] as const],
  );
  if (durations.length === 0) return [];
  // Where the time of the failure is unknown, time counts from the end of the epoch.
  const start = detectMs === undefined ? 'announced' : 'failure';
  return timelineRows(start, Object.fromEntries(durations), scale);
}

function downMs({ phases }: ReportedRestart): number {
  return (phases?.detectMs ?? 0) + (phases?.announceMs ?? 0) + (phases?.releaseMs ?? 0);
}
