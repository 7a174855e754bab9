/**
 * Model of the in-place restart protocol under any interleaving. It has agents, a Job controller, a
 * user who suspends and scales, and two controllers. It checks that one epoch runs at a time, the
 * startup order, and that everything runs again when faults stop; `ProtocolGhosts` checks the
 * written statuses (`docs/design/protocol.md#the-members-barrier`).
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { expect } from 'vitest';
import { isSuspended } from '../child-jobs/child-jobs.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { SlotModel } from './agent-model.fixture.ts';
import {
  ControllerModel,
  type ControllerWorld,
  type PodEvent,
} from './controller-model.fixture.ts';
import { JobControllerModel, stageOf } from './job-controller-model.fixture.ts';
import { JobSetModel, type JobSetShape } from './jobset-model.fixture.ts';
import type { PodWorld, Step, StoredPod } from './pod-world.fixture.ts';
import { ProtocolGhosts } from './protocol-ghosts.fixture.ts';

export interface Shape extends JobSetShape {
  readonly faults?: readonly ('Suspend' | 'Scale')[];
}

const MAX_PODS = 3;

export class GroupModel implements PodWorld, ControllerWorld {
  readonly isSidecar: boolean;
  readonly jobSet: JobSetModel;
  readonly jobControl: JobControllerModel;
  readonly podEvents: PodEvent[] = [];
  readonly #shape: Shape;
  readonly #slots: SlotModel[] = [];
  readonly #controllers: ControllerModel[];
  readonly #ghosts = new ProtocolGhosts();
  /** By stage, the last epoch in which all its workers ran at the same time. */
  readonly #ranIn: number[];

  constructor(shape: Shape) {
    this.#shape = shape;
    this.isSidecar = shape.isSidecar;
    this.jobSet = new JobSetModel(shape);
    this.#ranIn = shape.stages.map(() => 0);
    for (const stage of shape.stages.keys()) {
      for (let index = 0; index < MAX_PODS; index++) {
        this.#slots.push(new SlotModel(this, stage, index));
      }
    }
    // A supervised Pod is ready all the time.
    const isReady = ({ worker }: SlotModel): boolean => !shape.isSidecar || worker > 0;
    this.jobControl = new JobControllerModel(this.#slots, isReady);
    this.#controllers = [new ControllerModel(this), new ControllerModel(this)];
  }

  // What happens.

  steps(): Step[] {
    const steps = this.#slots.flatMap((slot) => slot.steps());
    steps.push(...this.jobControl.steps());
    for (const controller of this.#controllers) steps.push(...controller.steps());
    return steps;
  }

  /** The possible faults and acts of the user. */
  faults(): Step[] {
    const faults = this.#slots.flatMap((slot) => slot.faults());
    for (const k of this.#controllers.keys()) faults.push(() => this.#crash(k));
    const { faults: kinds = [] } = this.#shape;
    const { isSuspended: suspend, sizes } = this.jobSet;
    if (kinds.includes('Suspend')) faults.push(() => this.jobSet.edit(sizes, !suspend));
    if (kinds.includes('Scale')) {
      for (const [stage, pods] of sizes.entries()) {
        const other = pods === MAX_PODS ? pods - 1 : pods + 1;
        faults.push(() => this.jobSet.edit(sizes.with(stage, other), suspend));
      }
    }
    return faults;
  }

  /** The user wants the JobSet to run. */
  resume(): void {
    if (this.jobSet.isSuspended) this.jobSet.edit(this.jobSet.sizes, false);
  }

  /** Checks a state in which nothing more can happen. */
  expectEverybodyRuns(): void {
    const { status, sizes } = this.jobSet;
    const epoch = (status.deprecatedEpoch ?? 0) + 1;
    for (const { syncedEpoch } of status.replicatedJobsStatus ?? [])
      expect(syncedEpoch).toBe(epoch);
    for (const slot of this.#slots) {
      const { phase, worker } = slot;
      const isWanted = slot.index < (sizes[slot.stage] ?? 0);
      const expected = isWanted ? { phase: 'live', worker: epoch } : { phase: 'none', worker: 0 };
      expect({ phase, worker }).toEqual(expected);
    }
    this.#ghosts.expectNothingLost(status);
    expect(status.syncedEpoch).toBe(epoch);
  }

  // What the slots see and say.

  latest(): number {
    return this.jobSet.latestVersion();
  }

  seen(version: number, stage: number): { readonly released: number; readonly deprecated: number } {
    return this.jobSet.seen(version, stage);
  }

  changed(slot: SlotModel): void {
    this.podEvents.push({ kind: 'PodSeen', pod: slot.pod() });
  }

  ended(slot: SlotModel): void {
    this.podEvents.push({ kind: 'PodGone', pod: slot.pod() });
  }

  succeeded(slot: SlotModel): void {
    this.podEvents.push({ kind: 'PodSucceeded', pod: slot.pod() });
  }

  failed(epochs: readonly number[], worker: number): void {
    this.#ghosts.failed(epochs, worker, this.jobSet.status);
  }

  workerStarts(starting: SlotModel): void {
    const { own, stage, index } = starting;
    for (const slot of this.#slots) {
      const isOlder = slot.worker !== 0 && slot.worker !== own;
      expect(isOlder, 'one epoch at a time: a worker starts while one of another epoch runs').toBe(
        false,
      );
    }
    expect(own, 'no failure is lost: a slot starts twice in one epoch').toBeGreaterThan(
      starting.lastStart,
    );
    // A supervised Pod is ready all the time, so its Job cannot tell when its worker runs.
    if (this.#shape.isInOrder === true && stage > 0 && this.isSidecar) {
      expect(this.#ranIn[stage - 1], 'the stage before it has run in this epoch').toBe(own);
    }
    const others = this.#slots.filter((slot) => slot.stage === stage && slot.index !== index);
    const size = this.jobControl.sizeOf(stage);
    const isWhole = others.filter(({ worker }) => worker === own).length + 1 >= size;
    if (isWhole) this.#ranIn[stage] = own;
  }

  // What the controllers see and do.

  livingPods(): readonly StoredPod[] {
    return this.#slots.filter(({ phase }) => phase !== 'none').map((slot) => slot.pod());
  }

  publish(status: JobSetStatus): void {
    const { jobs } = this.jobControl;
    this.#ghosts.checkWrite(this.jobSet.status, status, (cause) =>
      jobs.some(cause === 'Resumed' ? isSuspended : this.#isOfOtherSize),
    );
    this.jobSet.write(status);
  }

  readonly #isOfOtherSize = (job: Stored<Job>): boolean =>
    job.spec.parallelism !== this.jobSet.sizes[stageOf(job)];

  /** The process starts again, and its memory is gone. */
  #crash(k: number): void {
    this.#controllers[k] = new ControllerModel(this);
  }
}
