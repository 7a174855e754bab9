/** The Job controller in the protocol's model. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { expect } from 'vitest';
import { jobIndexOf, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import type { SlotModel } from './agent-model.fixture.ts';
import type { Step } from './pod-world.fixture.ts';

/**
 * There is one Job for each ReplicatedJob. The controller makes and ends their Pods, and is late
 * with its counters.
 */
export class JobControllerModel {
  readonly #slots: readonly SlotModel[];
  readonly #isReady: (slot: SlotModel) => boolean;
  #jobs: readonly Stored<Job>[] = [];
  #made = 0;

  constructor(slots: readonly SlotModel[], isReady: (slot: SlotModel) => boolean) {
    this.#slots = slots;
    this.#isReady = isReady;
  }

  get jobs(): readonly Stored<Job>[] {
    return this.#jobs;
  }

  sizeOf(stage: number): number {
    const job = this.#jobs.find((each) => stageOf(each) === stage);
    return job?.spec.parallelism ?? 0;
  }

  steps(): Step[] {
    return this.#jobs.flatMap((job): Step[] => {
      const slots = this.#slots.filter(({ jobUid, phase }) => {
        return jobUid === job.metadata.uid && phase !== 'none';
      });
      const isDeleting = job.metadata.deletionTimestamp !== undefined;
      if (isDeleting && slots.length === 0) return [() => this.#replace(job, undefined)];
      const size = isDeleting || job.spec.suspend === true ? 0 : (job.spec.parallelism ?? 0);
      const steps: Step[] = slots
        .filter(({ index, phase }) => index >= size && phase === 'live')
        .map((slot) => () => slot.terminate(true));
      const stage = stageOf(job);
      for (const slot of this.#slots) {
        const isMissing = slot.stage === stage && slot.index < size && slot.phase === 'none';
        if (isMissing) steps.push(() => slot.create(job.metadata.uid, job.metadata.name));
      }
      const ready = slots.filter((slot) => slot.phase === 'live' && this.#isReady(slot)).length;
      const active = slots.length;
      if (ready !== (job.status?.ready ?? 0) || active !== (job.status?.active ?? 0)) {
        const status = { ...job.status, ready, active };
        steps.push(() => this.#replace(job, { ...job, status }));
      }
      return steps;
    });
  }

  create(job: Job): void {
    const name = job.metadata.name ?? '';
    if (this.#jobs.some(({ metadata }) => metadata.name === name)) return;
    this.#made++;
    const metadata = {
      ...job.metadata,
      name,
      uid: `job-${this.#made}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    this.#jobs = [...this.#jobs, suspended({ ...job, metadata }, job.spec.suspend === true)];
  }

  change(old: Stored<Job>, change: (job: Stored<Job>) => Stored<Job>): void {
    const job = this.#jobs.find(({ metadata }) => metadata.uid === old.metadata.uid);
    if (job !== undefined) this.#replace(job, change(job));
  }

  #replace(job: Stored<Job>, next: Stored<Job> | undefined): void {
    this.#jobs = this.#jobs.flatMap((each) => {
      if (each.metadata.uid !== job.metadata.uid) return [each];
      return next === undefined ? [] : [next];
    });
  }
}

/** The ReplicatedJob of a Job, by its place in the spec. */
export function stageOf(job: Job): number {
  expect(jobIndexOf(job)).toBe(0);
  return Number((replicatedJobOf(job) ?? '').slice(1));
}

export function suspended(job: Stored<Job>, suspend: boolean): Stored<Job> {
  const status = suspend ? 'True' : 'False';
  return {
    ...job,
    spec: { ...job.spec, suspend },
    status: { ...job.status, conditions: [{ type: 'Suspended', status }] },
  };
}
