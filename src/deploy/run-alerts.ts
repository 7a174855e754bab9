/**
 * Alerts about single runs. They name the JobSet and the command to type. Each expression is
 * aggregated by namespace and name, because after a change of leaders there may be two series.
 */
import type { Alert } from './alert.ts';
import { goodputOfLast, speedOfLast } from './run-windows.ts';

const latest = (metric: string): string => `max by (namespace, jobset) (lockstep_jobset_${metric})`;

const RUN = '{{ $labels.namespace }}/{{ $labels.jobset }}';
const AT = '{{ $labels.jobset }} -n {{ $labels.namespace }}';

/** A single restart wastes no more than that, whatever it loses; a run that stops wastes all. */
const GOODPUT_LOW_MINUTES = 55;
const GOODPUT = goodputOfLast('1h', { leastBefore: 3600, leastWithin: 1800 });

/** Half, and a little for chance: windows begin and end between two steps. */
const SLOW = 0.55;
const SPEED = speedOfLast('15m', { epochFor: '20m', leastWindows: 8, leastSteps: 10 });

/** Among many ranks, chance seldom lets the same one fail first three times in a day. */
const RANK_FAILURES = 3;

export const RUN_ALERTS: readonly Alert[] = [
  {
    name: 'LockstepRunAtBarrier',
    expression: `time() - ${latest('barrier_since_timestamp_seconds')} > 600`,
    forMinutes: 1,
    severity: 'warning',
    summary: `JobSet ${RUN} has waited at its barrier for 10 minutes`,
    description: `Members wait for others that have not come. See who is missing, and what holds it: lockstep status ${AT}`,
  },
  {
    name: 'LockstepRunBudgetNearlySpent',
    expression: `${latest('restart_budget_used')} / (${latest('restart_budget')} > 0) >= 0.8`,
    forMinutes: 0,
    severity: 'warning',
    summary: `JobSet ${RUN} has used {{ $value | humanizePercentage }} of its restarts`,
    description: `When all are used, the next failure ends it. See what failed: lockstep report ${AT}. The annotation lockstep/extra-restarts allows more.`,
  },
  {
    name: 'LockstepRunNoProgress',
    expression: `time() - ${latest('progress_timestamp_seconds')} > 1800`,
    forMinutes: 5,
    severity: 'warning',
    summary: `No worker of JobSet ${RUN} has reported progress for 30 minutes`,
    description: `Its workers run and used to report. See who is silent, and since which step: lockstep status ${AT}. The annotation lockstep/progress-timeout restarts such a group.`,
  },
  {
    name: 'LockstepRunGoodputLow',
    expression: `${GOODPUT} < 0.9`,
    forMinutes: GOODPUT_LOW_MINUTES,
    severity: 'warning',
    summary: `JobSet ${RUN} kept only {{ $value | humanizePercentage }} of the last hour`,
    description: `So it has been for most of an hour. The rest went into starts, restarts, hangs and work that was lost. See which: lockstep report ${AT}`,
  },
  {
    name: 'LockstepRunSlow',
    expression: `${SPEED} < ${SLOW}`,
    forMinutes: 30,
    severity: 'warning',
    summary: `JobSet ${RUN} makes only {{ $value | humanizePercentage }} of its usual steps`,
    description: `It runs, and used to make twice as many in the last day. See which members are slow: lockstep status ${AT}. A node, its network or the storage may be slow, or the run was made smaller.`,
  },
  {
    name: 'LockstepRunRestartsInVain',
    expression: `${latest('restarts_without_progress')} > 0.5 * ${latest('restarts_without_progress_limit')}`,
    forMinutes: 0,
    severity: 'warning',
    summary: `{{ $value }} restarts in a row brought JobSet ${RUN} no further`,
    description: `That is more than half of what lockstep/max-restarts-without-progress allows before the run ends. See what they have in common: lockstep report ${AT}`,
  },
  {
    name: 'LockstepRunRankFailsAgain',
    expression: `max by (namespace, jobset, rank) (lockstep_jobset_rank_failures) >= ${RANK_FAILURES}`,
    forMinutes: 0,
    severity: 'warning',
    summary: `Rank {{ $labels.rank }} of JobSet ${RUN} failed first in {{ $value }} restarts of the last day`,
    description: `Its accelerator, its node or its part of the data may be bad. See how it failed, and where: lockstep report ${AT}. The annotation lockstep/replace-after lets a member leave such a node.`,
  },
  {
    name: 'LockstepRunFailed',
    expression: `time() - ${latest('finished_timestamp_seconds')} < 3600 and ${latest('state{state="Failed"}')} == 1`,
    forMinutes: 0,
    severity: 'warning',
    summary: `JobSet ${RUN} has failed`,
    description: `It does not restart any more. See why: lockstep report ${AT}`,
  },
  {
    name: 'LockstepRunsNotMeasured',
    expression: 'max(lockstep_jobset_series_left_out) > 0',
    forMinutes: 60,
    severity: 'warning',
    summary: '{{ $value }} JobSets have no metrics of their own',
    description:
      'There are more than 1,000, and no alert tells of the others. Delete JobSets that are over, or give them a ttlSecondsAfterFinished.',
  },
];
