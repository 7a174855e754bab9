/**
 * Measures the JobSet controller without a cluster: plans of large JobSets, and passes of the
 * operator over one against the API server in memory. Plans are medians of rounds in one warm
 * process.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createMetrics, type Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { PORTS } from '../cli/ports.ts';
import { DEFAULT_FEATURE_GATES } from '../jobset/feature-gates.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { NO_ANSWERS } from '../jobset/plan/questions.ts';
import type { Snapshot } from '../jobset/plan/snapshot.ts';
import { type Plan, plan } from '../jobset/plan.ts';
import { MemberCounts } from '../jobset/roster/members.ts';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';
import { DEFINITION_LIMITS } from '../jobset/size-limits.ts';
import { startOperator } from '../operator/operator.ts';
import { jobSetOf, NAME, NAMESPACE } from './large-jobset.ts';
import { startMemoryServer } from './memory-server.ts';
import { type Report, type Row, spread } from './table.ts';
import { until } from './until.ts';

const CREATED = '2026-01-01T00:00:00Z';
const WARM_UP_ROUNDS = 5;
const ROUNDS = 15;
/** ReplicatedJobs, and Jobs of each. */
const SHAPES = [
  [1, 5000],
  [100, 50],
  [1, 20_000],
  [1, 100_000],
] as const;
/** Each of its passes looks at all Jobs again, so more would take minutes and show nothing new. */
const MOST_JOBS_TO_MAKE = 20_000;
const PASS_JOBS = 5000;
const PASSES = 50;
const WAIT = { timeoutMs: 120_000, pollMs: 2 };

export async function benchPlan(report: Report): Promise<void> {
  for (const [replicatedJobs, replicas] of SHAPES) {
    const jobSet = stored(jobSetOf(replicatedJobs, replicas));
    const count = (replicatedJobs * replicas).toLocaleString('en-US');
    const of = `Plan: ${count} Jobs in ${replicatedJobs} ReplicatedJob${replicatedJobs > 1 ? 's' : ''}`;
    const begun = begunOf(jobSet);
    const { jobs } = jobsMadeFor(begun);
    if (jobs.length <= MOST_JOBS_TO_MAKE) {
      report(row(`${of}, to be made`, () => jobsMadeFor(begun).planMs));
    }
    report(row(`${of}, all running`, () => timedPlan(begun, jobs).planMs));
  }
  report(await benchPasses());
}

/** `round` gives the time of one round, in ms. */
function row(benchmark: string, round: () => number): Row {
  const times = Array.from({ length: WARM_UP_ROUNDS + ROUNDS }, round).slice(WARM_UP_ROUNDS);
  return { benchmark, unit: 'ms', ...spread(times) };
}

function timedPlan(
  jobSet: Stored<JobSet>,
  jobs: readonly Stored<Job>[],
): { readonly planMs: number; readonly made: Plan } {
  const startMs = performance.now();
  const made = plan(snapshotOf(jobSet, jobs));
  return { planMs: performance.now() - startMs, made };
}

function stored<T extends JobSet | Job>(object: T): Stored<T> {
  const { name = '' } = object.metadata;
  const identity = { name, uid: `uid-of-${name}`, resourceVersion: '1' };
  return { ...object, metadata: { ...object.metadata, ...identity, creationTimestamp: CREATED } };
}

function begunOf(jobSet: Stored<JobSet>): Stored<JobSet> {
  const { status } = plan(snapshotOf(jobSet, []));
  return status === undefined ? jobSet : { ...jobSet, status };
}

/** In as many passes as it takes; `planMs` is the sum of their plans. */
function jobsMadeFor(jobSet: Stored<JobSet>): {
  readonly planMs: number;
  readonly jobs: readonly Stored<Job>[];
} {
  const jobs: Stored<Job>[] = [];
  let planMs = 0;
  for (let size = -1; size < jobs.length; ) {
    size = jobs.length;
    const timed = timedPlan(jobSet, jobs);
    planMs += timed.planMs;
    const made = timed.made.actions.flatMap((action) =>
      action.kind === 'CreateJob'
        ? [{ ...stored(action.job), status: { active: 1, ready: 1, startTime: CREATED } }]
        : [],
    );
    jobs.push(...asServed(made));
  }
  return { planMs, jobs };
}

/**
 * Objects as an API server returns them. This matters to V8, which gives objects parsed from JSON
 * one shape.
 */
function asServed(jobs: readonly Stored<Job>[]): readonly Stored<Job>[] {
  return JSON.parse(JSON.stringify(jobs)) as typeof jobs;
}

function snapshotOf(jobSet: Stored<JobSet>, jobs: readonly Stored<Job>[]): Snapshot {
  return {
    jobSet,
    jobs,
    vanished: [],
    members: new MemberCounts(),
    surroundings: {
      service: undefined,
      jobNamed: () => undefined,
      hasClaim: () => true,
      hasAgentRights: true,
    },
    answer: NO_ANSWERS,
    knowledge: {
      isDismissed: () => false,
      isTooFarAhead: () => false,
      countersPutOff: undefined,
    },
    agent: { image: 'agent' },
    gates: DEFAULT_FEATURE_GATES,
    sha1,
    limits: DEFINITION_LIMITS,
    nowMs: Date.parse(CREATED),
  };
}

/** Mean time of passes over a JobSet with all its Jobs, from the operator's own metric. */
async function benchPasses(): Promise<Row> {
  const { client, close } = await startMemoryServer();
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  const metrics = createMetrics();
  const config = { agentImage: 'a' };
  const operator = await startOperator({ ...PORTS, client, metrics, sha1, config });
  const startMs = performance.now();
  await client.create(JOBSETS, jobSetOf(1, PASS_JOBS));
  await until('all Jobs exist', async () => (await jobCount(client)) === PASS_JOBS, WAIT);
  const creationMs = performance.now() - startMs;
  const before = await passesOf(metrics);
  for (let pass = 0; pass < PASSES; pass++) {
    const patch = { metadata: { annotations: { pass: String(pass) } } };
    const { count } = await passesOf(metrics);
    await client.patch(JOBSETS, { namespace: NAMESPACE, name: NAME }, { type: 'merge', patch });
    await until('a pass', async () => (await passesOf(metrics)).count > count, WAIT);
  }
  const after = await passesOf(metrics);
  await operator.stop();
  await close();
  return {
    benchmark: `Pass of the operator over ${PASS_JOBS.toLocaleString('en-US')} Jobs`,
    unit: 'ms',
    median: (1000 * (after.seconds - before.seconds)) / (after.count - before.count),
    notes: `mean; all created in ${(creationMs / 1000).toFixed(1)} s`,
  };
}

async function jobCount(client: Client): Promise<number> {
  const { items, metadata } = await client.list(JOBS, { namespace: NAMESPACE, limit: 1 });
  return items.length + (metadata.remainingItemCount ?? 0);
}

async function passesOf(metrics: Metrics): Promise<{ count: number; seconds: number }> {
  const { body } = await metrics.handler({
    method: 'GET',
    path: '/metrics',
    headers: {},
    signal: new AbortController().signal,
  });
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : '';
  const value = (suffix: string): number => {
    const line = new RegExp(
      `^controller_runtime_reconcile_time_seconds_${suffix}\\{[^}]*\\} (\\S+)$`,
      'm',
    ).exec(text);
    return Number(line?.[1] ?? 0);
  };
  return { count: value('count'), seconds: value('sum') };
}
