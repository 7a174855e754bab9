/** The controllers of a model: each plans from what its watches have shown it so far. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { expect } from 'vitest';
import { regardlessOfOrder } from '../../../test/fixtures/planned.ts';
import { snapshotOf } from '../../../test/fixtures/snapshots.ts';
import type { JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { identityOf } from '../membership.ts';
import type { Action } from '../plan/decision.ts';
import { type Answer, NO_ANSWERS, type Question, withAnswer } from '../plan/questions.ts';
import { type Plan, plan } from '../plan.ts';
import type { Members } from '../roster/members.ts';
import { Roster } from '../roster/roster.ts';
import type { RosterEvent } from '../roster/roster-events.ts';
import { type JobControllerModel, suspended } from './job-controller-model.fixture.ts';
import type { JobSetModel } from './jobset-model.fixture.ts';
import type { Step, StoredPod } from './pod-world.fixture.ts';

/** An event of a watch of Pods. */
export interface PodEvent {
  readonly kind: 'PodSeen' | 'PodSucceeded' | 'PodGone';
  readonly pod: StoredPod;
}

/** What a controller reads and writes. */
export interface ControllerWorld {
  readonly jobSet: JobSetModel;
  readonly jobControl: JobControllerModel;
  readonly podEvents: readonly PodEvent[];
  /** The Pods that live now. */
  livingPods(): readonly StoredPod[];
  /** Under the newest resourceVersion. */
  publish(status: JobSetStatus): void;
}

const MAX_QUESTIONS = 8;
const AT_NO_TIME = { wallMs: 0, monotonicMs: 0 };

/**
 * It runs `plan` on caches of Pods, Jobs and JobSet of any age, and carries the result out. A crash
 * makes a new controller, which knows nothing.
 */
export class ControllerModel {
  readonly #world: ControllerWorld;
  readonly #roster: Roster;
  /** How much of the log of Pod events it has seen. */
  #position: number;
  #jobSet: Stored<JobSet>;
  /** What its own writes and reads show beside the cache. */
  #jobs: readonly Stored<Job>[];
  #cachedJobs: readonly Stored<Job>[] = [];
  /** It has nothing to do in the state that it sees now. */
  #isIdle = false;
  /** What the watches show, by UID. */
  readonly #living = new Map<string, StoredPod>();
  readonly #succeeded = new Map<string, StoredPod>();

  constructor(world: ControllerWorld) {
    this.#world = world;
    this.#position = world.podEvents.length;
    this.#jobSet = world.jobSet.stored;
    this.#jobs = world.jobControl.jobs;
    for (const pod of world.livingPods()) this.#living.set(pod.metadata.uid, pod);
    this.#cachedJobs = this.#jobs;
    this.#roster = this.#rosterOf(this.#living.values());
  }

  steps(): Step[] {
    const { jobSet, jobControl, podEvents } = this.#world;
    const steps: Step[] = [];
    if (this.#position < podEvents.length) {
      steps.push(() => this.#hearOf(podEvents[this.#position++]));
    }
    if (this.#jobSet !== jobSet.stored) {
      steps.push(() => {
        this.#jobSet = jobSet.stored;
        this.#tell({ kind: 'JobSetSeen', jobSet: jobSet.stored });
      });
    }
    if (this.#cachedJobs !== jobControl.jobs) steps.push(() => this.#seeJobs(jobControl.jobs));
    if (!this.#isIdle && this.#hasWork()) steps.push(() => this.#reconcile());
    return steps;
  }

  #hearOf(event: PodEvent | undefined): void {
    if (event === undefined) return;
    const { kind, pod } = event;
    if (kind === 'PodSeen') this.#living.set(pod.metadata.uid, pod);
    if (kind === 'PodSucceeded') this.#succeeded.set(pod.metadata.uid, pod);
    if (kind === 'PodGone') this.#living.delete(pod.metadata.uid);
    this.#tell(event);
  }

  #seeJobs(jobs: readonly Stored<Job>[]): void {
    const before = this.#cachedJobs;
    this.#jobs = jobs;
    this.#cachedJobs = jobs;
    const present = new Set(jobs.map(({ metadata }) => metadata.uid));
    for (const job of before) {
      if (!present.has(job.metadata.uid)) this.#tell({ kind: 'JobGone', job });
    }
    for (const job of jobs) if (!before.includes(job)) this.#tell({ kind: 'JobSeen', job });
  }

  #tell(event: RosterEvent): void {
    this.#isIdle = false;
    this.#roster.apply(event, AT_NO_TIME);
  }

  #newRoster(): Roster {
    return new Roster((uid) => this.#cachedJobs.find(({ metadata }) => metadata.uid === uid));
  }

  /** A roster that begins with what the caches hold. */
  #rosterOf(living: Iterable<StoredPod>): Roster {
    const roster = this.#newRoster();
    roster.apply({ kind: 'JobSetSeen', jobSet: this.#jobSet }, AT_NO_TIME);
    for (const job of this.#cachedJobs) roster.apply({ kind: 'JobSeen', job }, AT_NO_TIME);
    for (const pod of living) roster.apply({ kind: 'PodSeen', pod }, AT_NO_TIME);
    for (const pod of this.#succeeded.values()) {
      roster.apply({ kind: 'PodSucceeded', pod }, AT_NO_TIME);
    }
    return roster;
  }

  get #members(): Members {
    return this.#roster.of(identityOf(this.#jobSet)).members;
  }

  #hasWork(): boolean {
    const [jobSet, jobs] = [this.#jobSet, this.#jobs];
    const { status, actions, hasAsked } = this.#decide();
    // It only looked: its new knowledge must not stay.
    this.#jobSet = jobSet;
    this.#jobs = jobs;
    const isIdle = status === undefined && actions.length === 0;
    // An answer may change, although the controller sees the same as now.
    this.#isIdle = isIdle && !hasAsked;
    return !isIdle;
  }

  #decide(): Plan & { readonly hasAsked: boolean } {
    let answer = NO_ANSWERS;
    for (let asked = 0; asked < MAX_QUESTIONS; asked++) {
      const made = plan(this.#snapshot(this.#jobs, this.#members, answer));
      if (made.question === undefined) return { ...made, hasAsked: asked > 0 };
      answer = this.#answer(made.question, answer);
    }
    throw new Error('asks without end');
  }

  #snapshot(jobs: readonly Stored<Job>[], members: Members, answer: Answer = NO_ANSWERS) {
    return snapshotOf(this.#jobSet, { jobs, members, answer });
  }

  #answer(question: Question, answers: Answer): Answer {
    switch (question.kind) {
      case 'ContainerMinimums':
        return withAnswer(answers, question, {});
      case 'ImageVolumes':
        return withAnswer(answers, question, false);
      case 'FreshJobSet':
        this.#jobSet = this.#world.jobSet.stored;
        return withAnswer(answers, question, question.pods);
      case 'FreshJobs':
        this.#jobs = this.#world.jobControl.jobs;
        return withAnswer(answers, question, true);
      case 'WholeJobs':
        return withAnswer(
          answers,
          question,
          new Map(question.jobs.map((job) => [job.metadata.uid, job])),
        );
      case 'FreshPods':
        return withAnswer(answers, question, this.#countAgain());
      case 'Witness': {
        const record = { pod: question.pod.name, exitCode: null, reason: 'Error' };
        return withAnswer(answers, question, { record, finishedMs: undefined, showsFailure: true });
      }
      case 'SucceededPods':
        return withAnswer(answers, question, true);
      case 'SilentAgents':
        return withAnswer(answers, question, new Map());
      case 'Suspects':
        return withAnswer(answers, question, new Map());
      case 'Notice':
      case 'OverduePods':
      case 'FailedJob':
      case 'FailedPods':
      case 'HeldPod':
      case 'Pins':
        throw new Error(`unexpected question ${question.kind}`);
    }
  }

  #countAgain(): Members {
    return this.#roster.countAgain(identityOf(this.#jobSet), this.#world.livingPods(), 0);
  }

  /**
   * The order of Jobs and Pods has no meaning, with one exception: the failed Pod that was reported
   * first is the witness.
   */
  #expectAnyOrderToDo(): void {
    const pods = [...this.#living.values()].toReversed();
    const { deprecatedEpoch = 0 } = this.#jobSet.status ?? {};
    const epochs = [...this.#members.announcedEpochs()].filter(
      (epoch) => epoch > deprecatedEpoch + 1,
    );
    const ahead = epochs.reduce((sum, epoch) => sum + this.#members.countAnnouncing(epoch), 0);
    const members = ahead > 1 ? this.#members : this.#inThatOrder(pods);
    const reversed = plan(this.#snapshot(this.#jobs.toReversed(), members));
    const made = plan(this.#snapshot(this.#jobs, this.#members));
    expect(regardlessOfOrder(reversed)).toEqual(regardlessOfOrder(made));
  }

  #inThatOrder(pods: readonly StoredPod[]): Members {
    return this.#rosterOf(pods).of(identityOf(this.#jobSet)).members;
  }

  #reconcile(): void {
    this.#expectAnyOrderToDo();
    const { jobSet, jobControl } = this.#world;
    const { status, actions } = this.#decide();
    if (status !== undefined) {
      // Optimistic concurrency: the write is refused unless it was decided on the newest version.
      const isRefused = this.#jobSet !== jobSet.stored;
      if (!isRefused) this.#world.publish(status);
      this.#jobSet = jobSet.stored;
      if (isRefused) return;
    }
    // The leader, which sees the user's last change, acts on the spec.
    const isLeader = this.#jobSet === jobSet.stored;
    for (const action of actions) this.#carryOut(action, isLeader);
    this.#jobs = jobControl.jobs;
  }

  #carryOut(action: Action, isLeader: boolean): void {
    const { jobControl } = this.#world;
    switch (action.kind) {
      case 'CreateJob':
        jobControl.create(action.job);
        break;
      case 'DeleteJob':
        jobControl.change(action.job, (job) => ({
          ...job,
          metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
        }));
        break;
      case 'SuspendJob':
        if (isLeader) jobControl.change(action.job, (job) => suspended(job, true));
        break;
      case 'ResumeJob':
        if (isLeader) jobControl.change(action.job, (job) => suspended(job, false));
        break;
      case 'ResizeJob': {
        const { size } = action;
        const resize = (job: Stored<Job>) => ({ ...job, spec: { ...job.spec, ...size } });
        if (isLeader) jobControl.change(action.job, resize);
        break;
      }
      case 'ReplaceMember':
      case 'CreateService':
      case 'GrantAgentRights':
      case 'CreateClaim':
      case 'DeleteLostPod':
      case 'RelabelJob':
      case 'DeleteJobSet':
        throw new Error(`unexpected action ${action.kind}`);
    }
  }
}
