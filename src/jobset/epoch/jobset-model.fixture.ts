/** The JobSet in the protocol's model, with every version of its status. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { type FailurePolicyRule, generationOf, type JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';

/** What a model's JobSet asks for besides the sizes of its Jobs. */
export interface JobSetShape {
  /** Pods of each ReplicatedJob. */
  readonly stages: readonly number[];
  readonly isSidecar: boolean;
  readonly isInOrder?: boolean;
  readonly rules?: readonly FailurePolicyRule[];
}

/** Agents and controllers see versions of any age. */
export class JobSetModel {
  readonly #shape: JobSetShape;
  readonly #versions: JobSetStatus[] = [{}];
  #resourceVersion = 1;
  #stored: Stored<JobSet>;

  constructor(shape: JobSetShape) {
    this.#shape = shape;
    this.#stored = storedJobSet(this.#specOf(shape.stages, false), {
      annotations: {
        'lockstep/restart-backoff': 'Disabled',
        'lockstep/restart-mode': shape.isSidecar ? 'Sidecar' : 'Supervisor',
      },
    });
  }

  get stored(): Stored<JobSet> {
    return this.#stored;
  }

  get status(): JobSetStatus {
    return this.#versions.at(-1) ?? {};
  }

  get isSuspended(): boolean {
    return this.#stored.spec.suspend === true;
  }

  /** Pods that each ReplicatedJob asks for now. */
  get sizes(): readonly number[] {
    const { replicatedJobs = [] } = this.#stored.spec;
    return replicatedJobs.map(({ template }) => template.spec.parallelism ?? 0);
  }

  latestVersion(): number {
    return this.#versions.length - 1;
  }

  /** What the agents of a ReplicatedJob see in that version of the status. */
  seen(version: number, stage: number): { readonly released: number; readonly deprecated: number } {
    const status = this.#versions[version] ?? {};
    const of = status.replicatedJobsStatus?.find(({ name }) => name === nameOf(stage));
    return { released: of?.syncedEpoch ?? 0, deprecated: status.deprecatedEpoch ?? 0 };
  }

  /** The user changes the spec. */
  edit(sizes: readonly number[], suspend: boolean): void {
    const { metadata } = this.#stored;
    const generation = generationOf(this.#stored) + 1;
    const spec = this.#specOf(sizes, suspend);
    this.#store({ ...this.#stored, metadata: { ...metadata, generation }, spec });
  }

  write(status: JobSetStatus): void {
    this.#versions.push(status);
    this.#store({ ...this.#stored, status });
  }

  #specOf(sizes: readonly number[], suspend: boolean): JobSet['spec'] {
    const { isInOrder = false, rules = [] } = this.#shape;
    return {
      replicatedJobs: sizes.map((pods, stage) => replicatedJob(nameOf(stage), pods)),
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1000, rules },
      suspend,
      ...(isInOrder ? { startupPolicy: { startupPolicyOrder: 'InOrder' } } : {}),
    };
  }

  #store(jobSet: Stored<JobSet>): void {
    this.#resourceVersion++;
    const resourceVersion = String(this.#resourceVersion);
    this.#stored = { ...jobSet, metadata: { ...jobSet.metadata, resourceVersion } };
  }
}

function nameOf(stage: number): string {
  return `r${stage}`;
}
