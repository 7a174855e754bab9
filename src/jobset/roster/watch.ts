/** Decides when a group has reached its watchpoint. */
import type { Members } from './members.ts';
import { MAX_AGENT_STARTS, type PodFacts } from './pod-facts.ts';

/** The changes of Pods that call for another decision. */
export interface Watchpoint {
  /** C: more than this, or a notice of this, is news. */
  readonly epoch: number;
  /** How many announcements of C by Pods of `jobs` may release their stages; 0: none can. */
  readonly slots: number;
  /** UIDs of the Jobs whose stages are released next. */
  readonly jobs: ReadonlySet<string>;
  /** UIDs of Jobs that have never run: their unknown Pods do not delay a release. */
  readonly neverRun: ReadonlySet<string>;
}

/**
 * A watchpoint, and how far its group is from it. It begins with the counts of all Jobs. After that it
 * takes the changed counts of one Job at a time, so a Pod event costs O(1).
 */
export class GroupWatch {
  readonly #watchpoint: Watchpoint;
  /** Announcements that the next release waits for. */
  #arrived = 0;
  /** Pods that are not known to have left an earlier epoch. */
  #behind = 0;

  constructor(watchpoint: Watchpoint, members: Members) {
    this.#watchpoint = watchpoint;
    for (const uid of members.jobsWithLivingPods()) {
      this.move(NO_COUNTS, this.countsOf(uid, members));
    }
  }

  countsOf(jobUid: string, members: Members): WatchedCounts {
    const { epoch, jobs, neverRun } = this.#watchpoint;
    const pods = members.ofJob(jobUid);
    return {
      arrived: jobs.has(jobUid) ? (pods?.liveAt(epoch) ?? 0) : 0,
      behind: neverRun.has(jobUid) ? 0 : (pods?.otherThan(epoch) ?? 0),
    };
  }

  move(before: WatchedCounts, after: WatchedCounts): void {
    this.#arrived += after.arrived - before.arrived;
    this.#behind += after.behind - before.behind;
  }

  /** Whether all required members have arrived. */
  isFull(): boolean {
    const { slots } = this.#watchpoint;
    return slots > 0 && this.#arrived >= slots;
  }

  isComplete(): boolean {
    return this.isFull() && this.#behind === 0;
  }

  /** A failure, a notice of one, or an agent whose worker does not start. */
  isNews(pod: PodFacts | undefined): boolean {
    if (pod === undefined) return false;
    const { epoch } = this.#watchpoint;
    const { starts } = pod;
    const isCrashing = starts?.epoch === epoch && starts.starts > MAX_AGENT_STARTS;
    return (pod.epoch ?? 0) > epoch || pod.notice?.epoch === epoch || isCrashing;
  }
}

export interface WatchedCounts {
  readonly arrived: number;
  readonly behind: number;
}

const NO_COUNTS: WatchedCounts = { arrived: 0, behind: 0 };
