/**
 * Decides which Jobs to create: Jobs of ReplicatedJobs that may start, whose name no Job has in any
 * state, and which have not succeeded before (`succeeded-jobs.ts`). If there are many, a plan
 * creates only a part. So it needs little memory, other JobSets get their turn, and the next plan
 * sees changes of the JobSet.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { askedOf } from '../../child-jobs/child-jobs.ts';
import { type BuildJob, jobBuilder } from '../../child-jobs/job-template.ts';
import type { DefaultedReplicatedJob } from '../../defaults.ts';
import { jobNamePrefix } from '../../derived-names.ts';
import { agentInjector } from '../../injection/agent-mode.ts';
import { identityOf } from '../../membership.ts';
import { mayCreateJobs } from '../../policies/restart-strategy.ts';
import { cleared } from '../../status/conditions.ts';
import type { Action, Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { attemptOfRun } from './execution-attempts.ts';
import { reportConflicts } from './name-conflict.ts';
import { eventsOfStart, reportStartup } from './startup-policy.ts';
import { questionOfTemplates } from './template-question.ts';

export const MAX_CREATIONS_PER_PASS = 2_000;

/** Makes Jobs. Reports which of them start, and which of their names other objects have. */
export function createJobs(facts: Facts): readonly Decision[] {
  const { spec, children, startup } = facts;
  const missing = mayCreateJobs(spec, children)
    ? missingJobs(
        facts,
        spec.replicatedJobs.filter(({ name }) => startup.startable.has(name)),
      )
    : [];
  const isMade = missing.some(({ indexes }) => indexes.length > 0);
  const question = isMade ? questionOfTemplates(facts) : undefined;
  if (question !== undefined) return [{ question }];
  const build = builderOf(facts);
  const actions = missing.flatMap(({ replicatedJob, indexes }) =>
    indexes.map((index): Action => ({ kind: 'CreateJob', job: build(replicatedJob, index) })),
  );
  const fresh = missing.filter(({ isFromTheStart }) => isFromTheStart);
  const events = fresh.flatMap(({ replicatedJob }) => eventsOfStart(spec, replicatedJob));
  const isPartial = missing.some((each) => each.isPartial);
  return [
    { actions, events, requeueAfterMs: isPartial ? 0 : undefined },
    ...reportStartup(facts),
    ...reportConflicts(
      facts,
      missing.flatMap(({ holders }) => holders),
    ),
  ];
}

/**
 * Reports in the API server's words why it refuses Jobs: a value in a template that it does not
 * know, a quota, a policy of the cluster. The operator tries again until the Jobs are made or resumed.
 */
export function reportRefusedJobs({ knowledge }: Facts): readonly Decision[] {
  const { jobsRefused: refusal } = knowledge;
  if (refusal === undefined) return [];
  const type = 'JobsRefused';
  if (refusal === false) {
    return [
      { conditions: [cleared(type, 'NoneRefused', 'the API server refuses none of the Jobs')] },
    ];
  }
  return [{ conditions: [{ type, status: 'True', ...refusal }] }];
}

/** The status of this run has to be known before Jobs are built for it. */
export function builderOf(facts: Facts): BuildJob {
  const { jobSet, spec, status, agent, answer, gates, sha1 } = facts;
  const { annotations } = jobSet.metadata;
  const minimums = answer({ kind: 'ContainerMinimums' });
  const { restarts, jobRestarts } = askedOf(spec.replicatedJobs, status, gates);
  return jobBuilder({
    jobSet: identityOf(jobSet),
    spec,
    annotations,
    restarts,
    jobRestarts,
    executionAttempt: attemptOfRun(facts),
    sha1,
    inject: agentInjector(spec, annotations, {
      ...agent,
      ...(minimums && { minimums }),
      ...(answer({ kind: 'ImageVolumes' }) === true && { delivery: 'ImageVolume' }),
    }),
  });
}

interface MissingJobs {
  readonly replicatedJob: DefaultedReplicatedJob;
  /** The first indexes whose names are free. */
  readonly indexes: readonly number[];
  /** Jobs of other owners that have the names of missing Jobs. */
  readonly holders: readonly Stored<Job>[];
  /** Another plan has to create more. */
  readonly isPartial: boolean;
  /** No Job of the ReplicatedJob was made before. */
  readonly isFromTheStart: boolean;
}

/** Looks only at Jobs that exist, and at indexes of Jobs that will be made. */
function missingJobs(
  { jobSet, jobs, children, surroundings }: Facts,
  replicatedJobs: readonly DefaultedReplicatedJob[],
): readonly MissingJobs[] {
  const taken = indexesByPrefix(jobs);
  let room = MAX_CREATIONS_PER_PASS;
  return replicatedJobs.map((replicatedJob) => {
    const { name, replicas } = replicatedJob;
    const done = children.gone.get(name);
    const prefix = jobNamePrefix(jobSet.metadata.name, name);
    const named = taken.get(prefix);
    const indexes: number[] = [];
    const holders: Stored<Job>[] = [];
    let index = 0;
    for (; index < replicas; index++) {
      if (named?.has(index) === true || done?.has(index) === true) continue;
      const holder = surroundings.jobNamed(prefix + index);
      if (holder !== undefined) holders.push(holder);
      else if (indexes.length < room) indexes.push(index);
      else break;
    }
    room -= indexes.length;
    const missing = indexes.length + holders.length;
    const isFromTheStart = missing > 0 && missing === index;
    return { replicatedJob, indexes, holders, isPartial: index < replicas, isFromTheStart };
  });
}

/**
 * The indexes in the names of Jobs, by what precedes them (`jobNamePrefix`). In a plan for many Jobs
 * nothing else costs as much as their names, and numbers cost less than texts.
 */
function indexesByPrefix(jobs: readonly Stored<Job>[]): ReadonlyMap<string, ReadonlySet<number>> {
  const byPrefix = new Map<string, Set<number>>();
  let prefix = '';
  let indexes = new Set<number>();
  for (const { metadata } of jobs) {
    const { name } = metadata;
    const start = name.lastIndexOf('-') + 1;
    const text = name.slice(start);
    const index = Number(text);
    // No Job that is made here has a name such as `workers-01`.
    if (String(index) !== text) continue;
    if (start !== prefix.length || !name.startsWith(prefix)) {
      prefix = name.slice(0, start);
      indexes = byPrefix.get(prefix) ?? new Set();
      byPrefix.set(prefix, indexes);
    }
    indexes.add(index);
  }
  return byPrefix;
}
