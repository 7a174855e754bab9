/** The operator's metrics. */

import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { NO_METRICS } from '@lockstep/kube/runtime/no-metrics.ts';
import { releasingMs } from '../../jobset/epoch/restart-history.ts';
import { ACCOUNTED } from '../../jobset/jobset-status.ts';
import type { Counted } from '../../jobset/plan/decision.ts';
import { REPLACEMENT_CAUSES } from '../../jobset/policies/ladder-settings.ts';

/**
 * Each event is counted after the status write that made it true, so that a conflict and its retry
 * count once. The first two families, with their labels, are upstream's.
 */
export interface OperatorMetrics {
  observe(jobSet: JobSetName, outcome: Counted): void;
  /** A Warning was recorded about a JobSet. Reasons are of a fixed set. */
  warned(reason: string): void;
  /**
   * A Pod was deleted without waiting for its node. Its `DisruptionTarget` has the same reason.
   */
  forcedDeletion(reason: ForcedDeletionReason): void;
  /**
   * The JobSet is deleted. Its series are removed, because families with a label per JobSet must
   * not grow for ever.
   */
  forget(jobSet: JobSetName): void;
}

/** Its node did not confirm its end in time. */
export const LOST_NODE_DEADLINE_REASON = 'LostNodeDeadline';
export type ForcedDeletionReason = typeof LOST_NODE_DEADLINE_REASON;

interface JobSetName {
  readonly namespace: string;
  readonly name: string;
}

export function operatorMetrics(metrics: Metrics = NO_METRICS): OperatorMetrics {
  const labels = ['jobset_name', 'namespace'] as const;
  const completed = metrics.counter({
    name: 'jobset_completed_total',
    help: 'JobSets that completed',
    labels,
  });
  const failed = metrics.counter({
    name: 'jobset_failed_total',
    help: 'JobSets that failed',
    labels,
  });
  const restarts = metrics.counter({
    name: 'lockstep_restarts_total',
    help: 'Restarts of groups, by what caused them and whether they were charged to maxRestarts',
    labels: ['cause', 'counted'],
  });
  const warnings = metrics.counter({
    name: 'lockstep_warnings_total',
    help: 'Warnings recorded about JobSets, by the reason of the Event',
    labels: ['reason'],
  });
  const forcedDeletions = metrics.counter({
    name: 'lockstep_forced_pod_deletions_total',
    help: 'Pods deleted without waiting for their nodes, by the reason of their DisruptionTarget',
    labels: ['reason'],
  });
  // An increase shows only in a series that existed before.
  forcedDeletions.add({ reason: LOST_NODE_DEADLINE_REASON }, 0);
  const replaced = metrics.counter({
    name: 'lockstep_members_replaced_total',
    help: 'Members that left their nodes: a culprit too often, or its preflight did not pass',
    labels: ['reason'],
  });
  for (const reason of REPLACEMENT_CAUSES) replaced.add({ reason }, 0);
  const phases = metrics.histogram({
    name: 'lockstep_restart_phase_seconds',
    help: 'Time of each phase of restarts in place: detect, announce, backoff, release',
    labels: ['phase'],
    buckets: PHASE_BUCKETS_SECONDS,
  });
  const goodput = metrics.counter({
    name: 'lockstep_goodput_seconds_total',
    help: 'Time of JobSets, by what became of it; each status write adds what it accounts for',
    labels: ['class'],
  });
  for (const each of ACCOUNTED) goodput.add({ class: each }, 0);
  const observePhase = (phase: string, durationMs: number | undefined): void => {
    if (durationMs !== undefined) phases.observe({ phase }, durationMs / 1000);
  };
  return {
    observe: ({ namespace, name }, outcome) => {
      const of = { jobset_name: name, namespace };
      switch (outcome.kind) {
        case 'Completed':
          return completed.add(of);
        case 'Failed':
          return failed.add(of);
        case 'JobsRestarted':
          return restarts.add({ cause: 'JobFailed', counted: String(outcome.counted) });
        case 'EpochEnded':
          observePhase('detect', outcome.detectMs);
          // Already counted as the restart of Jobs that ended this epoch.
          if (outcome.cause === 'JobsRecreated') return undefined;
          return restarts.add({ cause: outcome.cause, counted: String(outcome.counted) });
        case 'EpochReleased':
          observePhase('announce', outcome.announceMs);
          observePhase('backoff', outcome.backoffMs);
          return observePhase('release', releasingMs(outcome));
        case 'TimeAccounted':
          for (const [name, ms] of Object.entries(outcome.ms))
            goodput.add({ class: name }, ms / 1000);
          return undefined;
        case 'MemberReplaced':
          return replaced.add({ reason: outcome.cause });
      }
    },
    warned: (reason) => warnings.add({ reason }),
    forcedDeletion: (reason) => forcedDeletions.add({ reason }),
    forget: ({ namespace, name }) => {
      const of = { jobset_name: name, namespace };
      completed.remove(of);
      failed.remove(of);
    },
  };
}

/** From a few milliseconds (a supervisor's restart) to minutes (a group that waits for a node). */
const PHASE_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];
