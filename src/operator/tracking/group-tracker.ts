import type { Watchpoint } from '../../jobset/epoch/in-place-restart.ts';
import { MemberCounts, type Members } from '../../jobset/epoch/members.ts';
import type { Notice } from '../../jobset/epoch/notice.ts';
import { type AgentStarts, type PodFacts, podFacts } from '../../jobset/epoch/pod-facts.ts';
import {
  type Membership,
  membershipOf,
  type Owner,
  ownerKey,
  ownerOf,
} from '../../jobset/membership.ts';
import { EPOCH, IN_PLACE_RESTART_ATTEMPT, JOBSET_NAME } from '../../jobset/names.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import { cutToBytes } from '../../kube/cut-to-bytes.ts';
import type { PartialObjectMetadata, Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import { GroupWatch } from './group-watch.ts';

/**
 * Keeps the counts of every JobSet's Pods and tells when one is worth another look: not for every
 * announcement of a group that gathers at its barrier, but for a failure, for the last one to
 * arrive, and for whatever was in the way. One Pod event costs O(1).
 */
export interface GroupTrackerOptions {
  /** In whatever namespace it is. */
  readonly jobWithUid: (uid: string) => Stored<Job> | undefined;
  /** `namespace/name` of a JobSet that may have something to decide. */
  readonly onInterest: (key: string) => void;
  readonly onStray: (stray: StrayPod) => void;
  readonly nowMs: () => number;
}

/**
 * A Pod that wears a JobSet's label, or announces an epoch, and may not
 * (`docs/design/end-hazards.md#an-object-claims-an-owner-it-does-not-have`).
 */
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

interface TrackedPod extends Group {
  readonly pod: Stored<PartialObjectMetadata>;
  readonly jobUid: string;
  /** False if its Job is not known: then it is in the way of a release, and nothing else. */
  readonly isMember: boolean;
  /** As its annotations say. */
  readonly written: PodFacts;
  /** As its agent said, while this process runs: soft state, of which agents repeat what matters. */
  spoken: SpokenFacts | undefined;
}

export class GroupTracker {
  readonly #options: GroupTrackerOptions;
  /** By `ownerKey` of the JobSet. */
  readonly #groups = new Map<string, MemberCounts>();
  readonly #watches = new Map<string, GroupWatch>();
  /** By UID of the Pod. */
  readonly #tracked = new Map<string, TrackedPod>();
  /** Pods of Jobs that are not known, by UID of the Job and of the Pod. */
  readonly #claimants = new Map<string, Map<string, Claimant>>();

  constructor(options: GroupTrackerOptions) {
    this.#options = options;
  }

  members(jobSet: Owner): Members {
    return this.#groups.get(ownerKey(jobSet)) ?? NO_MEMBERS;
  }

  /** Sets what `onInterest` is called for. Call it in the turn in which the counts were read. */
  watch(jobSet: Owner, watchpoint: Watchpoint | undefined): void {
    const key = ownerKey(jobSet);
    if (watchpoint === undefined) this.#watches.delete(key);
    else this.#watches.set(key, new GroupWatch(watchpoint, this.members(jobSet)));
  }

  /** Counts a list of living Pods by itself, beside what the watches show. */
  census(jobSet: Owner, living: readonly Stored<PartialObjectMetadata>[]): Members {
    const counts = new MemberCounts();
    const key = ownerKey(jobSet);
    for (const pod of living) {
      const facts = podFacts(pod);
      if (facts === undefined || this.#groupOf(pod)?.group !== key) continue;
      counts.observe(this.#newest(facts), this.#options.nowMs());
    }
    return counts;
  }

  /** A Pod that lives, as the watch of living Pods shows it. */
  podLives(pod: Stored<PartialObjectMetadata>): void {
    const { uid } = pod.metadata;
    const facts = podFacts(pod);
    const group = facts === undefined ? undefined : this.#groupOf(pod);
    const known = this.#tracked.get(uid);
    // Labels and owner references may change: what it was counted for before it is not any more.
    const hasMoved =
      known !== undefined && (known.group !== group?.group || known.jobUid !== facts?.jobUid);
    if (hasMoved) this.podEnded(uid);
    if (facts === undefined || group === undefined) {
      const problem = 'wears the label of a JobSet but is none of its Pods';
      this.#report(pod, `Pod ${pod.metadata.name} ${problem}`);
      return;
    }
    this.#reportMalformed(pod, facts);
    this.#claim(pod, facts.jobUid, group.isMember ? undefined : 'Lives');
    const tracked = { ...group, pod, jobUid: facts.jobUid, written: facts, spoken: known?.spoken };
    this.#tracked.set(uid, tracked);
    this.#observe(tracked);
  }

  /**
   * What the agent of a Pod says over the hub. An epoch counts as one that is annotated does, the newest
   * of both; it stays known when the agent's stream has ended, since no Pod ever goes back. False if it
   * said a newer epoch before, so that this one changes nothing.
   */
  podSpoke(podUid: string, said: SpokenFacts): boolean {
    const tracked = this.#tracked.get(podUid);
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
    return this.#tracked.get(podUid)?.spoken !== undefined;
  }

  /** The living members of the JobSet with that `ownerKey`, with the newest that is known of each. */
  *podsOf(group: string): Iterable<PodFacts> {
    for (const pod of this.#groups.get(group)?.pods() ?? []) {
      if (this.#tracked.get(pod.uid)?.isMember === true) yield pod;
    }
  }

  /** A Pod that the watch of living Pods does not show any more, for whatever reason. */
  podEnded(podUid: string): void {
    const tracked = this.#tracked.get(podUid);
    if (tracked === undefined) return;
    this.#tracked.delete(podUid);
    this.#claim(tracked.pod, tracked.jobUid, undefined);
    const counts = this.#groups.get(tracked.group);
    if (counts === undefined) return;
    this.#watching(tracked, counts, tracked.jobUid, () => counts.forget(podUid), undefined);
    if (counts.isEmpty()) this.#groups.delete(tracked.group);
  }

  /** Success counts as soon as the Pod's Job is known, and not before. */
  podSucceeded(pod: Stored<PartialObjectMetadata>): void {
    const facts = podFacts(pod);
    const group = facts === undefined ? undefined : this.#groupOf(pod);
    if (facts === undefined || group === undefined) return;
    this.#claim(pod, facts.jobUid, group.isMember ? undefined : 'Succeeded');
    if (group.isMember) this.#countsOf(group.group).observeSucceeded(facts);
  }

  /** A Pod that had succeeded was deleted: what it achieved counts as long as its Job is there. */
  succeededPodGone(pod: Stored<PartialObjectMetadata>): void {
    const jobUid = podFacts(pod)?.jobUid;
    if (jobUid !== undefined) this.#claim(pod, jobUid, undefined);
  }

  /**
   * Pods may have arrived before their Job. One that the Job controller has suspended has counted its
   * Pods: a success that it lacks came too late.
   */
  jobSeen(job: Stored<Job>): void {
    const { uid } = job.metadata;
    const claimants = this.#claimants.get(uid)?.values() ?? [];
    this.#claimants.delete(uid);
    for (const { pod, state } of claimants) {
      if (state === 'Lives') this.podLives(pod);
      else this.podSucceeded(pod);
    }
    const owner = ownerOf(job);
    if (owner === undefined || !isTrue(job.status?.conditions, 'Suspended')) return;
    const group = ownerKey(owner);
    const counts = this.#groups.get(group);
    counts?.forgetJob(uid);
    if (counts?.isEmpty() === true) this.#groups.delete(group);
  }

  /** A Job is gone, or another JobSet's than it was; `job` is what it was. */
  jobGone(job: Stored<Job>): void {
    const owner = ownerOf(job);
    const group = owner === undefined ? undefined : ownerKey(owner);
    const counts = group === undefined ? undefined : this.#groups.get(group);
    if (group === undefined || counts === undefined) return;
    const { uid } = job.metadata;
    counts.forgetJob(uid);
    // Those that still live have to be judged again.
    const living = counts.ofJob(uid) === undefined ? [] : counts.podsOfJob(uid);
    for (const pod of living) {
      const tracked = this.#tracked.get(pod.uid);
      if (tracked !== undefined) this.podLives(tracked.pod);
    }
    if (counts.isEmpty()) this.#groups.delete(group);
  }

  /** Keeps Pods of unknown Jobs until they end or their Job is seen. */
  #claim(
    pod: Stored<PartialObjectMetadata>,
    jobUid: string,
    state: Claimant['state'] | undefined,
  ): void {
    const { uid } = pod.metadata;
    const pods = this.#claimants.get(jobUid);
    if (state !== undefined) {
      if (pods === undefined) this.#claimants.set(jobUid, new Map([[uid, { pod, state }]]));
      else pods.set(uid, { pod, state });
      return;
    }
    pods?.delete(uid);
    if (pods?.size === 0) this.#claimants.delete(jobUid);
  }

  #observe(tracked: TrackedPod): void {
    const counts = this.#countsOf(tracked.group);
    const facts = this.#newest(tracked.written);
    const change = (): boolean => counts.observe(facts, this.#options.nowMs());
    this.#watching(tracked, counts, tracked.jobUid, change, facts);
  }

  /** What a Pod's annotations say, and what its agent said if that is no older. */
  #newest(written: PodFacts): PodFacts {
    const spoken = this.#tracked.get(written.uid)?.spoken;
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
    { group, key }: Group,
    counts: MemberCounts,
    jobUid: string,
    change: () => boolean,
    pod: PodFacts | undefined,
  ): void {
    const watch = this.#watches.get(group);
    const before = watch?.countsOf(jobUid, counts);
    const hadEnding = counts.hasEnding;
    if (!change() || watch === undefined || before === undefined) return;
    const wasFull = watch.isFull();
    watch.move(before, watch.countsOf(jobUid, counts));
    // What is in the way then, and is not going, has to be said.
    const isJustFull = watch.isFull() && !wasFull;
    // The first is to be looked at when it is overdue, with whatever others there are by then.
    const isFirstOrLast = hadEnding !== counts.hasEnding;
    if (watch.isNews(pod) || isJustFull || watch.isComplete() || isFirstOrLast) {
      this.#options.onInterest(key);
    }
  }

  #groupOf(
    pod: Stored<PartialObjectMetadata>,
  ): (Group & { readonly isMember: boolean }) | undefined {
    const found: Membership = membershipOf(pod, this.#options.jobWithUid);
    if (found.kind === 'Stranger') return undefined;
    const { namespace, name } = found.jobSet;
    const group = ownerKey(found.jobSet);
    return { group, key: `${namespace}/${name}`, isMember: found.kind === 'Member' };
  }

  #countsOf(group: string): MemberCounts {
    let counts = this.#groups.get(group);
    if (counts === undefined) {
      counts = new MemberCounts();
      this.#groups.set(group, counts);
    }
    return counts;
  }

  #reportMalformed(pod: Stored<PartialObjectMetadata>, facts: PodFacts): void {
    const { malformedEpoch, malformedAttempt, epoch, name } = facts;
    const tell = (annotation: string, text: string, least: number): void => {
      const outcome = epoch === undefined ? 'the Pod counts as missing' : 'it is ignored';
      const problem = `annotation ${annotation} of Pod ${name} is "${cutToBytes(text, MAX_SHOWN_BYTES)}", expected an integer from ${least} to ${least + 2_147_483_646}; ${outcome}`;
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

/** Of an annotation, which may have 256 KiB: what is reported is remembered. */
const MAX_SHOWN_BYTES = 100;

interface Group {
  /** `ownerKey` of the JobSet. */
  readonly group: string;
  /** Its `namespace/name`. */
  readonly key: string;
}

/** A Pod whose Job is not known. */
interface Claimant {
  readonly pod: Stored<PartialObjectMetadata>;
  readonly state: 'Lives' | 'Succeeded';
}
