/**
 * Upstream's controller as far as it makes, counts and recreates Jobs, for one JobSet in namespace
 * `default` without rules, orders and claims. It acts when it is told to, one pass at a time.
 */
import { createHash } from 'node:crypto';
import { controllerOf, type OwnerReference, type Stored } from '@lockstep/kube/meta.ts';
import { SERVICES } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { type Clock, timestamp } from '@lockstep/kube/runtime/ports/clock.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../../src/jobset/jobset-status.ts';
import {
  GLOBAL_REPLICAS,
  JOB_GLOBAL_INDEX,
  JOB_INDEX,
  JOB_KEY,
  JOBSET_NAME,
  JOBSET_UID,
  MANAGED_BY_JOBSET,
  REPLICATED_JOB_NAME,
  REPLICATED_JOB_REPLICAS,
  RESTART_ATTEMPT,
} from '../../src/jobset/names.ts';
import { upstreamsView } from './upstream.fixture.ts';

const NAMESPACE = 'default';

type ReplicatedJob = NonNullable<JobSet['spec']['replicatedJobs']>[number];

interface Children {
  readonly previous: readonly Stored<Job>[];
  readonly active: readonly Stored<Job>[];
  readonly successful: readonly Stored<Job>[];
  readonly failed: readonly Stored<Job>[];
}

interface Options {
  readonly client: Client;
  readonly clock: Clock;
  readonly jobSetName: string;
  /** The value of `managedBy` that makes it act. */
  readonly manager?: string;
}

export class UpstreamsJobs {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns its writes, such as `create train-w-0`. */
  async pass(): Promise<readonly string[]> {
    const { client, jobSetName, manager = MANAGED_BY_JOBSET } = this.#options;
    const jobSet = await client.get(JOBSETS, { namespace: NAMESPACE, name: jobSetName });
    if ((jobSet.spec.managedBy ?? MANAGED_BY_JOBSET) !== manager) return [];
    const children = await this.#children(jobSet);
    const status = withCounters(jobSet, children);
    if (status.terminalState !== undefined) {
      return [...(await this.#delete(children.active)), ...(await this.#write(jobSet, status))];
    }
    const deleted = await this.#delete(children.previous);
    const decided = this.#decided(jobSet, status, children);
    if (decided !== undefined) return [...deleted, ...(await this.#write(jobSet, decided))];
    return [
      ...deleted,
      ...(await this.#createService(jobSet)),
      ...(await this.#createJobs(jobSet, children)),
      ...(await this.#write(jobSet, status)),
    ];
  }

  async #children({ metadata, status = {} }: Stored<JobSet>): Promise<Children> {
    const { items } = await this.#options.client.list(JOBS, { namespace: NAMESPACE });
    const owned = items.filter((job) => controllerOf(job.metadata)?.uid === metadata.uid);
    const attempt = (job: Stored<Job>): number => Number(job.metadata.labels?.[RESTART_ATTEMPT]);
    if (owned.some((job) => Number.isNaN(attempt(job)))) throw new Error('a Job has no attempt');
    const current = owned.filter((job) => attempt(job) >= (status.restarts ?? 0));
    return {
      previous: owned.filter((job) => !current.includes(job)),
      active: current.filter((job) => !has(job, 'Failed') && !has(job, 'Complete')),
      successful: current.filter((job) => has(job, 'Complete')),
      failed: current.filter((job) => has(job, 'Failed')),
    };
  }

  /** The status after a failure or a success; undefined: neither has happened. */
  #decided(
    { spec }: Stored<JobSet>,
    status: JobSetStatus,
    { failed, successful }: Children,
  ): JobSetStatus | undefined {
    const [first] = failed;
    if (first !== undefined) {
      const { restarts = 0, restartsCountTowardsMax: counted = 0 } = status;
      if (counted >= (spec.failurePolicy?.maxRestarts ?? 0)) {
        return this.#ended(status, 'Failed', 'ReachedMaxRestarts');
      }
      return { ...status, restarts: restarts + 1, restartsCountTowardsMax: counted + 1 };
    }
    const total = (spec.replicatedJobs ?? []).reduce((sum, { replicas = 1 }) => sum + replicas, 0);
    return successful.length < total
      ? undefined
      : this.#ended(status, 'Completed', 'AllJobsCompleted');
  }

  #ended(status: JobSetStatus, type: 'Completed' | 'Failed', reason: string): JobSetStatus {
    const lastTransitionTime = timestamp(this.#options.clock);
    const condition = { type, status: 'True' as const, reason, message: '', lastTransitionTime };
    return {
      ...status,
      terminalState: type,
      conditions: [...(status.conditions ?? []), condition],
    };
  }

  async #delete(jobs: readonly Stored<Job>[]): Promise<readonly string[]> {
    const there = jobs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const { metadata } of there) {
      const at = { namespace: NAMESPACE, name: metadata.name };
      await this.#options.client.delete(JOBS, at, { propagationPolicy: 'Foreground' });
    }
    return there.map(({ metadata }) => `delete ${metadata.name}`);
  }

  async #createService(jobSet: Stored<JobSet>): Promise<readonly string[]> {
    const { client } = this.#options;
    const { name } = jobSet.metadata;
    const { items } = await client.list(SERVICES, { namespace: NAMESPACE });
    if (items.some(({ metadata }) => metadata.name === name)) return [];
    await client.create(SERVICES, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: NAMESPACE, name, ownerReferences: [ownerReference(jobSet)] },
      spec: {
        clusterIP: 'None',
        selector: { [JOBSET_NAME]: name },
        publishNotReadyAddresses: true,
      },
    });
    return [`create service ${name}`];
  }

  async #createJobs(jobSet: Stored<JobSet>, children: Children): Promise<readonly string[]> {
    const there = new Set(Object.values(children).flatMap(namesOf));
    const wanted = jobsOf(jobSet).filter(({ metadata }) => !there.has(metadata.name ?? ''));
    for (const job of wanted) await this.#options.client.create(JOBS, job);
    return wanted.map(({ metadata }) => `create ${metadata.name}`);
  }

  /** A Go program drops all fields that it does not know when it writes. */
  async #write(jobSet: Stored<JobSet>, next: JobSetStatus): Promise<readonly string[]> {
    const status = upstreamsView(next);
    if (JSON.stringify(status) === JSON.stringify(upstreamsView(jobSet.status ?? {}))) return [];
    const written = { ...jobSet, status };
    await this.#options.client.update(JOBSETS, written, { subresource: 'status' });
    return ['status'];
  }
}

function namesOf(jobs: readonly Stored<Job>[]): readonly string[] {
  return jobs.map(({ metadata }) => metadata.name);
}

function has(job: Job, type: string): boolean {
  return (
    job.status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false
  );
}

/** Sorted by name, the greatest first, as it is stored. */
function withCounters({ spec, status = {} }: Stored<JobSet>, children: Children): JobSetStatus {
  const replicatedJobsStatus = (spec.replicatedJobs ?? [])
    .map(({ name }) => counters(name, children))
    .toSorted((a, b) => (a.name < b.name ? 1 : -1));
  return { restarts: 0, ...status, replicatedJobsStatus };
}

function counters(name: string, { active, successful, failed }: Children): ReplicatedJobStatus {
  const isOf = (job: Stored<Job>): boolean => job.metadata.labels?.[REPLICATED_JOB_NAME] === name;
  const count = (jobs: readonly Stored<Job>[], holds: (job: Job) => boolean = () => true): number =>
    jobs.filter((job) => isOf(job) && holds(job)).length;
  return {
    name,
    ready: count(active, ({ spec, status = {} }) => {
      const pods = Math.min(spec.parallelism ?? 1, spec.completions ?? Number.POSITIVE_INFINITY);
      return (status.succeeded ?? 0) + (status.ready ?? 0) >= pods;
    }),
    succeeded: count(successful),
    failed: count(failed),
    active: count(active, ({ status }) => (status?.active ?? 0) > 0),
    suspended: count(active, ({ spec }) => spec.suspend === true),
  };
}

function ownerReference({ metadata }: Stored<JobSet>): OwnerReference {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

function jobsOf(jobSet: Stored<JobSet>): readonly Job[] {
  const all = (jobSet.spec.replicatedJobs ?? []).flatMap((of) =>
    Array.from({ length: of.replicas ?? 1 }, (_, index) => ({ of, index })),
  );
  return all.map(({ of, index }, globalIndex) =>
    jobOf(jobSet, of, { index, globalIndex, total: all.length }),
  );
}

function jobOf(
  jobSet: Stored<JobSet>,
  of: ReplicatedJob,
  place: { readonly index: number; readonly globalIndex: number; readonly total: number },
): Job {
  const { metadata, spec, status } = jobSet;
  const name = `${metadata.name}-${of.name}-${place.index}`;
  const labels = {
    [JOBSET_NAME]: metadata.name,
    [JOBSET_UID]: metadata.uid,
    [REPLICATED_JOB_NAME]: of.name,
    [REPLICATED_JOB_REPLICAS]: String(of.replicas ?? 1),
    [GLOBAL_REPLICAS]: String(place.total),
    [JOB_INDEX]: String(place.index),
    [JOB_GLOBAL_INDEX]: String(place.globalIndex),
    [JOB_KEY]: createHash('sha1').update(`${NAMESPACE}/${name}`).digest('hex'),
    [RESTART_ATTEMPT]: String(status?.restarts ?? 0),
  };
  const { template } = of.template.spec;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: NAMESPACE,
      name,
      labels,
      annotations: labels,
      ownerReferences: [ownerReference(jobSet)],
    },
    spec: {
      ...of.template.spec,
      completionMode: 'Indexed',
      suspend: spec.suspend ?? false,
      template: {
        metadata: { labels, annotations: labels },
        spec: { restartPolicy: 'OnFailure', ...template.spec, subdomain: metadata.name },
      },
    },
  };
}
