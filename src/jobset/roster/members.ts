import { invariant } from '../invariant.ts';
import { MAX_AGENT_STARTS, type PodFacts } from './pod-facts.ts';

/**
 * The Pods of one JobSet, counted as their metadata changes. A Pod event costs O(1), however large
 * the group is, and a decision reads counts per Job, never Pods. The input is Pods as the watches of
 * living and of succeeded Pods show them, with what their agents have said since (`said.ts`). So
 * counting again from scratch gives the same counts.
 */
export interface Members {
  /** Undefined for a Job without known Pods. */
  ofJob(jobUid: string): JobMembers | undefined;
  /** UIDs of all Jobs with a living Pod. */
  jobsWithLivingPods(): Iterable<string>;
  /** All living Pods of one Job. */
  podsOfJob(jobUid: string): Iterable<PodFacts>;
  /** Epochs that Pods announce now, without Pods in deletion. Few: two or three at a time. */
  announcedEpochs(): Iterable<number>;
  /** Pods that announce `epoch`, without Pods in deletion, in order of their announcements. */
  announcing(epoch: number): Iterable<PodFacts>;
  /** The number of Pods that `announcing` lists. */
  countAnnouncing(epoch: number): number;
  /** Pods with a notice of `epoch`, without Pods in deletion. */
  noticing(epoch: number): Iterable<PodFacts>;
  /** Pods whose agent has started too often for `epoch`, without Pods in deletion. */
  crashing(epoch: number): Iterable<PodFacts>;
  /** Pods in deletion that still live. */
  ending(): Iterable<PodFacts>;
  /** When an announcement last changed, by the clock of the caller of `observe`. */
  readonly lastAnnouncementMs: number | undefined;
}

export interface JobMembers {
  /** Living Pods, without those in deletion. */
  readonly live: number;
  /** Pods in deletion that still live. */
  readonly terminating: number;
  /** Completion indexes that have more than one live Pod. */
  readonly doubledSlots: number;
  /** How many of the live Pods announce `epoch`. */
  liveAt(epoch: number): number;
  /**
   * How many Pods, including those in deletion, are known to announce something lower than `epoch`.
   */
  below(epoch: number): number;
  /** How many Pods, including those in deletion, are not known to announce `epoch`. */
  otherThan(epoch: number): number;
  /** Whether a Pod of that completion index lives, in deletion or not. */
  hasPodIn(slot: string): boolean;
  /** Whether a Pod of a completion index of `size` or more lives, without Pods in deletion. */
  hasLivePodBeyond(size: number): boolean;
  /** Completion indexes with a succeeded Pod; for a NonIndexed Job, Pods. */
  readonly succeeded: ReadonlySet<string>;
}

/** The counts behind `Members`. */
export class MemberCounts implements Members {
  readonly #pods = new Map<string, PodFacts>();
  readonly #jobs = new Map<string, JobCounts>();
  readonly #announcing = new Map<number, Map<string, PodFacts>>();
  readonly #noticing = new Map<number, Map<string, PodFacts>>();
  readonly #crashing = new Map<number, Map<string, PodFacts>>();
  readonly #ending = new Map<string, PodFacts>();
  #lastAnnouncementMs: number | undefined;

  get lastAnnouncementMs(): number | undefined {
    return this.#lastAnnouncementMs;
  }

  /** Takes the newest facts of a living Pod. False if they change nothing. */
  observe(pod: PodFacts, nowMs: number): boolean {
    const old = this.#pods.get(pod.uid);
    if (old !== undefined && saysTheSame(old, pod)) return false;
    if (old !== undefined) this.#count(old, -1);
    if (old?.epoch !== pod.epoch) this.#lastAnnouncementMs = nowMs;
    this.#pods.set(pod.uid, pod);
    this.#count(pod, 1);
    return true;
  }

  /** The Pod with that UID does not live any more. False if it was not known to live. */
  forget(podUid: string): boolean {
    const old = this.#pods.get(podUid);
    if (old === undefined) return false;
    this.#pods.delete(podUid);
    this.#count(old, -1);
    return true;
  }

  /** A Pod that succeeded only because it was told to end does not count for its Job. */
  observeSucceeded(pod: PodFacts): void {
    if (pod.isDiscarded === true) return;
    this.#job(pod.jobUid).succeeded.add(pod.slot ?? pod.uid);
  }

  /** The Job is gone, so the successes of its Pods do not count any more. */
  forgetJob(jobUid: string): void {
    const job = this.#jobs.get(jobUid);
    if (job === undefined) return;
    job.succeeded.clear();
    this.#dropIfEmpty(jobUid, job);
  }

  isEmpty(): boolean {
    return this.#jobs.size === 0;
  }

  ofJob(jobUid: string): JobMembers | undefined {
    return this.#jobs.get(jobUid);
  }

  *jobsWithLivingPods(): Iterable<string> {
    for (const [uid, job] of this.#jobs) if (job.live + job.terminating > 0) yield uid;
  }

  announcedEpochs(): Iterable<number> {
    return this.#announcing.keys();
  }

  countAnnouncing(epoch: number): number {
    return this.#announcing.get(epoch)?.size ?? 0;
  }

  /** All that live. */
  pods(): Iterable<PodFacts> {
    return this.#pods.values();
  }

  *podsOfJob(jobUid: string): Iterable<PodFacts> {
    for (const uid of this.#jobs.get(jobUid)?.pods ?? []) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) yield pod;
    }
  }

  announcing(epoch: number): Iterable<PodFacts> {
    return this.#announcing.get(epoch)?.values() ?? [];
  }

  noticing(epoch: number): Iterable<PodFacts> {
    return this.#noticing.get(epoch)?.values() ?? [];
  }

  crashing(epoch: number): Iterable<PodFacts> {
    return this.#crashing.get(epoch)?.values() ?? [];
  }

  /** Whether `ending` lists any. */
  get hasEnding(): boolean {
    return this.#ending.size > 0;
  }

  ending(): Iterable<PodFacts> {
    return this.#ending.values();
  }

  #count(pod: PodFacts, by: 1 | -1): void {
    const job = this.#job(pod.jobUid);
    job.count(pod, by);
    this.#dropIfEmpty(pod.jobUid, job);
    if (pod.isTerminating) {
      if (by === 1) this.#ending.set(pod.uid, pod);
      else this.#ending.delete(pod.uid);
      return;
    }
    if (pod.epoch !== undefined) list(this.#announcing, pod.epoch, pod, by);
    if (pod.notice !== undefined) list(this.#noticing, pod.notice.epoch, pod, by);
    const { starts } = pod;
    if (starts !== undefined && starts.starts > MAX_AGENT_STARTS) {
      list(this.#crashing, starts.epoch, pod, by);
    }
  }

  #job(uid: string): JobCounts {
    let job = this.#jobs.get(uid);
    if (job === undefined) {
      job = new JobCounts();
      this.#jobs.set(uid, job);
    }
    return job;
  }

  #dropIfEmpty(uid: string, job: JobCounts): void {
    if (job.live + job.terminating + job.succeeded.size === 0) this.#jobs.delete(uid);
  }
}

class JobCounts implements JobMembers {
  live = 0;
  terminating = 0;
  doubledSlots = 0;
  readonly succeeded = new Set<string>();
  /** UIDs of all that live. */
  readonly pods = new Set<string>();
  readonly #livePodsOfSlot = new Map<string, number>();
  readonly #endingPodsOfSlot = new Map<string, number>();
  readonly #liveAtEpoch = new Map<number, number>();
  /** Live and terminating. */
  readonly #allAtEpoch = new Map<number, number>();

  count(pod: PodFacts, by: 1 | -1): void {
    const left = (pod.isTerminating ? this.terminating : this.live) + by;
    invariant(left >= 0, () => `Job ${pod.jobName} has ${left} Pods after ${pod.name} went`);
    if (by === 1) this.pods.add(pod.uid);
    else this.pods.delete(pod.uid);
    if (pod.epoch !== undefined) add(this.#allAtEpoch, pod.epoch, by);
    if (pod.isTerminating) {
      this.terminating += by;
      if (pod.slot !== undefined) add(this.#endingPodsOfSlot, pod.slot, by);
      return;
    }
    this.live += by;
    if (pod.epoch !== undefined) add(this.#liveAtEpoch, pod.epoch, by);
    if (pod.slot === undefined) return;
    const before = this.#livePodsOfSlot.get(pod.slot) ?? 0;
    add(this.#livePodsOfSlot, pod.slot, by);
    if (before === 1 && by === 1) this.doubledSlots++;
    if (before === 2 && by === -1) this.doubledSlots--;
  }

  liveAt(epoch: number): number {
    return this.#liveAtEpoch.get(epoch) ?? 0;
  }

  below(epoch: number): number {
    let sum = 0;
    for (const [announced, pods] of this.#allAtEpoch) if (announced < epoch) sum += pods;
    return sum;
  }

  hasPodIn(slot: string): boolean {
    return this.#livePodsOfSlot.has(slot) || this.#endingPodsOfSlot.has(slot);
  }

  hasLivePodBeyond(size: number): boolean {
    for (const slot of this.#livePodsOfSlot.keys()) if (Number(slot) >= size) return true;
    return false;
  }

  otherThan(epoch: number): number {
    return this.live + this.terminating - (this.#allAtEpoch.get(epoch) ?? 0);
  }
}

/** Whether a Pod's metadata changed in nothing that counts. */
function saysTheSame(a: PodFacts, b: PodFacts): boolean {
  return (
    a.jobUid === b.jobUid &&
    a.slot === b.slot &&
    a.epoch === b.epoch &&
    a.isTerminating === b.isTerminating &&
    a.endMs === b.endMs &&
    a.lostNodeDeadlineMs === b.lostNodeDeadlineMs &&
    a.malformedEpoch === b.malformedEpoch &&
    a.malformedAttempt === b.malformedAttempt &&
    a.notice?.epoch === b.notice?.epoch &&
    a.starts?.epoch === b.starts?.epoch &&
    a.starts?.starts === b.starts?.starts
  );
}

function add<K>(counts: Map<K, number>, key: K, by: 1 | -1): void {
  const sum = (counts.get(key) ?? 0) + by;
  invariant(sum >= 0, () => `${sum} Pods are counted at ${String(key)}`);
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

function list(
  lists: Map<number, Map<string, PodFacts>>,
  epoch: number,
  pod: PodFacts,
  by: 1 | -1,
): void {
  let pods = lists.get(epoch);
  if (by === 1) {
    if (pods === undefined) {
      pods = new Map();
      lists.set(epoch, pods);
    }
    pods.set(pod.uid, pod);
    return;
  }
  pods?.delete(pod.uid);
  if (pods?.size === 0) lists.delete(epoch);
}
