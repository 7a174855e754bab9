/**
 * Counts the Pods of every JobSet, and decides when a JobSet is worth another look: after a failure,
 * the last arrival at a barrier, or a change of a Pod that delays a release. It does not report the
 * other announcements. One Pod event costs O(1).
 */

import { cutToBytes } from '@lockstep/kube/cut-to-bytes.ts';
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Watchpoint } from '../../jobset/epoch/in-place-restart.ts';
import {
  isSame,
  jobOf,
  membershipOf,
  type Owner,
  ownerKey,
  ownerOf,
} from '../../jobset/membership.ts';
import { EPOCH, IN_PLACE_RESTART_ATTEMPT, JOBSET_NAME } from '../../jobset/names.ts';
import { MemberCounts, type Members } from '../../jobset/roster/members.ts';
import { type PodFacts, podFacts } from '../../jobset/roster/pod-facts.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import { GroupWatch } from './group-watch.ts';
import { newestFacts, type SpokenFacts } from './spoken-facts.ts';

export interface GroupTrackerOptions {
  /** In any namespace. */
  readonly jobWithUid: (uid: string) => Stored<Job> | undefined;
  readonly nowMs: () => number;
}

/** Receives changes of the Pods of JobSets. */
export interface GroupHandler {
  /** `namespace/name` of a JobSet that may have something to decide. */
  interest(key: string): void;
  stray(stray: InvalidPod): void;
}

/**
 * A Pod that has a JobSet's label or announces an epoch, but is not a member
 * (`docs/design/end-hazards.md#an-object-claims-an-owner-it-does-not-have`).
 */
export interface InvalidPod {
  /** `namespace/name` of the JobSet that it names. */
  readonly jobSet: string;
  readonly podUid: string;
  /** What is wrong, with the name of the Pod. */
  readonly problem: string;
}

/**
 * A living Pod: the object of the informer's cache, and the words of its agent. The group counts the
 * newest of both.
 */
interface LivePod {
  /** As the cache holds it. */
  pod: Stored<PartialObjectMetadata>;
  readonly group: Group;
  /** False if its Job is unknown: then it only holds up a release. */
  isMember: boolean;
  /**
   * According to its agent, while this process runs: soft state, which agents repeat if it matters.
   */
  spoken: SpokenFacts | undefined;
}

/** What is counted for one JobSet, and what its next decision waits for. */
interface Group {
  readonly jobSet: Owner;
  readonly counts: MemberCounts;
  watch: GroupWatch | undefined;
}

export class GroupTracker {
  readonly #options: GroupTrackerOptions;
  /** By `ownerKey` of the JobSet. */
  readonly #groups = new Map<string, Group>();
  /** By UID. */
  readonly #live = new Map<string, LivePod>();
  /** Pods of unknown Jobs, by UID of the Job and of the Pod. */
  readonly #claimants = new Map<string, Map<string, Claimant>>();

  #handler: GroupHandler | undefined;

  constructor(options: GroupTrackerOptions) {
    this.#options = options;
  }

  /** Before the first Pod is shown. */
  subscribe(handler: GroupHandler): void {
    this.#handler = handler;
  }

  members(jobSet: Owner): Members {
    return this.#groups.get(ownerKey(jobSet))?.counts ?? NO_MEMBERS;
  }

  /** Sets what `onInterest` is called for. Call it in the turn in which the counts were read. */
  watch(jobSet: Owner, watchpoint: Watchpoint | undefined): void {
    if (watchpoint === undefined) {
      const group = this.#groups.get(ownerKey(jobSet));
      if (group === undefined) return;
      group.watch = undefined;
      this.#dropIfEmpty(group);
    } else {
      const group = this.#groupOf(jobSet);
      group.watch = new GroupWatch(watchpoint, group.counts);
    }
  }

  /** Counts a list of living Pods by itself, apart from what the watches show. */
  countAgain(jobSet: Owner, living: readonly Stored<PartialObjectMetadata>[]): Members {
    const counts = new MemberCounts();
    for (const pod of living) {
      const facts = podFacts(pod);
      if (facts === undefined || !isSame(this.#judge(pod)?.jobSet, jobSet)) continue;
      const spoken = this.#live.get(facts.uid)?.spoken;
      counts.observe(newestFacts(facts, spoken), this.#options.nowMs());
    }
    return counts;
  }

  /** A living Pod, from the watch of living Pods. */
  podLives(pod: Stored<PartialObjectMetadata>): void {
    const { uid } = pod.metadata;
    const facts = podFacts(pod);
    const judged = facts === undefined ? undefined : this.#judge(pod);
    const known = this.#live.get(uid);
    // Labels and owner references may change, so that it belongs elsewhere now.
    const hasMoved =
      known !== undefined &&
      (!isSame(judged?.jobSet, known.group.jobSet) || jobUidOf(known.pod) !== facts?.jobUid);
    if (hasMoved) this.podEnded(uid);
    if (facts === undefined || judged === undefined) {
      const problem = 'has the label of a JobSet but is not one of its Pods';
      this.#report(pod, `Pod ${pod.metadata.name} ${problem}`);
      return;
    }
    this.#reportMalformed(pod, facts);
    const { jobSet, isMember } = judged;
    this.#claim(pod, facts.jobUid, isMember ? undefined : 'Lives');
    const live =
      known === undefined || hasMoved
        ? { pod, group: this.#groupOf(jobSet), isMember, spoken: known?.spoken }
        : Object.assign(known, { pod, isMember });
    this.#live.set(uid, live);
    this.#observe(live, facts);
  }

  /**
   * What the agent of a Pod says over the hub. An epoch counts like an annotated one, and the
   * newest of both wins. It stays known after the stream has ended, because no Pod ever goes back.
   * False if the agent said a newer epoch before, so that this one changes nothing.
   */
  podSpoke(podUid: string, said: SpokenFacts): boolean {
    const live = this.#live.get(podUid);
    if (live === undefined) return true;
    const isOld = said.epoch !== undefined && said.epoch < (live.spoken?.epoch ?? 0);
    if (isOld) return false;
    live.spoken = { ...live.spoken, ...said };
    const written = podFacts(live.pod);
    if (written !== undefined) this.#observe(live, written);
    return true;
  }

  /** A living Pod, and what its agent has said over the hub while this process runs. */
  livePod(podUid: string): Readonly<Pick<LivePod, 'pod' | 'spoken'>> | undefined {
    return this.#live.get(podUid);
  }

  /** The living members of the JobSet with that `ownerKey`, with the newest facts of each. */
  *podsOf(group: string): Iterable<PodFacts> {
    for (const pod of this.#groups.get(group)?.counts.pods() ?? []) {
      if (this.#live.get(pod.uid)?.isMember === true) yield pod;
    }
  }

  /** A Pod that the watch of living Pods does not show any more, for any reason. */
  podEnded(podUid: string): void {
    const live = this.#live.get(podUid);
    if (live === undefined) return;
    this.#live.delete(podUid);
    const { pod, group } = live;
    const jobUid = jobUidOf(pod);
    this.#claim(pod, jobUid, undefined);
    this.#watching(group, jobUid, () => group.counts.forget(podUid), undefined);
    this.#dropIfEmpty(group);
  }

  /** Success counts as soon as the Pod's Job is known, and not before. */
  podSucceeded(pod: Stored<PartialObjectMetadata>): void {
    const facts = podFacts(pod);
    const judged = facts === undefined ? undefined : this.#judge(pod);
    if (facts === undefined || judged === undefined) return;
    const { jobSet, isMember } = judged;
    this.#claim(pod, facts.jobUid, isMember ? undefined : 'Succeeded');
    if (isMember) this.#groupOf(jobSet).counts.observeSucceeded(facts);
  }

  /** A Pod that had succeeded was deleted: its success counts as long as its Job exists. */
  succeededPodGone(pod: Stored<PartialObjectMetadata>): void {
    this.#claim(pod, jobUidOf(pod), undefined);
  }

  /**
   * Pods may have arrived before their Job. A suspended Job has counted its Pods: a success that it
   * lacks came too late.
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
    const group = this.#groups.get(ownerKey(owner));
    if (group === undefined) return;
    group.counts.forgetJob(uid);
    this.#dropIfEmpty(group);
  }

  /** A Job is gone, or belongs to another JobSet than before; `job` is its last state. */
  jobGone(job: Stored<Job>): void {
    const owner = ownerOf(job);
    const group = owner === undefined ? undefined : this.#groups.get(ownerKey(owner));
    if (group === undefined) return;
    const { counts } = group;
    const { uid } = job.metadata;
    counts.forgetJob(uid);
    // Pods that still live have to be judged again.
    const living = counts.ofJob(uid) === undefined ? [] : counts.podsOfJob(uid);
    for (const pod of living) {
      const live = this.#live.get(pod.uid);
      if (live !== undefined) this.podLives(live.pod);
    }
    this.#dropIfEmpty(group);
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

  #observe({ group, spoken }: LivePod, written: PodFacts): void {
    const facts = newestFacts(written, spoken);
    const change = (): boolean => group.counts.observe(facts, this.#options.nowMs());
    this.#watching(group, facts.jobUid, change, facts);
  }

  /** Changes the counts of one Job, and reports its JobSet if that makes it worth a look. */
  #watching(
    { jobSet, counts, watch }: Group,
    jobUid: string,
    change: () => boolean,
    pod: PodFacts | undefined,
  ): void {
    const before = watch?.countsOf(jobUid, counts);
    const hadEnding = counts.hasEnding;
    if (!change() || watch === undefined || before === undefined) return;
    const wasFull = watch.isFull();
    watch.move(before, watch.countsOf(jobUid, counts));
    // A Pod that is in the way then, and is not ending, has to be reported.
    const isJustFull = watch.isFull() && !wasFull;
    // The first deleted Pod is looked at when it is overdue, with all others by then.
    const isFirstOrLast = hadEnding !== counts.hasEnding;
    if (watch.isNews(pod) || isJustFull || watch.isComplete() || isFirstOrLast) {
      this.#handler?.interest(`${jobSet.namespace}/${jobSet.name}`);
    }
  }

  #judge(pod: Stored<PartialObjectMetadata>): Judgement | undefined {
    const found = membershipOf(pod, this.#options.jobWithUid);
    if (found.kind === 'Stranger') return undefined;
    return { jobSet: found.jobSet, isMember: found.kind === 'Member' };
  }

  #groupOf(jobSet: Owner): Group {
    const key = ownerKey(jobSet);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { jobSet, counts: new MemberCounts(), watch: undefined };
      this.#groups.set(key, group);
    }
    return group;
  }

  #dropIfEmpty({ jobSet, counts, watch }: Group): void {
    if (watch === undefined && counts.isEmpty()) this.#groups.delete(ownerKey(jobSet));
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
    const jobSet = `${namespaceOf(metadata)}/${name}`;
    this.#handler?.stray({ jobSet, podUid: metadata.uid, problem });
  }
}

const NO_MEMBERS: Members = new MemberCounts();

/** For annotations, which may have 256 KiB: reports are remembered. */
const MAX_SHOWN_BYTES = 100;

/** To which JobSet a Pod belongs, and whether its Job is known. */
interface Judgement {
  readonly jobSet: Owner;
  readonly isMember: boolean;
}

/** A Pod whose Job is unknown. */
interface Claimant {
  readonly pod: Stored<PartialObjectMetadata>;
  readonly state: 'Lives' | 'Succeeded';
}

function jobUidOf(pod: Stored<PartialObjectMetadata>): string {
  return jobOf(pod)?.uid ?? '';
}
