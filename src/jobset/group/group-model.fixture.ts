import { expect } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { NO_KNOWLEDGE, snapshotOf } from '../../../test/fixtures/snapshots.ts';
import type { Job } from '../../kube/job.ts';
import type { Stored } from '../../kube/meta.ts';
import { jobIndexOf, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import type { JobSize } from '../child-jobs/elastic.ts';
import { isSuspended } from '../child-jobs/suspend.ts';
import type { Action } from '../convergence.ts';
import {
  type FailurePolicyRule,
  generationOf,
  type JobSet,
  type JobSetStatus,
  type RestartRecord,
} from '../jobset.ts';
import { type Plan, plan } from '../plan.ts';
import type { Answers, Question } from '../snapshot.ts';
import { type PodWorld, SlotModel, type Step } from './agent-model.fixture.ts';
import { type HubModel, StreamModel } from './hub-model.fixture.ts';
import { MemberCounts } from './members.ts';
import type { PodFacts } from './pod-facts.ts';

/**
 * The protocol under any interleaving: agents that follow the design's rules, a Job controller that
 * is late with its counters, a user who suspends and scales, and two controllers that run `plan` on
 * caches of Pods, Jobs and JobSet of any age. Ghosts check S1 (one epoch runs at a time), S3, S5 and S6
 * (an epoch ends only for a failure in it, or for something that the user did, once), S7 (no
 * failure is lost), the startup order, and that everything runs again when faults stop.
 */
export interface Shape {
  /** Pods of each ReplicatedJob. */
  readonly stages: readonly number[];
  readonly isSidecar: boolean;
  readonly isInOrder?: boolean;
  readonly rules?: readonly FailurePolicyRule[];
  readonly faults?: readonly ('Suspend' | 'Scale')[];
  /** Agents that speak over the hub: all, or every other one; without, none does. */
  readonly hub?: 'All' | 'Mixed';
}

interface ModelController {
  members: MemberCounts;
  /** How much of the log of Pod events it has seen. */
  position: number;
  jobSet: Stored<JobSet>;
  jobs: readonly Stored<Job>[];
  /** It has nothing to do with what it sees now. */
  isIdle: boolean;
  /** Its last plan depended on more than it sees. */
  hasAsked: boolean;
  /** Whether it believes to hold the lease. Without a hub nothing depends on that. */
  isLeading: boolean;
  readonly streams: Set<StreamModel>;
  /** What the watch shows of each Pod, by UID, and the newest epoch that its agent said here. */
  readonly written: Map<string, PodFacts>;
  readonly spoken: Map<string, number>;
}

type PodEvent =
  | { readonly kind: 'Lives'; readonly facts: PodFacts }
  | { readonly kind: 'Ended'; readonly uid: string };

const MAX_QUESTIONS = 8;
const MAX_PODS = 3;

export class GroupModel implements PodWorld {
  readonly isSidecar: boolean;
  readonly #shape: Shape;
  readonly #slots: SlotModel[] = [];
  #jobs: readonly Stored<Job>[] = [];
  #madeJobs = 0;
  readonly #versions: JobSetStatus[] = [{}];
  #resourceVersion = 1;
  readonly #log: PodEvent[] = [];
  readonly #controllers: ModelController[];
  /** Who holds the lease. */
  #leader = 0;
  #jobSet: Stored<JobSet>;
  /** Ghosts: epochs that a failure may end, and those that one must end. */
  readonly #mayEnd = new Set<number>();
  readonly #mustEnd = new Set<number>();
  #chargedEnds = 0;
  /** By stage, the last epoch in which all its workers ran at the same time. */
  readonly #ranIn: number[];

  constructor(shape: Shape) {
    this.#shape = shape;
    this.isSidecar = shape.isSidecar;
    this.#ranIn = shape.stages.map(() => 0);
    this.#jobSet = storedJobSet(this.#specOf(shape.stages, false), {
      annotations: {
        'lockstep/restart-backoff': 'Disabled',
        'lockstep/restart-mode': shape.isSidecar ? 'Sidecar' : 'Supervisor',
      },
    });
    for (const stage of shape.stages.keys()) {
      for (let index = 0; index < MAX_PODS; index++) {
        this.#slots.push(new SlotModel(this, stage, index));
      }
    }
    this.#controllers = [this.#freshController(true), this.#freshController(!this.#hasHub)];
  }

  // What happens without a fault.

  steps(): Step[] {
    const steps = this.#slots.flatMap((slot) => slot.steps());
    steps.push(...this.#jobControllerSteps());
    for (const [k, controller] of this.#controllers.entries()) {
      steps.push(...this.#controllerSteps(controller), ...this.#hubSteps(controller, k));
    }
    return steps;
  }

  /** What can go wrong, and what the user can do. */
  faults(): Step[] {
    const faults = this.#slots.flatMap((slot) => slot.faults());
    for (const k of this.#controllers.keys()) {
      faults.push(() => this.#crash(k));
    }
    if (this.#hasHub) faults.push(() => this.#moveLease());
    const { faults: kinds = [] } = this.#shape;
    const { suspend = false } = this.#jobSet.spec;
    if (kinds.includes('Suspend')) faults.push(() => this.#edit(this.#sizes(), !suspend));
    if (kinds.includes('Scale')) {
      for (const [stage, pods] of this.#sizes().entries()) {
        const other = pods === MAX_PODS ? pods - 1 : pods + 1;
        faults.push(() => this.#edit(this.#sizes().with(stage, other), suspend));
      }
    }
    return faults;
  }

  /** The user wants the JobSet to run. */
  resume(): void {
    if (this.#jobSet.spec.suspend === true) this.#edit(this.#sizes(), false);
  }

  /** What is wrong with a state in which nothing more can happen. */
  expectEverybodyRuns(): void {
    const status = this.#status();
    const epoch = (status.deprecatedEpoch ?? 0) + 1;
    for (const { syncedEpoch } of status.replicatedJobsStatus ?? [])
      expect(syncedEpoch).toBe(epoch);
    for (const slot of this.#slots) {
      const { phase, worker } = slot;
      const isWanted = slot.index < (this.#sizes()[slot.stage] ?? 0);
      const expected = isWanted ? { phase: 'live', worker: epoch } : { phase: 'none', worker: 0 };
      expect({ phase, worker }).toEqual(expected);
    }
    const lost = [...this.#mustEnd].filter((failed) => failed >= epoch);
    expect(lost, 'S7: lost failures').toEqual([]);
    expect(chargesOf(status), 'S5: each end is charged once').toBe(this.#chargedEnds);
    expect(status.syncedEpoch).toBe(epoch);
  }

  // What the slots see and say.

  latest(): number {
    return this.#versions.length - 1;
  }

  seen(version: number, stage: number): { readonly released: number; readonly deprecated: number } {
    const status = this.#versions[version] ?? {};
    const of = status.replicatedJobsStatus?.find(({ name }) => name === nameOf(stage));
    return { released: of?.syncedEpoch ?? 0, deprecated: status.deprecatedEpoch ?? 0 };
  }

  hubs({ stage, index, podUid }: SlotModel): readonly HubModel[] | undefined {
    const { hub } = this.#shape;
    if (hub === undefined || (hub === 'Mixed' && (stage + index) % 2 === 1)) return undefined;
    // A hub knows a Pod when its cache does.
    return this.#controllers
      .filter(({ isLeading, written }) => isLeading && written.has(podUid))
      .map(({ streams }) => ({
        open: (uid) => {
          const stream = new StreamModel(uid);
          streams.add(stream);
          return stream;
        },
      }));
  }

  changed(slot: SlotModel): void {
    this.#log.push({ kind: 'Lives', facts: slot.facts() });
  }

  ended(uid: string): void {
    this.#log.push({ kind: 'Ended', uid });
  }

  failed(epochs: readonly number[], worker: number): void {
    for (const epoch of epochs) this.#mayEnd.add(epoch);
    if (worker > (this.#status().deprecatedEpoch ?? 0)) this.#mustEnd.add(worker);
  }

  workerStarts(starting: SlotModel): void {
    const { own, stage, index } = starting;
    for (const { worker } of this.#slots) {
      const isOlder = worker !== 0 && worker !== own;
      expect(isOlder, 'S1: a worker starts while one of another epoch runs').toBe(false);
    }
    expect(own, 'S7: a slot starts twice in one epoch').toBeGreaterThan(starting.lastStart);
    // A supervised Pod is ready all the time, so that its Job cannot tell when its worker is.
    if (this.#shape.isInOrder === true && stage > 0 && this.isSidecar) {
      expect(this.#ranIn[stage - 1], 'H5: the stage before it has run in this epoch').toBe(own);
    }
    const others = this.#slots.filter((slot) => slot.stage === stage && slot.index !== index);
    const size = this.#sizeOfJob(stage);
    const isWhole = others.filter(({ worker }) => worker === own).length + 1 >= size;
    if (isWhole) this.#ranIn[stage] = own;
  }

  // The user.

  #specOf(sizes: readonly number[], suspend: boolean): JobSet['spec'] {
    const { isInOrder = false, rules = [] } = this.#shape;
    return {
      replicatedJobs: sizes.map((pods, stage) => replicatedJob(nameOf(stage), pods)),
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1000, rules },
      suspend,
      ...(isInOrder ? { startupPolicy: { startupPolicyOrder: 'InOrder' } } : {}),
    };
  }

  #sizes(): readonly number[] {
    const { replicatedJobs = [] } = this.#jobSet.spec;
    return replicatedJobs.map(({ template }) => template.spec.parallelism ?? 0);
  }

  #edit(sizes: readonly number[], suspend: boolean): void {
    const { metadata } = this.#jobSet;
    const generation = generationOf(this.#jobSet) + 1;
    const spec = this.#specOf(sizes, suspend);
    this.#store({ ...this.#jobSet, metadata: { ...metadata, generation }, spec });
  }

  #store(jobSet: Stored<JobSet>): void {
    this.#resourceVersion++;
    const resourceVersion = String(this.#resourceVersion);
    this.#jobSet = { ...jobSet, metadata: { ...jobSet.metadata, resourceVersion } };
  }

  // The Job controller.

  #jobControllerSteps(): Step[] {
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
      if (ready !== (job.status?.ready ?? 0)) {
        const status = { ...job.status, ready, active: slots.length };
        steps.push(() => this.#replace(job, { ...job, status }));
      }
      return steps;
    });
  }

  #isReady(slot: SlotModel): boolean {
    return this.isSidecar ? slot.worker > 0 : true;
  }

  #sizeOfJob(stage: number): number {
    const job = this.#jobs.find((each) => stageOf(each) === stage);
    return job?.spec.parallelism ?? 0;
  }

  #replace(job: Stored<Job>, next: Stored<Job> | undefined): void {
    this.#jobs = this.#jobs.flatMap((each) => {
      if (each.metadata.uid !== job.metadata.uid) return [each];
      return next === undefined ? [] : [next];
    });
  }

  // The controllers.

  get #hasHub(): boolean {
    return this.#shape.hub !== undefined;
  }

  #freshController(isLeading: boolean): ModelController {
    const members = new MemberCounts();
    const written = new Map<string, PodFacts>();
    for (const slot of this.#slots) {
      if (slot.phase === 'none') continue;
      members.observe(slot.facts(), 0);
      written.set(slot.podUid, slot.facts());
    }
    const { length: position } = this.#log;
    return {
      members,
      position,
      jobSet: this.#jobSet,
      jobs: this.#jobs,
      isIdle: false,
      hasAsked: false,
      isLeading,
      streams: new Set(),
      written,
      spoken: new Map(),
    };
  }

  /** The process starts again: what it heard is forgotten, and its streams are gone. */
  #crash(k: number): void {
    const old = this.#controllers[k];
    for (const stream of old?.streams ?? []) stream.drop();
    this.#controllers[k] = this.#freshController(old?.isLeading ?? true);
  }

  /** The other takes over, and the one that led does not know it yet. */
  #moveLease(): void {
    this.#leader = 1 - this.#leader;
    const next = this.#controllers[this.#leader];
    if (next !== undefined) Object.assign(next, { isLeading: true, isIdle: false });
  }

  /** What the watch shows, or the agent has said here if that is newer. */
  #newest(controller: ModelController, facts: PodFacts): PodFacts {
    const spoken = controller.spoken.get(facts.uid) ?? 0;
    return spoken > (facts.epoch ?? 0) ? { ...facts, epoch: spoken } : facts;
  }

  #hubSteps(controller: ModelController, k: number): Step[] {
    const steps: Step[] = [];
    if (controller.isLeading && this.#leader !== k) {
      steps.push(() => {
        controller.isLeading = false;
        for (const stream of controller.streams) stream.drop();
        controller.streams.clear();
      });
    }
    for (const stream of controller.streams) {
      const facts = controller.written.get(stream.podUid);
      if (stream.sent.length === 0 || facts === undefined) continue;
      steps.push(() => {
        const epoch = stream.sent.shift() ?? 0;
        const before = controller.spoken.get(stream.podUid) ?? 0;
        controller.spoken.set(stream.podUid, Math.max(before, epoch));
        controller.members.observe(this.#newest(controller, facts), 0);
        controller.isIdle = false;
      });
    }
    return steps;
  }

  #controllerSteps(controller: ModelController): Step[] {
    const steps: Step[] = [];
    if (controller.position < this.#log.length) {
      steps.push(() => {
        const event = this.#log[controller.position++];
        controller.isIdle = false;
        if (event?.kind === 'Lives') {
          controller.written.set(event.facts.uid, event.facts);
          controller.members.observe(this.#newest(controller, event.facts), 0);
        } else if (event?.kind === 'Ended') {
          controller.written.delete(event.uid);
          controller.members.forget(event.uid);
        }
      });
    }
    if (controller.jobSet !== this.#jobSet) {
      steps.push(() => {
        Object.assign(controller, { jobSet: this.#jobSet, isIdle: false });
      });
    }
    if (controller.jobs !== this.#jobs) {
      steps.push(() => {
        Object.assign(controller, { jobs: this.#jobs, isIdle: false });
      });
    }
    if (controller.isLeading && !controller.isIdle && this.#hasWork(controller)) {
      steps.push(() => this.#reconcile(controller));
    }
    return steps;
  }

  #hasWork(controller: ModelController): boolean {
    const looking = { ...controller };
    const { status, actions } = this.#plan(looking);
    const isIdle = status === undefined && actions.length === 0;
    // An answer may be another one later, although the controller sees the same as now.
    controller.isIdle = isIdle && !looking.hasAsked;
    return !isIdle;
  }

  #plan(controller: ModelController): Plan {
    let answers: Answers = {};
    controller.hasAsked = false;
    for (let asked = 0; asked < MAX_QUESTIONS; asked++) {
      const { jobSet, jobs, members } = controller;
      const made = plan(snapshotOf(jobSet, { jobs, members, answers, knowledge: NO_KNOWLEDGE }));
      if (made.question === undefined) return made;
      controller.hasAsked = true;
      answers = { ...answers, ...this.#answer(made.question, controller) };
    }
    throw new Error('asks without end');
  }

  #answer(question: Question, controller: ModelController): Answers {
    switch (question.kind) {
      case 'FreshJobSet':
        controller.jobSet = this.#jobSet;
        return { isJobSetFresh: true };
      case 'FreshJobs':
        controller.jobs = this.#jobs;
        return { areJobsFresh: true };
      case 'FreshPods':
        return { freshPods: this.#census(controller) };
      case 'Witness': {
        const record = { pod: question.pod.name, exitCode: null, reason: 'Error' };
        return { witness: { record, finishedMs: undefined, showsFailure: true } };
      }
      case 'SucceededPods':
        return { isSuccessFresh: true };
      case 'Notice':
      case 'OverduePods':
      case 'FailedJob':
      case 'FailedPods':
        throw new Error(`unexpected question ${question.kind}`);
    }
  }

  #census(controller: ModelController): MemberCounts {
    const members = new MemberCounts();
    for (const facts of this.#freshController(true).written.values()) {
      members.observe(this.#newest(controller, facts), 0);
    }
    return members;
  }

  #reconcile(controller: ModelController): void {
    const { status, actions } = this.#plan(controller);
    if (status !== undefined) {
      // Optimistic concurrency: the write is refused unless it was decided on the newest version.
      const isRefused = controller.jobSet !== this.#jobSet;
      if (!isRefused) this.#publish(status);
      controller.jobSet = this.#jobSet;
      if (isRefused) return;
    }
    // What follows from the spec is done by the leader, which sees the user's last word.
    const isLeader = controller.jobSet === this.#jobSet;
    for (const action of actions) this.#carryOut(action, isLeader);
    controller.jobs = this.#jobs;
  }

  #carryOut(action: Action, isLeader: boolean): void {
    switch (action.kind) {
      case 'CreateJob':
        this.#createJob(action.job);
        break;
      case 'DeleteJob':
        this.#change(action.job, (job) => ({
          ...job,
          metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
        }));
        break;
      case 'SuspendJob':
        if (isLeader) this.#change(action.job, (job) => suspended(job, true));
        break;
      case 'ResumeJob':
        if (isLeader) this.#change(action.job, (job) => suspended(job, false));
        break;
      case 'ResizeJob':
        if (isLeader) this.#change(action.job, (job) => resized(job, action.size));
        break;
      case 'CreateService':
      case 'GrantAgentRights':
      case 'CreateClaim':
      case 'DeleteLostPod':
      case 'RelabelJob':
      case 'DeleteJobSet':
        throw new Error(`unexpected action ${action.kind}`);
    }
  }

  #createJob(job: Job): void {
    const name = job.metadata.name ?? '';
    if (this.#jobs.some(({ metadata }) => metadata.name === name)) return;
    this.#madeJobs++;
    const metadata = {
      ...job.metadata,
      name,
      uid: `job-${this.#madeJobs}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    this.#jobs = [...this.#jobs, suspended({ ...job, metadata }, job.spec.suspend === true)];
  }

  #change(old: Stored<Job>, change: (job: Stored<Job>) => Stored<Job>): void {
    const job = this.#jobs.find(({ metadata }) => metadata.uid === old.metadata.uid);
    if (job !== undefined) this.#replace(job, change(job));
  }

  readonly #isOtherSize = (job: Stored<Job>): boolean =>
    job.spec.parallelism !== this.#sizes()[stageOf(job)];

  #status(): JobSetStatus {
    return this.#versions.at(-1) ?? {};
  }

  #publish(status: JobSetStatus): void {
    const old = this.#status();
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
      this.#checkEnd(status.restartHistory?.[0], chargesOf(status) - chargesOf(old));
    } else expect(chargesOf(status), 'S5: only ends are charged').toBe(chargesOf(old));
    this.#versions.push(status);
    this.#store({ ...this.#jobSet, status });
  }

  #checkEnd(record: RestartRecord | undefined, charge: number): void {
    expect(charge).toBe(record?.counted === true ? 1 : 0);
    this.#chargedEnds += charge;
    if (record?.cause === 'Resumed' || record?.cause === 'Scaled') {
      expect(charge).toBe(0);
      const isDue = record.cause === 'Resumed' ? isSuspended : this.#isOtherSize;
      expect(this.#jobs.some(isDue), 'S4: an epoch ended for nothing').toBe(true);
    } else {
      const hasFailed = this.#mayEnd.has(record?.epoch ?? 0);
      expect(hasFailed, `S5/S6: epoch ${record?.epoch} ended without a failure`).toBe(true);
      expect(record?.witness, 'S6').toBeDefined();
    }
  }
}

function nameOf(stage: number): string {
  return `r${stage}`;
}

function stageOf(job: Job): number {
  expect(jobIndexOf(job)).toBe(0);
  return Number((replicatedJobOf(job) ?? '').slice(1));
}

function suspended(job: Stored<Job>, suspend: boolean): Stored<Job> {
  const status = suspend ? 'True' : 'False';
  return {
    ...job,
    spec: { ...job.spec, suspend },
    status: { ...job.status, conditions: [{ type: 'Suspended', status }] },
  };
}

function resized(job: Stored<Job>, size: JobSize): Stored<Job> {
  return { ...job, spec: { ...job.spec, ...size } };
}

function chargesOf(status: JobSetStatus): number {
  let sum = (status.restartsCountTowardsMax ?? 0) + (status.inPlaceRestartsCountTowardsMax ?? 0);
  for (const { jobRestartsCountTowardsMax = [] } of status.replicatedJobsStatus ?? []) {
    for (const restarts of jobRestartsCountTowardsMax) sum += restarts;
  }
  return sum;
}
