/**
 * Metrics of single JobSets. They are measured for each page, from the caches, so an event of a Pod
 * costs nothing. Only the operator that leads has them: otherwise each JobSet would count twice.
 */

import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Gauge, Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { NO_METRICS } from '@lockstep/kube/runtime/no-metrics.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { identityOf, ownerKey } from '../../jobset/membership.ts';
import { REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import { ranksBehind, shortestSilence } from '../../jobset/progress/group-progress.ts';
import type { Roster } from '../../jobset/roster/roster.ts';
import type { GroupView } from '../../jobset/roster/roster-group.ts';
import { isFinished } from '../../jobset/status/conditions.ts';
import { JOBSET_STATES } from '../../jobset/view/jobset-state.ts';
import {
  type Heard,
  MAX_FAILED_RANKS,
  type RunMeasures,
  type RunSurroundings,
  runMeasures,
} from '../../jobset/view/run-measures.ts';
import { type Informers, JOBS_BY_OWNER } from './caches.ts';

export interface RunMetricsOptions {
  readonly metrics?: Metrics | undefined;
  readonly clock: Clock;
  readonly informers: {
    readonly jobSets: Pick<Informers['jobSets'], 'store'>;
    readonly jobs: Pick<Informers['jobs'], 'store'>;
  };
  readonly roster: Pick<Roster, 'of'>;
}

/** The most JobSets that have series. */
export const MAX_MEASURED_JOBSETS = 1000;

/** Returns a function that ends it and removes all series. */
export function measureRuns(options: RunMetricsOptions): () => void {
  const { metrics = NO_METRICS, informers, clock } = options;
  const series = runSeries(metrics);
  const leftOut = metrics.gauge({
    name: 'lockstep_jobset_series_left_out',
    help: `JobSets without series of their own, because there are more than ${MAX_MEASURED_JOBSETS}`,
  });
  const clear = (): void => {
    series.clear();
    leftOut.clear();
  };
  const forget = metrics.beforePage(() => {
    clear();
    const all = [...informers.jobSets.store.values()];
    const measured = firstOf(all);
    leftOut.set({}, all.length - measured.length);
    const nowMs = clock.now();
    for (const jobSet of measured) {
      const { name, namespace } = identityOf(jobSet);
      series.show(
        { namespace, jobset: name },
        runMeasures(jobSet, surroundings(jobSet, nowMs, options)),
      );
    }
  });
  return () => {
    forget();
    clear();
  };
}

function surroundings(
  jobSet: Stored<JobSet>,
  nowMs: number,
  { informers, roster, clock }: RunMetricsOptions,
): RunSurroundings {
  const owner = identityOf(jobSet);
  const group = roster.of(owner);
  return {
    nowMs,
    announced: (epoch) => group.members.countAnnouncing(epoch),
    newestJobMs: (replicatedJob) => {
      const jobs = informers.jobs.store.byIndex(JOBS_BY_OWNER, ownerKey(owner));
      return newestJobMs(jobs, replicatedJob);
    },
    heard: group.streams === 0 ? undefined : heardOf(group, clock.monotonic()),
  };
}

function heardOf(group: GroupView, nowMs: number): Heard {
  const steps = group.steps(nowMs);
  return {
    progress: group.reported(nowMs),
    silentMs: shortestSilence(steps),
    ranksBehind: ranksBehind(steps),
  };
}

function newestJobMs(jobs: Iterable<Stored<Job>>, replicatedJob: string): number | undefined {
  let newestMs: number | undefined;
  for (const { metadata, status } of jobs) {
    const isOf = metadata.labels?.[REPLICATED_JOB_NAME] === replicatedJob;
    if (!isOf || metadata.deletionTimestamp !== undefined) continue;
    const isOver = status?.conditions?.some(
      ({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'),
    );
    if (isOver === true) continue;
    const madeMs = Date.parse(metadata.creationTimestamp ?? '');
    newestMs = Math.max(newestMs ?? madeMs, madeMs);
  }
  return newestMs;
}

/**
 * JobSets that run come first, then suspended ones, then those that are over. Within each kind,
 * namespaces take turns, so that one with many JobSets hides none of another. Within a namespace the
 * oldest come first, so that its new ones take no series away; among those that are over, the newest
 * come first.
 */
function firstOf(jobSets: readonly Stored<JobSet>[]): readonly Stored<JobSet>[] {
  if (jobSets.length <= MAX_MEASURED_JOBSETS) return jobSets;
  const ranked = jobSets.map((jobSet) => {
    const createdMs = Date.parse(jobSet.metadata.creationTimestamp ?? '');
    const isOver = isFinished(jobSet.status?.conditions);
    const rank = isOver ? 2 : jobSet.spec.suspend === true ? 1 : 0;
    return { jobSet, rank, order: isOver ? -createdMs : createdMs };
  });
  ranked.sort((a, b) => a.rank - b.rank || a.order - b.order);
  const counts = new Map<string, number>();
  const inTurn = ranked.map((each) => {
    const key = `${each.rank} ${namespaceOf(each.jobSet.metadata)}`;
    const turn = counts.get(key) ?? 0;
    counts.set(key, turn + 1);
    return { ...each, turn };
  });
  // Sorting is stable, so the order stays within a turn.
  inTurn.sort((a, b) => a.rank - b.rank || a.turn - b.turn);
  return inTurn.slice(0, MAX_MEASURED_JOBSETS).map(({ jobSet }) => jobSet);
}

interface RunLabels {
  readonly namespace: string;
  readonly jobset: string;
}

interface RunSeries {
  show(of: RunLabels, measures: RunMeasures): void;
  clear(): void;
}

function runSeries(metrics: Metrics): RunSeries {
  const labels = ['namespace', 'jobset'] as const;
  const gauge = (of: { readonly name: string; readonly help: string }) =>
    metrics.gauge({ ...of, labels });
  const state = metrics.gauge({
    name: 'lockstep_jobset_state',
    help: 'What a JobSet does: 1 for its state, 0 for the others',
    labels: [...labels, 'state'],
  });
  const goodput = metrics.gauge({
    name: 'lockstep_jobset_goodput_seconds',
    help: 'What became of the time of a JobSet until now, by class; not for one that is over',
    labels: [...labels, 'class'],
  });
  const rankFailures = metrics.gauge({
    name: 'lockstep_jobset_rank_failures',
    help: `In how many recorded restarts of the last day a rank failed first; at most ${MAX_FAILED_RANKS} ranks of a JobSet`,
    labels: [...labels, 'rank'],
  });
  const times = {
    createdMs: gauge({
      name: 'lockstep_jobset_created_timestamp_seconds',
      help: 'When a JobSet was created',
    }),
    finishedMs: gauge({
      name: 'lockstep_jobset_finished_timestamp_seconds',
      help: 'When a JobSet completed or failed',
    }),
    barrierSinceMs: gauge({
      name: 'lockstep_jobset_barrier_since_timestamp_seconds',
      help: 'Since when members of a group wait to be released; absent while none does',
    }),
    progressMs: gauge({
      name: 'lockstep_jobset_progress_timestamp_seconds',
      help: 'When a worker last reported progress or was released; only where workers report',
    }),
  };
  const numbers = {
    members: gauge({
      name: 'lockstep_jobset_members',
      help: 'How many Pods a JobSet runs at a time',
    }),
    announced: gauge({
      name: 'lockstep_jobset_members_announced',
      help: 'Members of a group that have announced the current epoch',
    }),
    epoch: gauge({
      name: 'lockstep_jobset_epoch',
      help: 'The current epoch of a group',
    }),
    budget: gauge({
      name: 'lockstep_jobset_restart_budget',
      help: 'How many restarts a JobSet may make for failures, with what an annotation adds',
    }),
    budgetUsed: gauge({
      name: 'lockstep_jobset_restart_budget_used',
      help: 'How many restarts have been charged to the budget',
    }),
    count: gauge({
      name: 'lockstep_jobset_restarts_without_progress',
      help: 'Charged restarts in a row that led to nothing new; only where these are limited',
    }),
    limit: gauge({
      name: 'lockstep_jobset_restarts_without_progress_limit',
      help: 'How many restarts in a row may lead to nothing new; only where these are limited',
    }),
    step: gauge({
      name: 'lockstep_jobset_step',
      help: 'The highest step that a member of a group reports',
    }),
    checkpoint: gauge({
      name: 'lockstep_jobset_checkpoint',
      help: 'The step of the newest checkpoint that a member of a group reports',
    }),
    ranks: gauge({
      name: 'lockstep_jobset_ranks',
      help: 'How many ranks a group has; only where agents start them',
    }),
    ranksBehind: gauge({
      name: 'lockstep_jobset_ranks_behind',
      help: 'Ranks that lag behind the others of their Pods, at most 4 of a Pod; only where ranks report',
    }),
    goodputShare: gauge({
      name: 'lockstep_jobset_goodput_ratio',
      help: 'Share of the time under way that was saved, up to the newest status write; only where workers report checkpoints',
    }),
  };
  const all = [state, goodput, rankFailures, ...Object.values(times), ...Object.values(numbers)];
  return {
    clear: () => {
      for (const each of all) each.clear();
    },
    show: (of, { state: current, open, ...ends }) => {
      for (const each of JOBSET_STATES) state.set({ ...of, state: each }, each === current ? 1 : 0);
      const {
        barrierSinceMs,
        progressMs,
        rankFailures: failures = [],
        ...group
      } = open?.group ?? {};
      setAll(times, of, { ...ends, barrierSinceMs, progressMs }, 1 / 1000);
      const { members, budget, budgetUsed, goodputShare, withoutProgress } = open ?? {};
      const counts = { members, budget, budgetUsed, goodputShare, ...withoutProgress, ...group };
      setAll(numbers, of, counts, 1);
      for (const [name, ms] of open?.goodput ?? []) {
        goodput.set({ ...of, class: name }, ms / 1000);
      }
      for (const [rank, count] of failures) rankFailures.set({ ...of, rank: `${rank}` }, count);
    },
  };
}

/** A number that is absent has no series. */
function setAll<K extends string>(
  gauges: Readonly<Record<K, Gauge<'namespace' | 'jobset'>>>,
  of: RunLabels,
  values: Partial<Record<K, number | undefined>>,
  factor: number,
): void {
  for (const key of Object.keys(gauges) as K[]) {
    const value = values[key];
    if (value !== undefined && Number.isFinite(value)) gauges[key].set({ ...of }, value * factor);
  }
}
