/**
 * Renders a JobSet into the objects that it becomes. These are the Service, the volume claims, the
 * rights of the agents and the Jobs. They lack the UID of the JobSet, which only a cluster knows.
 */
import type { PersistentVolumeClaim, Service } from '@lockstep/kube/objects/core.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Role, RoleBinding } from '@lockstep/kube/objects/rbac.ts';
import { jobBuilder } from './child-jobs/job-template.ts';
import { withDefaults } from './defaults.ts';
import type { Sha1 } from './derived-names.ts';
import { headlessService } from './headless-service.ts';
import { type AgentProgram, agentInjector } from './injection/agent-mode.ts';
import { agentRights } from './injection/agent-rights.ts';
import type { JobSet } from './jobset.ts';
import { ownerReferenceTo } from './membership.ts';
import { JOBSET_UID } from './names.ts';
import { volumeClaims } from './volume-claims.ts';

export function renderJobSet(jobSet: JobSet, agent: AgentProgram, sha1: Sha1): Rendering {
  const spec = withDefaults(jobSet.spec);
  const { name = '', namespace = 'default', annotations } = jobSet.metadata;
  const identity = { name, namespace, uid: '' };
  const inject = agentInjector(spec, annotations, agent);
  const owner = ownerReferenceTo(identity);
  const service = headlessService(identity, spec, owner);
  const rights = agentRights(identity, spec, annotations, agent);
  const build = jobBuilder({
    jobSet: identity,
    spec,
    annotations,
    restarts: 0,
    jobRestarts: new Map(),
    executionAttempt: spec.suspend ? undefined : 0,
    inject,
    sha1,
  });
  const objects = [
    service,
    ...volumeClaims(identity, spec.volumeClaimPolicies, owner),
    rights?.role,
    rights?.binding,
  ].filter((object) => object !== undefined);
  return {
    objects: objects.map(withoutUid),
    *jobs(maxOfEach = Number.POSITIVE_INFINITY) {
      for (const replicatedJob of spec.replicatedJobs) {
        const count = Math.min(replicatedJob.replicas, maxOfEach);
        for (let index = 0; index < count; index++) yield withoutUid(build(replicatedJob, index));
      }
    },
  };
}

/** In the order of creation: the Jobs come last. */
export interface Rendering {
  readonly objects: readonly Exclude<Rendered, Job>[];
  /** Each is built on demand; at most this many of each ReplicatedJob. */
  jobs(maxOfEach?: number): Iterable<Job>;
}

type Rendered = Service | PersistentVolumeClaim | Role | RoleBinding | Job;

function withoutUid<T extends Rendered>(object: T): T {
  const strip = (key: string, value: unknown): unknown =>
    key === JOBSET_UID || key === 'ownerReferences' ? undefined : value;
  return JSON.parse(JSON.stringify(object, strip)) as T;
}
