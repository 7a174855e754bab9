/** Names of everything that is made for a JobSet. */
import type { DefaultedSpec } from './defaults.ts';
import type { Coordinator } from './jobset.ts';

/**
 * They are part of the API: users write them into configuration
 * (`<jobset>-<replicatedJob>-<job>-<pod>.<subdomain>` is a worker's host name).
 */
export function jobName(jobSet: string, replicatedJob: string, jobIndex: number): string {
  return `${jobNamePrefix(jobSet, replicatedJob)}${jobIndex}`;
}

/** The prefix of the names of all Jobs of a ReplicatedJob; the index follows. */
export function jobNamePrefix(jobSet: string, replicatedJob: string): string {
  return `${jobSet}-${replicatedJob}-`;
}

/**
 * Host name of a Pod of an Indexed Job; the Job controller appends 5 random characters to name it.
 */
export function podHostname(job: string, podIndex: number): string {
  return `${job}-${podIndex}`;
}

/** The headless Service of the JobSet and the domain of its Pods. */
export function subdomainOf(jobSet: string, spec: Pick<DefaultedSpec, 'network'>): string {
  const { subdomain } = spec.network;
  return subdomain === undefined || subdomain === '' ? jobSet : subdomain;
}

/** A PersistentVolumeClaim that all Jobs share; note the order. */
export function sharedClaimName(template: string, jobSet: string): string {
  return `${template}-${jobSet}`;
}

/**
 * SHA-1 of a text's UTF-8 bytes, in lower-case hex. The API defines a label by it. It protects
 * nothing: it makes short keys.
 */
export type Sha1 = (text: string) => string;

/** Label value that identifies a Job in its cluster, through all its restarts. */
export function jobKey(namespace: string, job: string, sha1: Sha1): string {
  return sha1(`${namespace}/${job}`);
}

/** The stable address of the coordinator's Pod. */
export function coordinatorEndpoint(
  jobSet: string,
  coordinator: Coordinator,
  subdomain: string,
): string {
  const job = jobName(jobSet, coordinator.replicatedJob, coordinator.jobIndex ?? 0);
  return `${podHostname(job, coordinator.podIndex ?? 0)}.${subdomain}`;
}
