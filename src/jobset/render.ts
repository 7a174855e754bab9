import type { PersistentVolumeClaim, Service, ServiceAccount } from '../kube/core.ts';
import type { Job } from '../kube/job.ts';
import type { Role, RoleBinding } from '../kube/rbac.ts';
import { type AgentProgram, agentInjector } from './agent/agent-mode.ts';
import { agentRights } from './agent/agent-rights.ts';
import { jobBuilder, ownerReferenceTo } from './child-jobs/job-template.ts';
import { withDefaults } from './defaults.ts';
import type { JobSet } from './jobset.ts';
import { JOBSET_UID } from './names.ts';
import { headlessService } from './network.ts';
import { volumeClaims } from './volume-claims.ts';

/**
 * The Service, the volume claims, the rights of the agents and the Jobs that a JobSet becomes, in the
 * order of their creation.
 * What only a cluster can know, the UID of the JobSet, is left out of them.
 */
export function renderJobSet(jobSet: JobSet, agent: AgentProgram): readonly Rendered[] {
  const spec = withDefaults(jobSet.spec);
  const { name = '', namespace = 'default', annotations } = jobSet.metadata;
  const identity = { name, namespace, uid: '' };
  const inject = agentInjector(name, spec, annotations, agent);
  const owner = ownerReferenceTo(identity);
  const service = headlessService(identity, spec, owner);
  const rights = agentRights(identity, spec, annotations, agent.hub);
  const build = jobBuilder({
    jobSet: identity,
    spec,
    annotations,
    restarts: 0,
    jobRestarts: new Map(),
    executionAttempt: spec.suspend ? undefined : 0,
    inject,
  });
  const jobs = spec.replicatedJobs.flatMap((replicatedJob) =>
    Array.from({ length: replicatedJob.replicas }, (_, index) => build(replicatedJob, index)),
  );
  return [
    ...(service === undefined ? [] : [service]),
    ...volumeClaims(identity, spec.volumeClaimPolicies, owner),
    rights?.serviceAccount,
    rights?.granted?.role,
    rights?.granted?.binding,
    ...jobs,
  ]
    .filter((object) => object !== undefined)
    .map(withoutUid);
}

export type Rendered = Service | PersistentVolumeClaim | ServiceAccount | Role | RoleBinding | Job;

function withoutUid<T extends Rendered>(object: T): T {
  const strip = (key: string, value: unknown): unknown =>
    key === JOBSET_UID || key === 'ownerReferences' ? undefined : value;
  return JSON.parse(JSON.stringify(object, strip)) as T;
}
