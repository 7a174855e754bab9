/**
 * The startup order of a group that restarts in place: the order in which Jobs start, but without the
 * state of a ReplicatedJob from before its present release
 * (`docs/design/release-hazards.md#a-startup-order-meets-the-last-epoch`).
 */
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { templateAgent } from '../injection/template-agent.ts';
import type { ReplicatedJobStatus } from '../jobset-status.ts';
import { type StartupOrder, startableReplicatedJobs } from '../policies/startup-order.ts';
import type { Stage } from './in-place-restart.ts';

/** Which ReplicatedJobs may start in an epoch. */
export function startupOrderIn(
  epoch: number,
  { spec, counters, group }: OrderedFacts,
): StartupOrder {
  const seen = group === undefined ? counters : stageCounters(counters, group.stages, epoch);
  return startableReplicatedJobs(spec, seen, spec.suspend);
}

interface OrderedFacts {
  readonly spec: DefaultedSpec;
  readonly counters: readonly ReplicatedJobStatus[];
  readonly group: { readonly stages: readonly Stage[] } | undefined;
}

/** Stages that may be released by the startup order of the spec; undefined if it has none. */
export function startableStages(
  spec: DefaultedSpec,
  counters: readonly ReplicatedJobStatus[],
  stages: readonly Stage[],
  epoch: number,
): ReadonlySet<string> | undefined {
  if (!hasStartupOrder(spec)) return undefined;
  const seen = stageCounters(counters, stages, epoch);
  const startable = new Set(startableReplicatedJobs(spec, seen, false).startable);
  const awaited = readinessAwaited(spec);
  for (const stage of stages) {
    const isNext = stage.released < epoch && startable.has(stage.name) && awaited.has(stage.name);
    if (isNext && showsOldReadiness(stage)) startable.delete(stage.name);
  }
  return startable;
}

/** The counters, with zeros for an unreleased ReplicatedJob, which has not started. */
function stageCounters(
  counters: readonly ReplicatedJobStatus[],
  stages: readonly Stage[],
  epoch: number,
): readonly ReplicatedJobStatus[] {
  const waiting = stages.filter(({ isComplete, released }) => !isComplete && released < epoch);
  const names = new Set(waiting.map(({ name }) => name));
  return counters.map((counter) =>
    names.has(counter.name) ? { ...counter, ready: 0, succeeded: 0, failed: 0 } : counter,
  );
}

/** Whether any ReplicatedJob has to wait for another. */
export function hasStartupOrder({ startupPolicy, replicatedJobs }: DefaultedSpec): boolean {
  return (
    startupPolicy.startupPolicyOrder === 'InOrder' ||
    replicatedJobs.some(({ dependsOn = [] }) => dependsOn.length > 0)
  );
}

/** ReplicatedJobs that others wait for until they are ready. */
function readinessAwaited({ startupPolicy, replicatedJobs }: DefaultedSpec): ReadonlySet<string> {
  if (startupPolicy.startupPolicyOrder === 'InOrder') {
    return new Set(replicatedJobs.slice(0, -1).map(({ name }) => name));
  }
  const dependencies = replicatedJobs.flatMap(({ dependsOn = [] }) => dependsOn);
  const ready = dependencies.filter(({ status }) => status === 'Ready');
  return new Set(ready.map(({ name }) => name));
}

/**
 * Whether a Job counts Pods as ready although all of them wait at the barrier. The Job controller is
 * behind, and its count is of the last epoch. After a release now, it would look like a count of
 * this epoch.
 */
function showsOldReadiness({ jobs }: Stage): boolean {
  return jobs.some((job) => (job.status?.ready ?? 0) > 0 && isUnreadyAtBarrier(job));
}

/** A Pod whose agent is a sidecar with a startup probe is not ready before the barrier lifts. */
function isUnreadyAtBarrier({ spec }: Job): boolean {
  const agent = templateAgent(spec.template);
  return (
    agent?.startupProbe !== undefined &&
    agent.restartPolicy === 'Always' &&
    (spec.template.spec.initContainers ?? []).includes(agent)
  );
}
