/**
 * The operator of a simulated group: it plans from what it has seen, asks, writes the status, and
 * carries out what the plan says. One plan at a time, and one write.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { JOBSET_NAME } from '../../jobset/names.ts';
import type { Action } from '../../jobset/plan/decision.ts';
import type { Answerable, AnswerOf } from '../../jobset/plan/questions.ts';
import type { Snapshot } from '../../jobset/plan/snapshot.ts';
import { plan } from '../../jobset/plan.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import type { MemberEvidence } from '../../jobset/roster/group-evidence.ts';
import { MemberCounts } from '../../jobset/roster/members.ts';
import type { PodFacts } from '../../jobset/roster/pod-facts.ts';
import { rankIn } from '../../jobset/roster/worker-name.ts';
import { DEFAULT_SIZE_LIMITS } from '../../jobset/size-limits.ts';
import type { CountersPutOff } from '../../jobset/status/counters.ts';
import type { Announcement } from '../../jobset/worker-end/announcement.ts';
import { LEG_MS, SIMULATED_MEMBERS } from './costs.ts';
import type { SimulatedPod } from './simulated-member.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** Wall time at which the JobSet was created. */
export const START_MS = Date.parse('2026-01-01T00:00:00Z');

/** What it acts on. */
export interface Cluster {
  /** What the members that live have reported. */
  readonly reported: GroupProgress;
  nodeOf(podUid: string): string | undefined;
  /** A status was written that was decided at `decidedMs`. */
  wrote(status: JobSetStatus, before: JobSetStatus, decidedMs: number): void;
  /** Makes the Pods of a Job. */
  createPods(): void;
  /** Deletes the Pods of a Job. */
  deletePods(): void;
  /** Deletes the Pod of a member, so that another comes in its place, on another node. */
  replacePod(slot: number): void;
}

export class SimulatedOperator {
  readonly #time: SimulatedTime;
  readonly #cluster: Cluster;
  readonly #members = new MemberCounts();
  /** How workers ended, by UID of the Pod. */
  readonly #ends = new Map<string, MemberEvidence & { readonly epoch: number }>();
  #jobSet: Stored<JobSet>;
  #jobs: readonly Stored<Job>[] = [];
  #isAwake = false;
  #hasNews = false;
  #requeue: Timer | undefined;
  #countersPutOff: CountersPutOff | undefined;

  constructor(jobSet: Stored<JobSet>, time: SimulatedTime, cluster: Cluster) {
    this.#jobSet = jobSet;
    this.#time = time;
    this.#cluster = cluster;
  }

  get jobSet(): Stored<JobSet> {
    return this.#jobSet;
  }

  /** An agent announces an epoch. */
  announced(pod: SimulatedPod, { epoch, end }: Announcement): void {
    const { nowMs } = this.#time;
    if (end !== undefined) this.#noteEnd(pod, end.epoch, { kind: 'Ended', ...end });
    this.#members.observe(this.#factsOf(pod, epoch), START_MS + nowMs);
    this.wake();
  }

  /** A Pod was taken away, while its worker ran in that epoch. */
  lost(pod: SimulatedPod, epoch: number): void {
    const { nowMs } = this.#time;
    this.#noteEnd(pod, epoch, { kind: 'Lost', seenMs: nowMs, deletedMs: nowMs });
    this.gone(pod.podUid);
  }

  /** A Pod does not live any more. */
  gone(podUid: string): void {
    this.#members.forget(podUid);
    this.wake();
  }

  /** The Job has a new status. */
  sawJob(status: Job['status']): void {
    this.#jobs = this.#jobs.map((job) => ({ ...job, status: { ...job.status, ...status } }));
    this.wake();
  }

  /** The Job is gone, with its Pods. */
  jobGone(): void {
    this.#jobs = [];
    this.wake();
  }

  /** Something has changed. All that changes in one instant is one plan. */
  wake(): void {
    this.#hasNews = true;
    if (this.#isAwake) return;
    this.#isAwake = true;
    this.#time.after(0, () => this.#plan());
  }

  #plan(): void {
    this.#hasNews = false;
    const decidedMs = this.#time.nowMs;
    const { question, status, actions, requeueAfterMs, countersPutOff } = plan(this.#snapshot());
    if (question !== undefined) throw new Error(`nothing here can answer ${question.kind}`);
    this.#countersPutOff = countersPutOff;
    const carryOut = (): void => {
      for (const action of actions) this.#carryOut(action);
      this.#isAwake = false;
      if (this.#hasNews || status !== undefined) this.wake();
    };
    this.#requeue?.cancel();
    this.#requeue =
      requeueAfterMs === undefined
        ? undefined
        : this.#time.after(requeueAfterMs, () => this.wake());
    if (status === undefined) {
      carryOut();
      return;
    }
    this.#time.after(LEG_MS, () => {
      const before = this.#jobSet.status ?? {};
      const resourceVersion = String(Number(this.#jobSet.metadata.resourceVersion) + 1);
      this.#jobSet = {
        ...this.#jobSet,
        metadata: { ...this.#jobSet.metadata, resourceVersion },
        status,
      };
      this.#cluster.wrote(status, before, decidedMs);
      carryOut();
    });
  }

  #snapshot(): Snapshot {
    return {
      jobSet: this.#jobSet,
      jobs: this.#jobs,
      vanished: [],
      members: this.#members,
      endsIn: (epoch) => [...this.#ends.values()].filter((end) => end.epoch === epoch),
      hubReach: { streams: SIMULATED_MEMBERS, missing: 0, silent: [], mayLook: false },
      reported: () => this.#cluster.reported,
      surroundings: {
        service: SERVICE,
        jobNamed: (name) => this.#jobs.find(({ metadata }) => metadata.name === name),
        hasClaim: () => true,
        hasAgentRights: true,
      },
      // The kind of a question implies the type of its answer.
      answer: (question) => this.#answerTo(question) as never,
      knowledge: {
        isDismissed: () => false,
        isTooFarAhead: () => false,
        countersPutOff: this.#countersPutOff,
      },
      agent: { image: 'agent' },
      gates: DEFAULT_FEATURE_GATES,
      sha1,
      limits: DEFAULT_SIZE_LIMITS,
      nowMs: START_MS + this.#time.nowMs,
    };
  }

  /** What the operator finds out, at no cost; undefined for what is no part of this benchmark. */
  #answerTo(question: Answerable): AnswerOf[Answerable['kind']] | undefined {
    switch (question.kind) {
      case 'Witness': {
        const { name, uid, slot } = question.pod;
        const node = this.#cluster.nodeOf(uid) ?? '';
        const record = { pod: name, node, exitCode: 1, reason: 'Error' };
        return { record, slot, finishedMs: undefined, showsFailure: true };
      }
      case 'Pins':
      case 'SilentAgents':
      case 'Suspects':
        return new Map();
      case 'FreshJobs':
      case 'SucceededPods':
        return true;
      case 'FreshPods':
        return this.#members;
      case 'ImageVolumes':
        return false;
      case 'ContainerMinimums':
        return {};
      case 'FailedJob':
      case 'FailedPods':
      case 'FreshJobSet':
      case 'HeldPod':
      case 'OverduePods':
      case 'WholeJobs':
        return undefined;
    }
  }

  #carryOut(action: Action): void {
    switch (action.kind) {
      case 'CreateJob': {
        const { name = '' } = action.job.metadata;
        const uid = `job-${this.#time.nowMs}`;
        const stored = { name, uid, resourceVersion: '1', creationTimestamp: '' };
        const metadata = { ...action.job.metadata, ...stored };
        this.#jobs = [{ ...action.job, metadata }];
        this.#cluster.createPods();
        break;
      }
      case 'DeleteJob':
        this.#jobs = this.#jobs.map((job) => ({
          ...job,
          metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
        }));
        this.#cluster.deletePods();
        break;
      case 'ReplaceMember':
        this.#cluster.replacePod(Number(action.pod.slot));
        break;
      case 'CreateClaim':
      case 'CreateService':
      case 'DeleteJobSet':
      case 'DeleteLostPod':
      case 'GrantAgentRights':
      case 'RelabelJob':
      case 'ResizeJob':
      case 'ResumeJob':
      case 'SuspendJob':
        throw new Error(`the action ${action.kind} is no part of this benchmark`);
    }
  }

  #noteEnd({ slot, podUid }: SimulatedPod, epoch: number, end: MemberEvidence['end']): void {
    const [job] = this.#jobs;
    const rank = job && rankIn(job, String(slot));
    if (rank === undefined) return;
    const node = this.#cluster.nodeOf(podUid);
    const member = { ...rank, pod: podUid, podUid, ...(node === undefined ? {} : { node }) };
    this.#ends.set(podUid, { epoch, member, end });
  }

  #factsOf({ slot, podUid }: SimulatedPod, epoch: number): PodFacts {
    const [job] = this.#jobs;
    return {
      namespace: 'default',
      name: podUid,
      uid: podUid,
      jobUid: job?.metadata.uid ?? '',
      jobName: job?.metadata.name ?? '',
      slot: String(slot),
      epoch,
      malformedEpoch: undefined,
      notice: undefined,
      isTerminating: false,
    };
  }
}

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'train', uid: 'service', resourceVersion: '1', creationTimestamp: '' },
  spec: { clusterIP: 'None', selector: { [JOBSET_NAME]: 'train' } },
} as const;
