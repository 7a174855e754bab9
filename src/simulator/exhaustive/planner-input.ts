/** The parts of the planner's input that are the same in every state of an explored group. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { type FailurePolicy, JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { Snapshot, Surroundings } from '../../jobset/plan/snapshot.ts';
import { DEFAULT_SIZE_LIMITS } from '../../jobset/size-limits.ts';

export const REPLICATED_JOB = 'workers';
export const NAMESPACE = 'default';
const CREATED = '2026-01-01T00:00:00Z';
/** No time passes: nothing in the explored groups waits for any. */
export const NOW_MS = Date.parse('2026-01-01T01:00:00Z');

/** A JobSet of one ReplicatedJob. */
export function jobSetOf(
  size: { readonly replicas: number; readonly pods: number },
  failurePolicy: FailurePolicy,
  annotations: Readonly<Record<string, string>> = {},
): Stored<JobSet> {
  const { replicas, pods } = size;
  const template = {
    spec: { containers: [{ name: 'worker', image: 'none', command: ['train'] }] },
  };
  const job = { parallelism: pods, completions: pods, template };
  return {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name: 'train',
      namespace: NAMESPACE,
      uid: 'jobset',
      resourceVersion: '1',
      creationTimestamp: CREATED,
      annotations,
    },
    spec: {
      replicatedJobs: [{ name: REPLICATED_JOB, replicas, template: { spec: job } }],
      failurePolicy,
    },
  };
}

/** The Job controller has made all its Pods, and they are ready. */
export function storedJob(job: Job, pods: number): Stored<Job> {
  const { name = '' } = job.metadata;
  const made = { name, uid: name, resourceVersion: '1', creationTimestamp: CREATED };
  return { ...job, metadata: { ...job.metadata, ...made }, status: { active: pods, ready: pods } };
}

const SURROUNDINGS: Surroundings = {
  service: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'train',
      namespace: NAMESPACE,
      uid: 'service',
      resourceVersion: '1',
      creationTimestamp: CREATED,
    },
    spec: { clusterIP: 'None' },
  },
  jobNamed: () => undefined,
  hasClaim: () => true,
  hasAgentRights: true,
};

/** The input of a plan in a namespace where nothing is amiss. */
export function snapshotOf(
  known: Pick<Snapshot, 'jobSet' | 'jobs' | 'members' | 'answer'>,
): Snapshot {
  return {
    ...known,
    vanished: [],
    surroundings: SURROUNDINGS,
    knowledge: {
      isDismissed: () => false,
      isTooFarAhead: () => false,
      countersPutOff: undefined,
    },
    agent: { image: 'agent' },
    gates: DEFAULT_FEATURE_GATES,
    sha1,
    limits: DEFAULT_SIZE_LIMITS,
    nowMs: NOW_MS,
  };
}
