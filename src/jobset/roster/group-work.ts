/**
 * What the members of a group have reported in the epoch that runs: soft state, which agents repeat.
 * It outlives the member that reported it.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import type { Progress } from '../progress/progress.ts';
import { isFinished } from '../status/conditions.ts';
import { releasedEpoch } from '../status/epochs.ts';

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
  /** Undefined before the first status, and when the JobSet is over. */
  #work: Work | undefined;

  /** A stored status of the JobSet. A release makes all earlier reports old. */
  see(status: JobSetStatus, nowMs: number, wallMs?: number): void {
    const released = newestReleased(status);
    if (isFinished(status.conditions)) this.#work = undefined;
    else if (this.#work === undefined) {
      // After a change of the leader, the release was at any time before.
      const releasedMs = releaseBefore(status, nowMs, wallMs);
      this.#work = { released, sinceMs: Number.NEGATIVE_INFINITY, releasedMs };
    } else if (released > this.#work.released) {
      this.#work = { released, sinceMs: nowMs, releasedMs: nowMs };
    }
  }

  /** What the agent of a member reports now. It may not have seen the release yet. */
  take(progress: Progress, nowMs: number): void {
    const work = this.#work;
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

  at(nowMs: number): Told {
    const { isReporting, steppedMs, checkpoint, savedMs } = this.#work ?? {};
    const age = (ms: number | undefined): number | undefined =>
      ms === undefined ? undefined : Math.max(0, Math.round(nowMs - ms));
    const ages = { firstStepMs: age(steppedMs), checkpointMs: age(savedMs) };
    const restored = this.#restored(nowMs);
    return defined({ ...ages, startMs: this.startMs, checkpoint, restored, isReporting });
  }

  #restored(nowMs: number): number | null | undefined {
    const { steppedMs, stepHeardMs, restored, restoredMs = 0 } = this.#work ?? {};
    if (steppedMs === undefined || stepHeardMs === undefined) return undefined;
    if (restored !== undefined && restoredMs <= steppedMs + TOGETHER_MS) return restored;
    return nowMs - stepHeardMs > SETTLED_MS ? null : undefined;
  }

  /** From the release to the first step; undefined: one of them is not known. */
  get startMs(): number | undefined {
    const { releasedMs, steppedMs } = this.#work ?? {};
    if (releasedMs === undefined || steppedMs === undefined) return undefined;
    return Math.max(0, Math.round(steppedMs - releasedMs));
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
