/** What the controller remembers of one JobSet between two plans. */
import type { PodFacts } from '../../jobset/epoch/pod-facts.ts';
import type { HubReach, Knowledge } from '../../jobset/snapshot.ts';
import type { CountersPutOff } from '../../jobset/status/counters.ts';
import type { ChildJobMemory } from '../tracking/child-job-memory.ts';
import type { ActionOutcome } from './carry-out.ts';

/** No correct decision depends on it: it saves requests and repeated Events. */
export class JobSetMemory {
  /** Pods whose notice of `#noticedEpoch` was looked into, by UID. */
  readonly #notices = new Map<string, { looks: number; againMs: number }>();
  #noticedEpoch: number | undefined;
  readonly #reported = new Set<string>();
  /** Present while the hub has no stream of its agents. */
  #silence: { readonly sinceMs: number; readyPods: number } | undefined;
  countersPutOff: CountersPutOff | undefined;
  readonly jobs: ChildJobMemory;
  /** Successive passes in which a Job could not be made. */
  creationFailures = 0;
  /** Names of volume claims that are known to exist, though the cache may not show them. */
  readonly claims = new Set<string>();
  /** Whether this process has made sure that the agents have their rights. */
  hasAgentRights = false;

  constructor(jobs: ChildJobMemory) {
    this.jobs = jobs;
  }

  knowledge(nowMs: number): Knowledge {
    return {
      isDismissed: (pod) => {
        if (pod.notice === undefined || pod.notice.epoch !== this.#noticedEpoch) return false;
        const notice = this.#notices.get(pod.uid);
        if (notice === undefined) return this.#notices.size >= MAX_NOTICES_PER_EPOCH;
        return notice.looks >= MAX_NOTICE_LOOKS || nowMs < notice.againMs;
      },
      isKnownStray: (pod) => this.#reported.has(announcementKey(pod)),
      countersPutOff: this.countersPutOff,
    };
  }

  /** What an action has brought about: the caches show it later, or never. */
  learn(outcome: ActionOutcome): void {
    switch (outcome.kind) {
      case 'JobWritten':
        this.jobs.wrote(outcome.job);
        break;
      case 'JobDeleted':
        this.jobs.deleted(outcome.job);
        break;
      case 'ClaimExists':
        this.claims.add(outcome.name);
        break;
      case 'RightsGranted':
        this.hasAgentRights = true;
        break;
      case 'JobSetDeleted':
      case 'PodForced':
      case 'Failed':
        break;
    }
  }

  /** `readyPods` are the current ones. */
  hubReach(streams: number, readyPods: number, nowMs: number): HubReach {
    if (streams > 0) {
      this.#silence = undefined;
      return { streams, silentMs: 0, readyPods };
    }
    this.#silence ??= { sinceMs: nowMs, readyPods };
    this.#silence.readyPods = Math.max(this.#silence.readyPods, readyPods);
    const { sinceMs } = this.#silence;
    return { streams, silentMs: nowMs - sinceMs, readyPods: this.#silence.readyPods };
  }

  /**
   * The Pod did not show a failure (yet). Returns when to look again, or undefined after the last
   * time: then the agent's announcement will report it.
   */
  sawNoFailure(pod: PodFacts, nowMs: number): number | undefined {
    if (pod.notice?.epoch !== this.#noticedEpoch) this.#notices.clear();
    this.#noticedEpoch = pod.notice?.epoch;
    const looks = (this.#notices.get(pod.uid)?.looks ?? 0) + 1;
    const delayMs = FIRST_NOTICE_RECHECK_MS * 2 ** (looks - 1);
    this.#notices.set(pod.uid, { looks, againMs: nowMs + delayMs });
    return looks < MAX_NOTICE_LOOKS ? delayMs : undefined;
  }

  /** The Pods announce more than a fresh status allows. */
  sawStrays(pods: readonly PodFacts[]): void {
    for (const pod of pods) this.isNews(announcementKey(pod));
  }

  /** False if it was reported before. */
  isNews(what: string): boolean {
    if (this.#reported.has(what)) return false;
    if (this.#reported.size >= MEMORY_LIMIT) this.#reported.clear();
    this.#reported.add(what);
    return true;
  }
}

/**
 * A kubelet reports the end of a container within a second or two, usually much sooner, and hides
 * its exit code again when all containers restart. So the first looks are close together; all take
 * 1.6 s.
 */
const FIRST_NOTICE_RECHECK_MS = 25;
const MAX_NOTICE_LOOKS = 7;
/** When a whole group stops, a few Pods show as much as all: failures are announced anyway. */
export const MAX_NOTICES_PER_EPOCH = 8;
/** The most remembered reports. Beyond it all are forgotten, which costs a repetition. */
const MEMORY_LIMIT = 10_000;

function announcementKey({ uid, epoch }: PodFacts): string {
  return `${uid}/${epoch ?? ''}`;
}
