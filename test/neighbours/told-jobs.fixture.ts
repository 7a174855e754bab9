/** A JobSet of a driver and two workers, each a Job of one Pod that ends when a test tells it to. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stored } from '@lockstep/kube/meta.ts';
import { SERVICES } from '@lockstep/kube/objects/core.ts';
import { JOB_NAME_LABEL, JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect } from 'vitest';
import { JOBSETS, type JobSet, type JobSetSpec } from '../../src/jobset/jobset.ts';
import { JOBSET_NAME, RESTART_ATTEMPT } from '../../src/jobset/names.ts';
import { apply } from './neighbour.fixture.ts';

const NAMESPACE = 'default';
/** After this time without a change, all controllers have had time to act again. */
const REST_MS = 2_500;
const TIMEOUT_MS = 90_000;

type JobSetToApply = JobSet & Parameters<typeof apply>[2];

export class ToldJobs {
  readonly name: string;
  readonly #client: Client;
  /** Pods look for their ends in its files. */
  readonly #directory: string;

  constructor(name: string, client: Client, directory: string) {
    this.name = name;
    this.#client = client;
    this.#directory = directory;
  }

  async create(spec: Partial<JobSetSpec> = {}): Promise<void> {
    // By apply, because then each API server keeps which client wrote which fields.
    await apply(this.#client, JOBSETS, {
      apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
      kind: JOBSETS.kind,
      metadata: { name: this.name, namespace: NAMESPACE },
      spec: {
        failurePolicy: { maxRestarts: 2 },
        replicatedJobs: [this.#job('driver', 1), this.#job('worker', 2)],
        ...spec,
      },
    } as JobSetToApply);
  }

  /** The clients that wrote the status. */
  async writers(): Promise<readonly (string | undefined)[]> {
    const { metadata } = await this.jobSet();
    const entries = (metadata.managedFields ?? []).filter(
      ({ subresource }) => subresource === 'status',
    );
    return entries.map(({ manager }) => manager);
  }

  #job(name: string, replicas: number): NonNullable<JobSetSpec['replicatedJobs']>[number] {
    const field = (variable: string, label: string) => ({
      name: variable,
      valueFrom: { fieldRef: { fieldPath: `metadata.labels['${label}']` } },
    });
    const path = join(this.#directory, '$JOB.$ATTEMPT');
    const script = `until { read -r code < ${path}; } 2>/dev/null; do sleep 0.1; done; exit $code`;
    const container = {
      name: 'told',
      image: 'sh',
      command: ['sh', '-c', script],
      env: [field('JOB', JOB_NAME_LABEL), field('ATTEMPT', RESTART_ATTEMPT)],
    };
    const pod = {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [container],
    } as const;
    return {
      name,
      replicas,
      template: {
        spec: { backoffLimit: 0, parallelism: 1, completions: 1, template: { spec: pod } },
      },
    };
  }

  /** The Pod of a Job such as `worker-1` ends, in the attempt that runs. */
  async finish(job: string, exitCode: number): Promise<void> {
    const name = `${this.name}-${job}`;
    const { metadata } = await this.#client.get(JOBS, { namespace: NAMESPACE, name });
    const attempt = metadata.labels?.[RESTART_ATTEMPT];
    writeFileSync(join(this.#directory, `${name}.${attempt}`), `${exitCode}\n`);
  }

  jobSet(): Promise<Stored<JobSet>> {
    return this.#client.get(JOBSETS, { namespace: NAMESPACE, name: this.name });
  }

  async jobs(): Promise<readonly Stored<Job>[]> {
    const { items } = await this.#client.list(JOBS, this.#selection);
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** Waits for as many running Pods, all in this attempt. */
  async running(attempt = 0, count = 3): Promise<void> {
    const what = `${count} Pods of ${this.name} run in attempt ${attempt}`;
    await until(
      what,
      async () => {
        const { items } = await this.#client.list(PODS, this.#selection);
        const running = items.filter(({ status }) => status?.phase === 'Running');
        const attempts = running.map(({ metadata }) => metadata.labels?.[RESTART_ATTEMPT]);
        expect(attempts).toEqual(Array.from({ length: count }, () => String(attempt)));
      },
      TIMEOUT_MS,
    );
  }

  async until(what: string, look: (jobSet: Stored<JobSet>) => void): Promise<void> {
    await until(what, async () => look(await this.jobSet()), TIMEOUT_MS);
  }

  /** Everything that a handover must leave as it is. */
  async belongings(): Promise<object> {
    const { items: services } = await this.#client.list(SERVICES, { namespace: NAMESPACE });
    const { items: pods } = await this.#client.list(PODS, this.#selection);
    return {
      jobs: (await this.jobs()).map(({ metadata, spec }) => ({
        uid: metadata.uid,
        generation: metadata.generation,
        labels: metadata.labels,
        owners: metadata.ownerReferences,
        spec,
      })),
      services: services
        .filter(({ metadata }) => metadata.name === this.name)
        .map(({ metadata }) => metadata.uid),
      pods: pods.map(({ metadata }) => metadata.uid).toSorted(),
    };
  }

  /** Waits until nothing of the JobSet has changed for a while. */
  async rest(): Promise<void> {
    let last = '';
    let sinceMs = performance.now();
    await until(
      `${this.name} is at rest`,
      async () => {
        const jobSet = await this.jobSet();
        const objects = [jobSet, ...(await this.jobs())];
        const seen = objects.map(({ metadata }) => metadata.resourceVersion).join();
        if (seen !== last) sinceMs = performance.now();
        last = seen;
        return performance.now() - sinceMs > REST_MS;
      },
      TIMEOUT_MS,
    );
  }

  get #selection() {
    return { namespace: NAMESPACE, labelSelector: `${JOBSET_NAME}=${this.name}` };
  }
}
