/** The controller's memory of one JobSet between two plans. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { HUB_LOOK_MS, isToldOfHub } from '../../jobset/plan/reports/hub-reach.ts';
import type { HubReach, JobsRefusal, Knowledge } from '../../jobset/plan/snapshot.ts';
import type { PodFacts } from '../../jobset/roster/pod-facts.ts';
import type { GroupView, PodRecord } from '../../jobset/roster/roster-group.ts';
import type { CountersPutOff } from '../../jobset/status/counters.ts';
import type { ChildJobMemory } from '../tracking/child-job-memory.ts';
import type { ActionResult } from './carry-out.ts';
import { KeptStatus } from './kept-status.ts';
import { StartMemory } from './start-memory.ts';

/** Decisions are right without it. It saves requests, repeated Events, and dropped status fields. */
export class JobSetMemory {
  /** Pods whose notice of `#noticedEpoch` was looked into, by UID. */
  readonly #notices = new Map<string, { looks: number; againMs: number }>();
  #noticedEpoch: number | undefined;
  readonly #reported = new Set<string>();
  /** The last look at members without a stream to the hub, and when some of them were read. */
  #hubLook: HubLook = {
    atMs: Number.NEGATIVE_INFINITY,
    readMs: Number.NEGATIVE_INFINITY,
    missing: 0,
    silent: new Map(),
  };
  countersPutOff: CountersPutOff | undefined;
  readonly starts = new StartMemory();
  readonly jobs: ChildJobMemory;
  readonly status: KeptStatus;
  /** Successive passes in which a Job could not be started; undefined: none was carried out yet. */
  #startFailures: number | undefined;
  /** Why a Job could not be started in the last of them, if that is known. */
  jobsRefused: JobsRefusal | undefined;
  /** Names of volume claims that are known to exist, though the cache may not show them. */
  readonly claims = new Set<string>();
  /** Whether this process has made sure that the agents have their rights. */
  hasAgentRights = false;

  constructor(jobs: ChildJobMemory, clock: Clock) {
    this.jobs = jobs;
    this.status = new KeptStatus(clock);
  }

  knowledge(nowMs: number): Knowledge {
    return {
      isDismissed: (pod) => {
        if (pod.notice === undefined || pod.notice.epoch !== this.#noticedEpoch) return false;
        const notice = this.#notices.get(pod.uid);
        if (notice === undefined) return this.#notices.size >= MAX_NOTICES_PER_EPOCH;
        return notice.looks >= MAX_NOTICE_LOOKS || nowMs < notice.againMs;
      },
      isTooFarAhead: (pod) => this.#reported.has(announcementKey(pod)),
      countersPutOff: this.countersPutOff,
      droppedRanks: this.status.droppedRanks,
      jobsRefused: this.#startFailures === 0 ? false : this.jobsRefused,
    };
  }

  /** A pass was carried out. Returns how many passes in a row could not make or resume a Job. */
  triedToStart(hasFailed: boolean): number {
    this.#startFailures = hasFailed ? (this.#startFailures ?? 0) + 1 : 0;
    // The next failure may have another reason.
    if (!hasFailed) this.jobsRefused = undefined;
    return this.#startFailures;
  }

  /** Learns the result of an action, which the caches show later, or never. */
  learn(result: ActionResult): void {
    switch (result.kind) {
      case 'JobWritten':
        this.jobs.wrote(result.job);
        break;
      case 'JobDeleted':
        this.jobs.deleted(result.job);
        break;
      case 'ClaimExists':
        this.claims.add(result.name);
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

  /** Looks at most once in `HUB_LOOK_MS` which members that have a hub have no stream. */
  lookAtHub(toldMembers: () => Iterable<Readonly<PodRecord>>, nowMs: number): void {
    if (nowMs - this.#hubLook.atMs < HUB_LOOK_MS) return;
    let missing = 0;
    const silent = new Map<string, { readonly pod: PodFacts; readonly sinceMs: number }>();
    const found = new Map<string, PodFacts>();
    for (const { newest: pod, streams } of toldMembers()) {
      if (pod.isTerminating || streams > 0) continue;
      missing++;
      const isKnown = this.#hubLook.silent.has(pod.uid);
      if (isKnown || found.size < MAX_SILENT) found.set(pod.uid, pod);
    }
    // Pods that were read most recently come last.
    for (const [uid, { sinceMs }] of this.#hubLook.silent) {
      const pod = found.get(uid);
      if (pod !== undefined) silent.set(uid, { pod, sinceMs });
    }
    for (const [uid, pod] of found) {
      if (!silent.has(uid) && silent.size < MAX_SILENT) silent.set(uid, { pod, sinceMs: nowMs });
    }
    this.#hubLook = { ...this.#hubLook, atMs: nowMs, missing, silent };
  }

  hubReach(streams: number, nowMs: number): HubReach {
    const { atMs, missing, silent, readMs } = this.#hubLook;
    return {
      streams,
      missing,
      silent: [...silent.values()].map(({ pod, sinceMs }) => ({ pod, silentMs: nowMs - sinceMs })),
      isOld: nowMs > atMs,
      mayLook: nowMs - readMs >= HUB_LOOK_MS,
    };
  }

  /** The Pods were read: others have their turn before these. */
  readSilent(pods: readonly PodFacts[], nowMs: number): void {
    const silent = new Map(this.#hubLook.silent);
    for (const { uid } of pods) {
      const known = silent.get(uid);
      silent.delete(uid);
      if (known !== undefined) silent.set(uid, known);
    }
    this.#hubLook = { ...this.#hubLook, silent, readMs: nowMs };
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
  sawTooFarAhead(pods: readonly PodFacts[]): void {
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
 * its exit code again when all containers restart. So the first looks are close together, and the
 * last one comes after 1.6 s.
 */
const FIRST_NOTICE_RECHECK_MS = 25;
const MAX_NOTICE_LOOKS = 7;
/** When a whole group stops, a few Pods show as much as all: failures are announced anyway. */
export const MAX_NOTICES_PER_EPOCH = 8;
/** The most members without a stream that are remembered at a time. */
const MAX_SILENT = 64;
/** The most remembered reports. Beyond it all are forgotten, which costs a repetition. */
const MEMORY_LIMIT = 10_000;

/** The members of a group whose Jobs give them a hub. */
export function* toldMembers(
  group: GroupView,
  jobs: readonly Stored<Job>[],
): Iterable<Readonly<PodRecord>> {
  const told = new Set(jobs.filter(isToldOfHub).map(({ metadata }) => metadata.uid));
  for (const record of group.pods()) if (told.has(record.newest.jobUid)) yield record;
}

interface HubLook {
  readonly atMs: number;
  readonly readMs: number;
  readonly missing: number;
  readonly silent: ReadonlyMap<string, { readonly pod: PodFacts; readonly sinceMs: number }>;
}

function announcementKey({ uid, epoch }: PodFacts): string {
  return `${uid}/${epoch ?? ''}`;
}
