/**
 * What the members of each group have reported in the epoch that runs: soft state, which agents
 * repeat. It is kept for the group, so it outlives the member that reported it, and a report costs
 * one look-up.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import type { Progress } from '../../jobset/progress/progress.ts';
import { isFinished } from '../../jobset/status/conditions.ts';
import { releasedEpoch } from '../../jobset/status/epochs.ts';

type Told = Pick<
  GroupProgress,
  'firstStepMs' | 'startMs' | 'checkpoint' | 'checkpointMs' | 'restored' | 'isReporting'
>;

interface Work {
  /** The newest epoch that is known to be released. */
  released: number;
  /** When its release was seen. Times are monotonic. */
  readonly sinceMs: number;
  /** When it was released; undefined: that is not known. */
  readonly releasedMs?: number | undefined;
  isReporting?: true;
  steppedMs?: number;
  /** When an agent first reported a step. */
  stepHeardMs?: number;
  checkpoint?: number;
  savedMs?: number;
  /** The highest that a worker reported no later than a step of its own. */
  restored?: number;
  restoredMs?: number;
}

/**
 * By then all members have reported their first steps. Ages that they repeat later are less exact,
 * because no two clocks are equally fast, and what is past must not change.
 */
const SETTLED_MS = 10_000;

/** Members make their first steps together, and their agents see that at different times. */
const TOGETHER_MS = 1000;

export class GroupWork {
  /** By UID of the JobSet, until it is over. */
  readonly #works = new Map<string, Work>();

  /** A stored state of a JobSet, from any source. A release makes all earlier reports old. */
  see({ metadata, status = {} }: Stored<JobSet>, nowMs: number, wallMs?: number): void {
    const { uid } = metadata;
    const known = this.#works.get(uid);
    const released = newestReleased(status);
    if (isFinished(status.conditions)) this.#works.delete(uid);
    else if (known === undefined) {
      // After a change of the leader, the release was at any time before.
      const releasedMs = releaseBefore(status, nowMs, wallMs);
      this.#works.set(uid, { released, sinceMs: Number.NEGATIVE_INFINITY, releasedMs });
    } else if (released > known.released) {
      this.#works.set(uid, { released, sinceMs: nowMs, releasedMs: nowMs });
    }
  }

  /** What the agent of a member reports now. It may not have seen the release yet. */
  take(jobSetUid: string, progress: Progress, nowMs: number): void {
    const work = this.#works.get(jobSetUid);
    if (work === undefined) return;
    const { silentMs, firstStepMs, checkpoint, checkpointMs } = progress;
    if (nowMs - silentMs >= work.sinceMs) work.isReporting = true;
    const steppedMs = firstStepMs === undefined ? undefined : nowMs - firstStepMs;
    if (steppedMs !== undefined && steppedMs >= work.sinceMs) {
      work.stepHeardMs ??= nowMs;
      if (nowMs - work.stepHeardMs <= SETTLED_MS) {
        work.steppedMs = Math.min(work.steppedMs ?? steppedMs, steppedMs);
      }
    }
    const savedMs = nowMs - (checkpointMs ?? 0);
    if (checkpoint === undefined || savedMs < work.sinceMs) return;
    const isBeforeSteps =
      checkpointMs !== undefined &&
      checkpointMs >= (firstStepMs ?? 0) &&
      savedMs <= (work.steppedMs ?? savedMs) + TOGETHER_MS;
    if (isBeforeSteps && checkpoint > (work.restored ?? -1)) {
      work.restored = checkpoint;
      work.restoredMs = savedMs;
    }
    if (work.checkpoint === checkpoint) {
      work.savedMs = Math.min(work.savedMs ?? savedMs, savedMs);
    } else if (work.checkpoint === undefined || checkpoint > work.checkpoint) {
      work.checkpoint = checkpoint;
      work.savedMs = savedMs;
    }
  }

  at(jobSetUid: string, nowMs: number): Told {
    const { isReporting, steppedMs, checkpoint, savedMs } = this.#works.get(jobSetUid) ?? {};
    const age = (ms: number | undefined): number | undefined =>
      ms === undefined ? undefined : Math.max(0, Math.round(nowMs - ms));
    const ages = { firstStepMs: age(steppedMs), checkpointMs: age(savedMs) };
    const startMs = this.startMs(jobSetUid);
    const restored = this.#restored(jobSetUid, nowMs);
    return defined({ ...ages, startMs, checkpoint, restored, isReporting });
  }

  #restored(jobSetUid: string, nowMs: number): number | null | undefined {
    const { steppedMs, stepHeardMs, restored, restoredMs = 0 } = this.#works.get(jobSetUid) ?? {};
    if (steppedMs === undefined || stepHeardMs === undefined) return undefined;
    if (restored !== undefined && restoredMs <= steppedMs + TOGETHER_MS) return restored;
    return nowMs - stepHeardMs > SETTLED_MS ? null : undefined;
  }

  /** From the release to the first step; undefined: one of them is not known. */
  startMs(jobSetUid: string): number | undefined {
    const { releasedMs, steppedMs } = this.#works.get(jobSetUid) ?? {};
    if (releasedMs === undefined || steppedMs === undefined) return undefined;
    return Math.max(0, Math.round(steppedMs - releasedMs));
  }

  /** The JobSet is gone. */
  forget(jobSetUid: string): void {
    this.#works.delete(jobSetUid);
  }
}

/**
 * When the running epoch was released, for a leader that did not do it: nothing of the epoch is
 * accounted for, so the stamp is its release.
 */
function releaseBefore(
  { goodput }: JobSetStatus,
  nowMs: number,
  wallMs: number | undefined,
): number | undefined {
  const stampMs = Date.parse(goodput?.time ?? '');
  if (wallMs === undefined || goodput?.phase !== 'Running' || Number.isNaN(stampMs)) {
    return undefined;
  }
  return goodput.stepped === true ? undefined : nowMs - Math.max(0, wallMs - stampMs);
}

function newestReleased(status: JobSetStatus): number {
  const { replicatedJobsStatus = [] } = status;
  return Math.max(0, ...replicatedJobsStatus.map(({ name }) => releasedEpoch(status, name)));
}
