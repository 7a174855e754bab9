import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJob,
  storedJobSet,
} from '../../test/fixtures/jobset-objects.ts';
import type { Stored } from '../kube/meta.ts';
import { DEFAULT_FEATURE_GATES } from './feature-gates.ts';
import type { JobSet, JobSetStatus } from './jobset.ts';
import { MemberCounts } from './members.ts';
import { jobName } from './naming.ts';
import { plan } from './plan.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Answers } from './snapshot.ts';

/**
 * The protocol under random interleavings: agents that follow the design's rules, two controllers
 * that run `plan` on Pod caches and JobSet caches of any age, and faults. It checks the same ghosts
 * as the explicit-state model: S1 (one epoch runs at a time), S3, S5/S6 (an epoch ends only for a
 * failure in it, once), S7 (no failure is lost), and that everything runs again when faults stop.
 */
type Stage = 'down' | 'read' | 'marked' | 'announced' | 'starting' | 'lifted' | 'exiting';

interface ModelPod {
  phase: 'none' | 'live' | 'terminating';
  uid: number;
  announced: number;
  /** A patch of an older announcement that is still on its way. */
  late: number;
  marker: { announced: number; started: number };
  stage: Stage;
  own: number;
  /** Index of the status version that the agent knows. */
  view: number;
  worker: number;
  workerExited: boolean;
  /** Ghost: the epoch of the last worker that started in this slot. */
  lastStart: number;
}

interface ModelController {
  members: MemberCounts;
  /** How much of the log of Pod events it has seen. */
  position: number;
  jobSet: Stored<JobSet>;
}

type PodEvent =
  | { readonly kind: 'Lives'; readonly facts: PodFacts }
  | { readonly kind: 'Ended'; readonly uid: string };

interface Shape {
  /** Pods of each ReplicatedJob. */
  readonly stages: readonly number[];
  readonly isSidecar: boolean;
}

const BACKOFF_OFF = { 'lockstep/restart-backoff': 'Disabled' };
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

class World {
  readonly #shape: Shape;
  readonly pods: ModelPod[] = [];
  readonly #jobs;
  readonly versions: JobSetStatus[] = [{}];
  readonly #log: PodEvent[] = [];
  readonly controllers: ModelController[];
  jobSet: Stored<JobSet>;
  /** Ghosts: epochs that a failure may end, and those that one must end. */
  readonly #mayEnd = new Set<number>();
  readonly #mustEnd = new Set<number>();
  statusWrites = 0;

  constructor(shape: Shape) {
    this.#shape = shape;
    this.jobSet = storedJobSet(
      {
        replicatedJobs: shape.stages.map((pods, i) => replicatedJob(`r${i}`, pods)),
        failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1000 },
      },
      { annotations: BACKOFF_OFF },
    );
    this.#jobs = shape.stages.map((pods, i) => storedJob(`train-r${i}-0`, `r${i}`, { pods }));
    const slots = shape.stages.reduce((sum, pods) => sum + pods, 0);
    for (let i = 0; i < slots; i++) {
      this.pods.push({ ...FRESH_POD, marker: { announced: 0, started: 0 } });
      this.#say(i);
    }
    this.controllers = [0, 1].map(() => this.#freshController());
  }

  get deprecated(): number {
    return this.versions.at(-1)?.deprecatedEpoch ?? 0;
  }

  #freshController(): ModelController {
    const members = new MemberCounts();
    for (const [i, pod] of this.pods.entries()) {
      if (pod.phase !== 'none') members.observe(this.#facts(i), 0);
    }
    return { members, position: this.#log.length, jobSet: this.jobSet };
  }

  #stageOf(slot: number): number {
    let before = 0;
    for (const [i, pods] of this.#shape.stages.entries()) {
      before += pods;
      if (slot < before) return i;
    }
    throw new Error(`no slot ${slot}`);
  }

  #facts(slot: number): PodFacts {
    const pod = this.#pod(slot);
    const job = jobName('train', `r${this.#stageOf(slot)}`, 0);
    return {
      namespace: 'default',
      name: `pod-${slot}-${pod.uid}`,
      uid: `${slot}/${pod.uid}`,
      jobUid: `uid-of-${job}`,
      jobName: job,
      slot: String(slot),
      epoch: pod.announced === 0 ? undefined : pod.announced,
      malformedEpoch: undefined,
      notice: undefined,
      isTerminating: pod.phase === 'terminating',
    };
  }

  #pod(slot: number): ModelPod {
    const pod = this.pods[slot];
    if (pod === undefined) throw new Error(`no slot ${slot}`);
    return pod;
  }

  #say(slot: number): void {
    this.#log.push({ kind: 'Lives', facts: this.#facts(slot) });
  }

  /** S(r) and D as an agent of the slot sees them in its view. */
  #seen(slot: number): { readonly released: number; readonly deprecated: number } {
    const status = this.versions[this.#pod(slot).view] ?? {};
    const name = `r${this.#stageOf(slot)}`;
    const of = status.replicatedJobsStatus?.find((each) => each.name === name);
    return { released: of?.syncedEpoch ?? 0, deprecated: status.deprecatedEpoch ?? 0 };
  }

  /** Everything that can happen next without a fault, in a fixed order. */
  steps(): (() => void)[] {
    const steps: (() => void)[] = [];
    for (const slot of this.pods.keys()) steps.push(...this.#podSteps(slot));
    for (const controller of this.controllers) steps.push(...this.#controllerSteps(controller));
    return steps;
  }

  #podSteps(slot: number): (() => void)[] {
    const pod = this.#pod(slot);
    const steps: (() => void)[] = [];
    if (pod.phase === 'none') return [() => this.#replace(slot)];
    if (pod.phase === 'terminating') steps.push(() => this.#gone(slot));
    if (pod.late > 0) {
      steps.push(() => {
        // The patch tests the value that it replaces, so it cannot overwrite a newer one.
        if (pod.announced < pod.late) this.#announce(slot, pod.late);
        pod.late = 0;
      });
    }
    if (this.#shape.isSidecar && (pod.stage === 'exiting' || pod.workerExited)) {
      steps.push(() => Object.assign(pod, { ...STOPPED }));
    }
    const isUp =
      pod.stage === 'lifted' ||
      (this.#shape.isSidecar &&
        pod.stage === 'exiting' &&
        pod.own > 0 &&
        pod.marker.started === pod.own &&
        pod.lastStart < pod.own);
    if (isUp && pod.phase === 'live' && pod.worker === 0 && !pod.workerExited) {
      steps.push(() => this.#startWorker(pod));
    }
    steps.push(...this.#agentSteps(slot));
    return steps;
  }

  #agentSteps(slot: number): (() => void)[] {
    const pod = this.#pod(slot);
    const { released, deprecated } = this.#seen(slot);
    const steps: (() => void)[] = [];
    const isRunning = pod.stage !== 'down' && pod.stage !== 'exiting';
    if (isRunning && pod.stage !== 'read' && deprecated >= pod.own) {
      steps.push(() => this.#leave(pod));
    } else if (pod.stage === 'down') {
      // The first read is consistent: it is never older than what has been written.
      steps.push(() => Object.assign(pod, { stage: 'read', view: this.versions.length - 1 }));
    } else if (pod.stage === 'read') {
      steps.push(() => {
        const mayRejoin =
          released > deprecated &&
          pod.marker.announced === released &&
          pod.marker.started < released;
        pod.own = mayRejoin ? released : Math.max(released, deprecated, pod.marker.started) + 1;
        pod.marker.announced = pod.own;
        pod.stage = 'marked';
      });
    } else if (pod.stage === 'marked') {
      steps.push(() => {
        pod.stage = 'announced';
        this.#announce(slot, pod.own);
      });
    } else if (pod.stage === 'announced' && released === pod.own) {
      steps.push(() => {
        pod.marker.started = pod.own;
        pod.stage = 'starting';
      });
    } else if (pod.stage === 'starting' && pod.phase === 'live') {
      steps.push(() => Object.assign(pod, { stage: 'lifted' }));
    }
    if (isRunning && pod.view < this.versions.length - 1) steps.push(() => void pod.view++);
    return steps;
  }

  #controllerSteps(controller: ModelController): (() => void)[] {
    const steps: (() => void)[] = [];
    if (controller.position < this.#log.length) {
      steps.push(() => {
        const event = this.#log[controller.position++];
        if (event?.kind === 'Lives') controller.members.observe(event.facts, 0);
        else if (event?.kind === 'Ended') controller.members.forget(event.uid);
      });
    }
    if (controller.jobSet !== this.jobSet) {
      steps.push(() => {
        controller.jobSet = this.jobSet;
      });
    }
    if (this.#wouldWrite(controller)) steps.push(() => this.#reconcile(controller));
    return steps;
  }

  #wouldWrite(controller: ModelController): boolean {
    return this.#plan(controller) !== undefined;
  }

  #plan(controller: ModelController): JobSetStatus | undefined {
    let answers: Answers = {};
    for (let asked = 0; asked < 4; asked++) {
      const made = plan({
        jobSet: controller.jobSet,
        jobs: this.#jobs,
        members: controller.members,
        vanished: [],
        surroundings: SURROUNDINGS,
        answers,
        knowledge: {
          isDismissed: () => false,
          isKnownStray: () => false,
          countersDifferSinceMs: undefined,
        },
        agent: { image: 'agent' },
        gates: DEFAULT_FEATURE_GATES,
        nowMs: NOW_MS,
      });
      const { question } = made;
      if (question === undefined) return made.status;
      if (question.kind === 'FreshJobSet') {
        controller.jobSet = this.jobSet;
        answers = { ...answers, isJobSetFresh: true };
      } else if (question.kind === 'Witness') {
        const record = { pod: question.pod.name, exitCode: null, reason: 'Error' };
        const witness = { record, finishedMs: undefined, showsFailure: true };
        answers = { ...answers, witness };
      } else throw new Error(`unexpected question ${question.kind}`);
    }
    throw new Error('asks without end');
  }

  #reconcile(controller: ModelController): void {
    const status = this.#plan(controller);
    if (status === undefined) return;
    // Optimistic concurrency: the write is refused unless it was decided on the newest version.
    const isRefused = controller.jobSet !== this.jobSet;
    controller.jobSet = this.jobSet;
    if (isRefused) return;
    this.#publish(status);
    controller.jobSet = this.jobSet;
  }

  #publish(status: JobSetStatus): void {
    const old = this.versions.at(-1) ?? {};
    const ended = status.deprecatedEpoch ?? 0;
    const before = old.deprecatedEpoch ?? 0;
    expect(ended, 'S3: deprecatedEpoch never decreases').toBeGreaterThanOrEqual(before);
    for (const { name, syncedEpoch = 0 } of status.replicatedJobsStatus ?? []) {
      const was = old.replicatedJobsStatus?.find((each) => each.name === name)?.syncedEpoch ?? 0;
      expect(syncedEpoch, 'S3: S(r) never decreases').toBeGreaterThanOrEqual(was);
      expect(syncedEpoch, 'S3: S(r) <= D + 1').toBeLessThanOrEqual(ended + 1);
    }
    if (ended > before) {
      expect(ended).toBe(before + 1);
      expect(this.#mayEnd.has(ended), `S5/S6: epoch ${ended} ended without a failure`).toBe(true);
    }
    this.versions.push(status);
    this.statusWrites++;
    const resourceVersion = String(this.versions.length);
    this.jobSet = {
      ...this.jobSet,
      metadata: { ...this.jobSet.metadata, resourceVersion },
      status,
    };
  }

  #startWorker(pod: ModelPod): void {
    for (const other of this.pods) {
      const isOlder = other.worker !== 0 && other.worker !== pod.own;
      expect(isOlder, 'S1: a worker starts while one of another epoch runs').toBe(false);
    }
    expect(pod.own, 'S7: a slot starts twice in one epoch').toBeGreaterThan(pod.lastStart);
    pod.worker = pod.own;
    pod.lastStart = pod.own;
  }

  #announce(slot: number, epoch: number): void {
    this.#pod(slot).announced = epoch;
    this.#say(slot);
  }

  #leave(pod: ModelPod): void {
    if (pod.stage === 'marked' || pod.stage === 'announced') {
      if (pod.stage === 'marked') pod.late = pod.own;
      pod.stage = 'read';
    } else if (this.#shape.isSidecar) pod.stage = 'exiting';
    else Object.assign(pod, { stage: 'read', worker: 0 });
  }

  #lost(pod: ModelPod): void {
    for (const epoch of [pod.marker.started, pod.marker.announced]) this.#mayEnd.add(epoch);
    if (pod.worker > this.deprecated) this.#mustEnd.add(pod.worker);
  }

  #gone(slot: number): void {
    const pod = this.#pod(slot);
    this.#lost(pod);
    this.#log.push({ kind: 'Ended', uid: `${slot}/${pod.uid}` });
    Object.assign(pod, { ...FRESH_POD, phase: 'none', uid: pod.uid, lastStart: pod.lastStart });
    pod.marker = { announced: 0, started: 0 };
  }

  #replace(slot: number): void {
    const pod = this.#pod(slot);
    Object.assign(pod, { phase: 'live', uid: pod.uid + 1 });
    this.#say(slot);
  }

  /** Everything that can go wrong now. */
  faults(): (() => void)[] {
    const faults: (() => void)[] = [];
    for (const [slot, pod] of this.pods.entries()) {
      if (pod.phase === 'live') {
        faults.push(() => {
          this.#lost(pod);
          pod.phase = 'terminating';
          this.#say(slot);
        });
      }
      if (pod.worker > 0) faults.push(() => this.#exitWorker(pod));
      if (pod.stage !== 'down' && pod.stage !== 'exiting') faults.push(() => this.#crash(pod));
    }
    for (const k of this.controllers.keys()) {
      faults.push(() => {
        this.controllers[k] = this.#freshController();
      });
    }
    return faults;
  }

  #exitWorker(pod: ModelPod): void {
    this.#mayEnd.add(pod.worker);
    if (pod.worker > this.deprecated) this.#mustEnd.add(pod.worker);
    pod.worker = 0;
    if (this.#shape.isSidecar) pod.workerExited = true;
    else if (pod.stage === 'lifted') pod.stage = 'read';
  }

  #crash(pod: ModelPod): void {
    if (pod.stage === 'starting' || pod.stage === 'lifted') this.#mayEnd.add(pod.own);
    if (pod.worker > this.deprecated) this.#mustEnd.add(pod.worker);
    if (pod.stage === 'marked') pod.late = pod.own;
    if (this.#shape.isSidecar) pod.stage = 'exiting';
    else Object.assign(pod, { ...STOPPED });
  }

  /** What is wrong with a state in which nothing more can happen. */
  expectEverybodyRuns(): void {
    const epoch = this.deprecated + 1;
    const status = this.versions.at(-1) ?? {};
    for (const { syncedEpoch } of status.replicatedJobsStatus ?? [])
      expect(syncedEpoch).toBe(epoch);
    for (const pod of this.pods) expect(pod).toMatchObject({ phase: 'live', worker: epoch });
    expect(
      [...this.#mustEnd].filter((failed) => failed >= epoch),
      'S7: lost failures',
    ).toEqual([]);
    expect(status.inPlaceRestartsCountTowardsMax ?? 0).toBe(this.deprecated);
    expect(status.syncedEpoch).toBe(epoch);
  }
}

const FRESH_POD: ModelPod = {
  phase: 'live',
  uid: 1,
  announced: 0,
  late: 0,
  marker: { announced: 0, started: 0 },
  stage: 'down',
  own: 0,
  view: 0,
  worker: 0,
  workerExited: false,
  lastStart: 0,
};
const STOPPED = { stage: 'down', own: 0, worker: 0, workerExited: false } as const;

const SHAPES: readonly Shape[] = [
  { stages: [2], isSidecar: true },
  { stages: [2], isSidecar: false },
  { stages: [1, 2], isSidecar: true },
  { stages: [1, 2], isSidecar: false },
  { stages: [4], isSidecar: true },
];

/** Far more than any fault-free run of these sizes needs: reaching it is a livelock. */
const MAX_QUIET_STEPS = 3000;
/** A shape takes about 2 s; a machine that is busy otherwise must not look like a violation. */
const SHAPE_TIMEOUT_MS = 60_000;

test.each(SHAPES)(
  'holds the properties of the protocol for %o',
  (shape) => {
    // Each number picks one of the steps that are possible then; one in eight picks a fault.
    const schedule = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 20, maxLength: 250 });
    fc.assert(
      fc.property(schedule, fc.nat({ max: 1_000_000 }), (picks, seed) => {
        const world = new World(shape);
        for (const pick of picks) {
          const choices = pick % 8 === 0 ? world.faults() : world.steps();
          choices[Math.floor(pick / 8) % choices.length]?.();
        }
        let state = seed;
        for (let i = 0; i <= MAX_QUIET_STEPS; i++) {
          const steps = world.steps();
          if (steps.length === 0) break;
          expect(i, 'L1: it comes to rest when faults stop').toBeLessThan(MAX_QUIET_STEPS);
          state = (state * 48_271 + 11) % 2_147_483_647;
          steps[state % steps.length]?.();
        }
        world.expectEverybodyRuns();
      }),
      { numRuns: 200 },
    );
  },
  SHAPE_TIMEOUT_MS,
);
