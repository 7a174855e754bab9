import type { Stored, StringMap } from '../kube/meta.ts';
import type { PersistentVolumeClaim, Service } from '../kube/objects/core.ts';
import type { Job } from '../kube/objects/job.ts';
import { askedOf } from './child-jobs/child-jobs.ts';
import { type JobSize, sizeChanges } from './child-jobs/elastic.ts';
import { jobCreations } from './child-jobs/job-creation.ts';
import type { JobResume } from './child-jobs/job-resume.ts';
import {
  type BuildJob,
  type JobSetIdentity,
  jobBuilder,
  ownerReferenceTo,
} from './child-jobs/job-template.ts';
import { reportConflicts } from './child-jobs/name-conflict.ts';
import { beginResume, resumeJobs, suspendJobs } from './child-jobs/suspend.ts';
import { deletions, tidyUp } from './child-jobs/tidying.ts';
import type { OverduePod } from './epoch/lost-pods.ts';
import { headlessService, serviceProblem } from './headless-service.ts';
import { agentInjector } from './injection/agent-mode.ts';
import type { AgentRights } from './injection/agent-rights.ts';
import { plannedRights } from './injection/planned-rights.ts';
import { type Planning, startupOrderOf } from './planning.ts';
import { mayCreateJobs } from './policies/restart-strategy.ts';
import { reportStartup } from './policies/startup-policy.ts';
import { volumeClaims } from './volume-claims.ts';

/**
 * The steps that bring the cluster to what the JobSet asks for: delete what is outdated, create
 * what is missing, suspend or resume.
 */
export type Action =
  | { readonly kind: 'CreateService'; readonly service: Service }
  | { readonly kind: 'CreateClaim'; readonly claim: PersistentVolumeClaim }
  /** Before the Jobs whose Pods act with them. */
  | { readonly kind: 'GrantAgentRights'; readonly rights: AgentRights }
  /** No agent is left that may use them. */
  | { readonly kind: 'RevokeAgentRights' }
  | { readonly kind: 'CreateJob'; readonly job: Job }
  | { readonly kind: 'DeleteJob'; readonly job: Stored<Job> }
  | { readonly kind: 'RelabelJob'; readonly job: Stored<Job>; readonly labels: StringMap }
  | { readonly kind: 'ResizeJob'; readonly job: Stored<Job>; readonly size: JobSize }
  | { readonly kind: 'SuspendJob'; readonly job: Stored<Job> }
  | { readonly kind: 'ResumeJob'; readonly job: Stored<Job>; readonly resume: JobResume }
  /** Its node is lost, and its deadline has passed: it counts as failed from now on. */
  | { readonly kind: 'DeleteLostPod'; readonly pod: OverduePod }
  /** The JobSet has outlived its time. */
  | { readonly kind: 'DeleteJobSet' };

export interface Convergence {
  readonly actions: readonly Action[];
  readonly requeueAfterMs?: number;
}

export function converge(planning: Planning): Convergence {
  const { children, spec, stages } = planning;
  const order = startupOrderOf(planning);
  // What the status says of this run has to be known before Jobs are built for it.
  if (!spec.suspend) beginResume(planning, order);
  const build = builderOf(planning);
  const service = network(planning);
  const created = mayCreateJobs(spec, children)
    ? jobCreations(planning, order, build)
    : { actions: [], held: { conflicts: [], leaving: 0 }, isPartial: false };
  reportStartup(planning.draft, spec, order);
  const recheckMs = reportConflicts(planning.draft, service.problem, created.held);
  const requeueAfterMs = created.isPartial ? 0 : recheckMs;
  return {
    actions: [
      ...tidyUp(planning),
      ...deletions(stages?.toRecreate ?? []),
      ...service.actions,
      ...claimCreations(planning),
      ...plannedRights(planning),
      ...resizes(planning),
      ...created.actions,
      ...(spec.suspend ? suspendJobs(planning) : resumeJobs(planning, order, build)),
    ],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

interface Network {
  readonly actions: readonly Action[];
  /** What keeps the Pods without names. */
  readonly problem: string | undefined;
}

function network({ snapshot, spec }: Planning): Network {
  const identity = identityOf(snapshot.jobSet);
  const wanted = headlessService(identity, spec, ownerReferenceTo(identity));
  if (wanted === undefined) return { actions: [], problem: undefined };
  const { service } = snapshot.surroundings;
  if (service !== undefined) return { actions: [], problem: serviceProblem(service, wanted) };
  return { actions: [{ kind: 'CreateService', service: wanted }], problem: undefined };
}

function claimCreations({ snapshot, spec }: Planning): readonly Action[] {
  if (spec.volumeClaimPolicies.length === 0) return [];
  const identity = identityOf(snapshot.jobSet);
  return volumeClaims(identity, spec.volumeClaimPolicies, ownerReferenceTo(identity))
    .filter(({ metadata }) => !snapshot.surroundings.hasClaim(metadata.name ?? ''))
    .map((claim): Action => ({ kind: 'CreateClaim', claim }));
}

function resizes({ snapshot, spec, children }: Planning): readonly Action[] {
  if (!snapshot.gates.ElasticJobSet) return [];
  return sizeChanges(children.active, spec.replicatedJobs).map(
    ({ job, size }): Action => ({ kind: 'ResizeJob', job, size }),
  );
}

function builderOf({ snapshot, spec, draft }: Planning): BuildJob {
  const { jobSet, agent, answers, gates, sha1 } = snapshot;
  const { annotations } = jobSet.metadata;
  const { restarts, jobRestarts } = askedOf(spec.replicatedJobs, draft.status, gates);
  const attempt = gates.ExecutionAttemptsTracking ? draft.status.executionAttempts : undefined;
  return jobBuilder({
    jobSet: identityOf(jobSet),
    spec,
    annotations,
    restarts,
    jobRestarts,
    executionAttempt: attempt,
    sha1,
    inject: agentInjector(jobSet.metadata.name, spec, annotations, {
      ...agent,
      ...(answers.minimums === undefined ? {} : { minimums: answers.minimums }),
      ...(answers.hasImageVolumes === true ? { delivery: 'ImageVolume' } : {}),
    }),
  });
}

function identityOf({ metadata }: Planning['snapshot']['jobSet']): JobSetIdentity {
  return { name: metadata.name, namespace: metadata.namespace ?? '', uid: metadata.uid };
}
