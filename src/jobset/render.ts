import type { Service } from '../kube/core.ts';
import type { Job } from '../kube/job.ts';
import { type AgentProgram, agentInjector } from './agent-mode.ts';
import { withDefaults } from './defaults.ts';
import { buildJob, ownerReferenceTo } from './job-template.ts';
import type { JobSet } from './jobset.ts';
import { JOBSET_UID } from './names.ts';
import { headlessService } from './network.ts';

/**
 * The Service and the Jobs that a JobSet becomes, in the order of their creation. What only a
 * cluster can know, the UID of the JobSet, is left out of them.
 */
export function renderJobSet(jobSet: JobSet, agent: AgentProgram): readonly (Service | Job)[] {
  const spec = withDefaults(jobSet.spec);
  const { name = '', namespace = 'default', annotations } = jobSet.metadata;
  const identity = { name, namespace, uid: '' };
  const inject = agentInjector(spec, annotations, agent);
  const service = headlessService(identity, spec, ownerReferenceTo(identity));
  const jobs = spec.replicatedJobs.flatMap((replicatedJob) =>
    Array.from({ length: replicatedJob.replicas }, (_, index) =>
      buildJob(identity, spec, replicatedJob, index, 0, inject),
    ),
  );
  return [...(service === undefined ? [] : [service]), ...jobs].map(withoutUid);
}

function withoutUid<T extends Service | Job>(object: T): T {
  const strip = (key: string, value: unknown): unknown =>
    key === JOBSET_UID || key === 'ownerReferences' ? undefined : value;
  return JSON.parse(JSON.stringify(object, strip)) as T;
}
