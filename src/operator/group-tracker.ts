import type { Watchpoint } from '../jobset/group/in-place-restart.ts';
import { MemberCounts, type Members } from '../jobset/group/members.ts';
import type { Notice } from '../jobset/group/notice.ts';
import { type AgentStarts, type PodFacts, podFacts } from '../jobset/group/pod-facts.ts';
import { JOBSETS } from '../jobset/jobset.ts';
import {
  EPOCH,
  IN_PLACE_RESTART_ATTEMPT,
  JOBSET_GROUP,
  JOBSET_NAME,
  JOBSET_UID,
} from '../jobset/names.ts';
import { isTrue } from '../jobset/status/conditions.ts';
import type { Job } from '../kube/job.ts';
import {
  controllerOf,
  type KubeObject,
  type PartialObjectMetadata,
  type Stored,
} from '../kube/meta.ts';
import { GroupWatch } from './group-watch.ts';

/**
 * Keeps the counts of every JobSet's Pods and tells when one is worth another look: not for every
 * announcement of a group that gathers at its barrier, but for a failure, for the last one to
 * arrive, and for whatever was in the way. One Pod event costs O(1).
 */
export interface GroupTrackerOptions {
  readonly jobByUid: (uid: string) => Stored<Job> | undefined;
  /** `namespace/name` of a JobSet that may have something to decide. */
  readonly onInterest: (key: string) => void;
  readonly onStray: (stray: StrayPod) => void;
  readonly nowMs: () => number;
}

/** A Pod that wears a JobSet's label, or announces an epoch, and may not (design H9). */
export interface StrayPod {
  /** `namespace/name` of the JobSet that it names. */
  readonly jobSet: string;
  readonly podUid: string;
  /** What is wrong, with the name of the Pod. */
  readonly problem: string;
}

/** What the agent of a Pod has said over the hub: no more than annotations of the Pod would say. */
export interface SpokenFacts {
  readonly epoch?: number;
  readonly starts?: AgentStarts;
  readonly notice?: Notice;
}

interface TrackedPod extends GroupKey {
  readonly jobUid: string;
  /** As its annotations say. */
  readonly written: PodFacts;
  /** As its agent said, while this process runs: soft state, of which agents repeat what matters. */
  spoken: SpokenFacts | undefined;
}

export class GroupTracker {
  readonly #options: GroupTrackerOptions;
  /** By UID of the JobSet, as all below. */
  readonly #groups = new Map<string, MemberCounts>();
  readonly #watches = new Map<string, GroupWatch>();
  readonly #groupOfPod = new Map<string, TrackedPod>();
  readonly #groupOfJob = new Map<string, string>();

  constructor(options: GroupTrackerOptions) {
    this.#options = options;
  }

  members(jobSetUid: string): Members {
    return this.#groups.get(jobSetUid) ?? NO_MEMBERS;
  }

  /** Sets what `onInterest` is called for. Call it in the turn in which the counts were read. */
  watch(jobSetUid: string, watchpoint: Watchpoint | undefined): void {
    if (watchpoint === undefined) this.#watches.delete(jobSetUid);
    else this.#watches.set(jobSetUid, new GroupWatch(watchpoint, this.members(jobSetUid)));
  }

  /** Counts a list of living Pods by itself, beside what the watches show. */
  census(jobSetUid: string, living: readonly Stored<PartialObjectMetadata>[]): Members {
    const counts = new MemberCounts();
    for (const pod of living) {
      const facts = podFacts(pod);
      if (facts === undefined || this.#groupOf(pod, facts)?.uid !== jobSetUid) continue;
      counts.observe(this.#newest(facts), this.#options.nowMs());
    }
    return counts;
  }

  /** A Pod that lives, as the watch of living Pods shows it. */
  podLives(pod: Stored<PartialObjectMetadata>): void {
    const facts = podFacts(pod);
    const group = facts === undefined ? undefined : this.#groupOf(pod, facts);
    if (facts === undefined || group === undefined) {
      // It may have been a member until its Job was deleted without its Pods.
      this.podEnded(pod.metadata.uid);
      this.#report(
        pod,
        `Pod ${pod.metadata.name} wears the label of a JobSet but is none of its Pods`,
      );
      return;
    }
    this.#reportMalformed(pod, facts);
    const spoken = this.#groupOfPod.get(facts.uid)?.spoken;
    const tracked = { ...group, jobUid: facts.jobUid, written: facts, spoken };
    this.#groupOfPod.set(facts.uid, tracked);
    this.#groupOfJob.set(facts.jobUid, group.uid);
    this.#observe(tracked);
  }

  /**
   * What the agent of a Pod says over the hub. An epoch counts as one that is annotated does, the newest
   * of both; it stays known when the agent's stream has ended, since no Pod ever goes back. False if it
   * said a newer epoch before, so that this one changes nothing.
   */
  podSpoke(podUid: string, said: SpokenFacts): boolean {
    const tracked = this.#groupOfPod.get(podUid);
    if (tracked === undefined) return true;
    const { spoken } = tracked;
    const isOld = said.epoch !== undefined && said.epoch < (spoken?.epoch ?? 0);
    if (isOld) return false;
    tracked.spoken = { ...spoken, ...said };
    this.#observe(tracked);
    return true;
  }

  /** Whether the Pod's agent has said anything over the hub, while this process runs. */
  hasSpoken(podUid: string): boolean {
    return this.#groupOfPod.get(podUid)?.spoken !== undefined;
  }

  /** The living Pods of a JobSet with the newest that is known of each. */
  podsOf(jobSetUid: string): Iterable<PodFacts> {
    return this.#groups.get(jobSetUid)?.pods() ?? [];
  }

  /** A Pod that the watch of living Pods does not show any more, for whatever reason. */
  podEnded(podUid: string): void {
    const group = this.#groupOfPod.get(podUid);
    if (group === undefined) return;
    this.#groupOfPod.delete(podUid);
    const counts = this.#groups.get(group.uid);
    if (counts === undefined) return;
    const { jobUid } = group;
    this.#watching(group, counts, jobUid, () => counts.forget(podUid), undefined);
    if (counts.ofJob(jobUid) === undefined) this.#dropUnknownJob(jobUid);
    if (counts.isEmpty()) this.#groups.delete(group.uid);
  }

  podSucceeded(pod: Stored<PartialObjectMetadata>): void {
    const facts = podFacts(pod);
    const group = facts === undefined ? undefined : this.#groupOf(pod, facts);
    if (facts === undefined || group === undefined) return;
    this.#groupOfJob.set(facts.jobUid, group.uid);
    this.#countsOf(group.uid).observeSucceeded(facts);
  }

  /** A Pod that had succeeded was deleted: what it achieved counts as long as its Job is there. */
  succeededPodGone(pod: Stored<PartialObjectMetadata>): void {
    const jobUid = podFacts(pod)?.jobUid;
    if (jobUid !== undefined) this.#dropUnknownJob(jobUid);
  }

  /**
   * A Job whose Pods were counted before it was known may turn out to belong to somebody else. One that
   * the Job controller has suspended has counted its Pods: a success that it lacks came too late.
   */
  jobSeen(job: Stored<Job>): void {
    const counted = this.#groupOfJob.get(job.metadata.uid);
    if (counted === undefined) return;
    const counts = this.#groups.get(counted);
    if (counted === ownerOf(job)?.uid) {
      if (isTrue(job.status?.conditions, 'Suspended')) counts?.forgetJob(job.metadata.uid);
      return;
    }
    for (const pod of counts?.podsOfJob(job.metadata.uid) ?? []) this.podEnded(pod.uid);
    this.jobGone(job.metadata.uid);
  }

  jobGone(jobUid: string): void {
    const group = this.#groupOfJob.get(jobUid);
    if (group === undefined) return;
    const counts = this.#groups.get(group);
    counts?.forgetJob(jobUid);
    if (counts?.isEmpty() === true) this.#groups.delete(group);
    this.#groupOfJob.delete(jobUid);
  }

  #observe(tracked: TrackedPod): void {
    const counts = this.#countsOf(tracked.uid);
    const facts = this.#newest(tracked.written);
    const change = (): boolean => counts.observe(facts, this.#options.nowMs());
    this.#watching(tracked, counts, tracked.jobUid, change, facts);
  }

  /** What a Pod's annotations say, and what its agent said if that is no older. */
  #newest(written: PodFacts): PodFacts {
    const spoken = this.#groupOfPod.get(written.uid)?.spoken;
    if (spoken === undefined) return written;
    const { starts, notice } = spoken;
    const epoch = Math.max(spoken.epoch ?? 0, written.epoch ?? 0);
    return {
      ...written,
      epoch: epoch === 0 ? undefined : epoch,
      ...(starts !== undefined && starts.epoch === epoch ? { starts } : {}),
      ...(notice !== undefined && notice.epoch >= (written.notice?.epoch ?? 0) ? { notice } : {}),
    };
  }

  /** Changes the counts of one Job and tells if that makes its JobSet worth a look. */
  #watching(
    { uid, key }: GroupKey,
    counts: MemberCounts,
    jobUid: string,
    change: () => boolean,
    pod: PodFacts | undefined,
  ): void {
    const watch = this.#watches.get(uid);
    const before = watch?.countsOf(jobUid, counts);
    const hadEnding = counts.hasEnding;
    if (!change() || watch === undefined || before === undefined) return;
    watch.move(before, watch.countsOf(jobUid, counts));
    // The first is to be looked at when it is overdue, with whatever others there are by then.
    const isFirstOrLast = hadEnding !== counts.hasEnding;
    if (watch.isNews(pod) || watch.isComplete() || isFirstOrLast) this.#options.onInterest(key);
  }

  /** Streams of Pods and Jobs come in no common order: a Pod may be seen when its Job is gone. */
  #dropUnknownJob(jobUid: string): void {
    if (this.#options.jobByUid(jobUid) === undefined) this.jobGone(jobUid);
  }

  /**
   * By owner chain, Pod -> Job -> JobSet. A Pod whose Job is gone, or has not arrived here yet, is
   * believed to be what its label says: it may still be running something.
   */
  #groupOf({ metadata }: Stored<PartialObjectMetadata>, facts: PodFacts): GroupKey | undefined {
    const job = this.#options.jobByUid(facts.jobUid);
    const owner = job === undefined ? labelledOwner(metadata.labels) : ownerOf(job);
    return owner === undefined
      ? undefined
      : { uid: owner.uid, key: `${metadata.namespace ?? ''}/${owner.name}` };
  }

  #countsOf(jobSetUid: string): MemberCounts {
    let counts = this.#groups.get(jobSetUid);
    if (counts === undefined) {
      counts = new MemberCounts();
      this.#groups.set(jobSetUid, counts);
    }
    return counts;
  }

  #reportMalformed(pod: Stored<PartialObjectMetadata>, facts: PodFacts): void {
    const { malformedEpoch, malformedAttempt, epoch, name } = facts;
    const tell = (annotation: string, text: string, least: number): void => {
      const outcome = epoch === undefined ? 'the Pod counts as missing' : 'it is ignored';
      const problem = `annotation ${annotation} of Pod ${name} is "${text}", expected an integer from ${least} to ${least + 2_147_483_646}; ${outcome}`;
      this.#report(pod, problem);
    };
    if (malformedEpoch !== undefined) tell(EPOCH, malformedEpoch, 1);
    if (malformedAttempt !== undefined) tell(IN_PLACE_RESTART_ATTEMPT, malformedAttempt, 0);
  }

  #report({ metadata }: Stored<PartialObjectMetadata>, problem: string): void {
    const name = metadata.labels?.[JOBSET_NAME];
    if (name === undefined) return;
    const jobSet = `${metadata.namespace ?? ''}/${name}`;
    this.#options.onStray({ jobSet, podUid: metadata.uid, problem });
  }
}

const NO_MEMBERS: Members = new MemberCounts();

interface GroupKey {
  /** Of the JobSet. */
  readonly uid: string;
  /** Its `namespace/name`. */
  readonly key: string;
}

/** The JobSet that controls a Job or a Service, or undefined. */
export function ownerOf(
  child: KubeObject,
): { readonly uid: string; readonly name: string } | undefined {
  const owner = controllerOf(child.metadata);
  const isJobSet = owner?.kind === JOBSETS.kind && owner.apiVersion.startsWith(`${JOBSET_GROUP}/`);
  return isJobSet ? { uid: owner.uid, name: owner.name } : undefined;
}

function labelledOwner(
  labels: PartialObjectMetadata['metadata']['labels'],
): { readonly uid: string; readonly name: string } | undefined {
  const uid = labels?.[JOBSET_UID];
  const name = labels?.[JOBSET_NAME];
  return uid === undefined || name === undefined ? undefined : { uid, name };
}
