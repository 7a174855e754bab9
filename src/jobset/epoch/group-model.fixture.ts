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
import type { MemberEvidence } from '../roster/group-evidence.ts';
import { SlotModel } from './agent-model.fixture.ts';
import {
  ControllerModel,
  type ControllerWorld,
  type PodEvent,
} from './controller-model.fixture.ts';
import type { HubModel } from './hub-model.fixture.ts';
import { JobControllerModel, stageOf } from './job-controller-model.fixture.ts';
import { JobSetModel, type JobSetShape } from './jobset-model.fixture.ts';
import type { PodWorld, Step, StoredPod } from './pod-world.fixture.ts';
import { ProtocolGhosts } from './protocol-ghosts.fixture.ts';

export interface Shape extends JobSetShape {
  readonly faults?: readonly ('Suspend' | 'Scale')[];
  /** Agents that use the hub: all, or every other one; absent: none does. */
  readonly hub?: 'All' | 'Mixed';
}

const MAX_PODS = 3;
/** How much likelier the death of the first slot's worker is, if members are replaced. */
const DEATHS_OF_FIRST = 12;
/** How much likelier a controller dies just after a write than at another time. */
const DEATHS_AFTER_WRITE = 4;

export class GroupModel implements PodWorld, ControllerWorld {
  readonly isSidecar: boolean;
  readonly jobSet: JobSetModel;
  readonly jobControl: JobControllerModel;
  readonly podEvents: PodEvent[] = [];
  readonly #shape: Shape;
  readonly #slots: SlotModel[] = [];
  readonly #controllers: ControllerModel[];
  /** The holder of the lease. */
  #leader = 0;
  readonly #ghosts = new ProtocolGhosts();
  /** By stage, the last epoch in which all its workers ran at the same time. */
  readonly #ranIn: number[];

  /** By epoch, how its workers ended, as the first that died leaves them. */
  readonly #ends = new Map<number, readonly MemberEvidence[]>();

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
    this.#controllers = [
      new ControllerModel(this, true),
      new ControllerModel(this, shape.hub === undefined),
    ];
  }

  // What happens.

  steps(): Step[] {
    const steps = this.#slots.flatMap((slot) => slot.steps());
    steps.push(...this.jobControl.steps());
    for (const [k, controller] of this.#controllers.entries()) {
      steps.push(...controller.steps());
      // A deposed leader notices that at some time.
      if (this.#hasHub && controller.isLeading && this.#leader !== k) {
        steps.push(() => controller.stepDown());
      }
      // A controller that could not renew leads again, unless another was quicker.
      if (this.#leader === k && !controller.isLeading) steps.push(() => controller.lead());
      steps.push(...controller.hubSteps());
    }
    return steps;
  }

  /** The possible faults and acts of the user. */
  faults(): Step[] {
    const faults = this.#slots.flatMap((slot) => slot.faults());
    for (const [k, controller] of this.#controllers.entries()) {
      faults.push(() => this.#crash(k));
      if (!this.#replaces) continue;
      const die = (): void => {
        controller.dieAfterWrite();
        this.#crash(k);
      };
      for (let i = 0; i < DEATHS_AFTER_WRITE; i++) faults.push(die);
    }
    if (this.#replaces) {
      const deaths = this.#slots[0]?.deaths() ?? [];
      for (let i = 0; i < DEATHS_OF_FIRST; i++) faults.push(...deaths);
    }
    if (this.#hasHub) {
      faults.push(() => this.#moveLease());
      faults.push(() => this.#controllers[this.#leader]?.stepDown());
    }
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
      const isLeft =
        status.avoidedNodes?.some(({ pod }) => pod === slot.pod().metadata.name) === true;
      if (phase === 'live') expect(isLeft, 'who has to leave its node has left').toBe(false);
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

  hubs({ stage, index, podUid }: SlotModel): readonly HubModel[] | undefined {
    const { hub } = this.#shape;
    if (hub === undefined || (hub === 'Mixed' && (stage + index) % 2 === 1)) return undefined;
    return this.#controllers
      .map((controller) => controller.hubFor(podUid))
      .filter((each) => each !== undefined);
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

  died({ worker: epoch, podUid }: SlotModel): void {
    if (!this.#replaces || this.#ends.has(epoch)) return;
    const ran = this.#slots.filter(({ phase }) => phase === 'live');
    const ends = ran.map((slot): MemberEvidence => endOf(slot, podUid, this.#shape.hasPreflight));
    this.#ends.set(epoch, ends);
  }

  endsIn(epoch: number): readonly MemberEvidence[] {
    return this.#ends.get(epoch) ?? [];
  }

  replace(podUid: string): void {
    const slot = this.#slots.find((each) => each.podUid === podUid && each.phase === 'live');
    if (slot === undefined) return;
    expect(slot.worker, 'a member is replaced while it waits').toBe(0);
    slot.replace();
  }

  workerStarts(starting: SlotModel): void {
    const { own, stage, index } = starting;
    for (const slot of this.#slots) {
      const isOlder = slot.worker !== 0 && slot.worker !== own;
      expect(slot.isChecking && slot.own < own, 'a worker starts before all preflights ended').toBe(
        false,
      );
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
    const living = this.#slots.filter(({ phase }) => phase === 'live');
    const names = new Set(living.map((slot) => slot.pod().metadata.name));
    this.#ghosts.checkReplacements(this.jobSet.status, status, names);
    this.jobSet.write(status);
  }

  get #replaces(): boolean {
    return this.#shape.replaceAfter !== undefined || this.#shape.hasPreflight === true;
  }

  readonly #isOfOtherSize = (job: Stored<Job>): boolean =>
    job.spec.parallelism !== this.jobSet.sizes[stageOf(job)];

  get #hasHub(): boolean {
    return this.#shape.hub !== undefined;
  }

  /** The process starts again: its memory and its streams are gone. */
  #crash(k: number): void {
    const old = this.#controllers[k];
    old?.dropStreams();
    this.#controllers[k] = new ControllerModel(this, old?.isLeading ?? true);
  }

  /** The other takes over, and the one that led does not know it yet. */
  #moveLease(): void {
    this.#leader = 1 - this.#leader;
    this.#controllers[this.#leader]?.lead();
  }
}

/** The one that died was killed; the others were told to stop a while later. */
function endOf(slot: SlotModel, diedUid: string, hasPreflight = false): MemberEvidence {
  const { stage, index, podUid } = slot;
  const has = podUid === diedUid;
  const place = { replicatedJob: `r${stage}`, jobIndex: 0, completions: MAX_PODS };
  const pod = slot.pod().metadata.name;
  const member = { ...place, completionIndex: index, pod, podUid, node: `node-of-${podUid}` };
  const unfit = has && hasPreflight ? { unfit: 'no GPU' } : {};
  const end = has
    ? ({ how: 'Signaled', exit: { signal: 'SIGKILL' }, atMs: 0, ...unfit } as const)
    : ({ how: 'Stopped', atMs: 5000 } as const);
  return { member, end: { kind: 'Ended', epoch: slot.worker, ...end } };
}
