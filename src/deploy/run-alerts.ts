/**
 * Alerts about single runs. They name the JobSet and the command to type. Each expression is
 * aggregated by namespace and name, because after a change of leaders there may be two series.
 */
import type { Alert } from './alert.ts';

const latest = (metric: string): string => `max by (namespace, jobset) (lockstep_jobset_${metric})`;

const RUN = '{{ $labels.namespace }}/{{ $labels.jobset }}';
const AT = '{{ $labels.jobset }} -n {{ $labels.namespace }}';

/** Time that checkpoints allow to judge: with less of it, a start alone makes the share low. */
const JUDGED_SECONDS =
  'sum by (namespace, jobset) (max by (namespace, jobset, class) (lockstep_jobset_goodput_seconds{class!~"Waiting|Suspended|Running"}))';

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
    expression: `${latest('goodput_ratio')} < 0.9 and ${JUDGED_SECONDS} > 3600`,
    forMinutes: 15,
    severity: 'warning',
    summary: `JobSet ${RUN} kept only {{ $value | humanizePercentage }} of its time`,
    description: `The rest went into starts, restarts, hangs and work that was lost. See which: lockstep report ${AT}`,
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
