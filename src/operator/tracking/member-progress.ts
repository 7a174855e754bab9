/**
 * The newest progress of each member whose agent reports any: soft state, which agents repeat with
 * every ping. A thousand of them may come each second, so a report costs one look-up, and nothing
 * is computed before a reader asks.
 */
import type { MemberSteps, RecentSteps } from '../../jobset/progress/group-progress.ts';
import type { Progress, StandbyDeaths, StandbyState } from '../../jobset/progress/progress.ts';
import { hasNoStandbys } from '../../jobset/progress/standby.ts';

/** What an agent reported last. Its `silentMs` counts to the arrival of the report. */
export interface MemberProgress extends MemberSteps {
  /** Monotonic time of the report's arrival, in whole milliseconds. */
  readonly heardMs: number;
}

/**
 * Steps are counted from the older of two earlier reports, which are at least this far apart: the
 * rate is that of the last one or two minutes.
 */
const SAMPLE_INTERVAL_MS = 60_000;
/** Steps between the two at least, so that a rate of slow steps is not made of one or two. */
const SAMPLE_STEPS = 8;
/** Over a shorter time, a rate says more about when the reports came. */
const MIN_RECENT_MS = 10_000;

/** Kept for each Pod until it ends, so there are no more of them than living Pods. */
export class ProgressReports {
  /** By UID of the Pod. */
  readonly #reports = new Map<string, Report>();

  /**
   * What the Pod's agent reports now; undefined: its worker has said nothing since it started.
   * True if the report before did not say yet that the Pod gets no standbys any more.
   */
  take(podUid: string, progress: Progress | undefined, nowMs: number): boolean {
    const known = this.#reports.get(podUid);
    if (progress === undefined) {
      if (known !== undefined) this.#reports.delete(podUid);
      return false;
    }
    const isNews = progress.standby !== known?.standby && hasNoStandbys(progress);
    if (known === undefined) this.#reports.set(podUid, new Report(progress, nowMs));
    else known.take(progress, nowMs);
    return isNews;
  }

  progressOf(podUid: string): MemberProgress | undefined {
    const known = this.#reports.get(podUid);
    return known && { ...known.steps(0), heardMs: known.heardMs };
  }

  /** With all times up to that monotonic time. */
  at(podUid: string, nowMs: number): MemberSteps | undefined {
    const known = this.#reports.get(podUid);
    return known?.steps(Math.max(0, Math.round(nowMs) - known.heardMs));
  }

  /** The Pod has ended. */
  forget(podUid: string): void {
    this.#reports.delete(podUid);
  }
}

/** It is changed in place, and times are whole numbers, because there are thousands. */
class Report {
  #step: number | undefined;
  #checkpoint: number | undefined;
  #phase: string | undefined;
  standby: StandbyState | undefined;
  #standbyDeaths: StandbyDeaths | undefined;
  #firstStepMs: number | undefined;
  #checkpointMs: number | undefined;
  silentMs = 0;
  heardMs = 0;
  /** The two earlier reports. */
  #olderStep = 0;
  #olderMs = 0;
  #newerStep = 0;
  #newerMs = 0;

  constructor(progress: Progress, nowMs: number) {
    this.take(progress, nowMs);
  }

  take(progress: Progress, nowMs: number): void {
    const { step, checkpoint, phase, standby, silentMs } = progress;
    const heardMs = Math.round(nowMs);
    if (this.#step === undefined || (step ?? -1) < this.#step) {
      // The first step, or the steps of a worker that started again.
      this.#olderStep = this.#newerStep = step ?? 0;
      this.#olderMs = this.#newerMs = heardMs;
    } else if (
      step !== undefined &&
      step - this.#newerStep >= SAMPLE_STEPS &&
      heardMs - this.#newerMs >= SAMPLE_INTERVAL_MS
    ) {
      this.#olderStep = this.#newerStep;
      this.#olderMs = this.#newerMs;
      this.#newerStep = step;
      this.#newerMs = heardMs;
    }
    this.#step = step;
    this.#checkpoint = checkpoint;
    // Each message holds a text of its own: equal ones are kept once.
    if (phase !== this.#phase) this.#phase = phase;
    this.standby = standby;
    this.#standbyDeaths = progress.standbyDeaths;
    this.#firstStepMs = progress.firstStepMs;
    this.#checkpointMs = progress.checkpointMs;
    this.silentMs = silentMs;
    this.heardMs = heardMs;
  }

  /** The report as it reads `sinceMs` later. Metrics read all members, so this makes one object. */
  steps(sinceMs: number): MemberSteps {
    const silentMs = later(this.silentMs, sinceMs);
    const said: { -readonly [K in keyof MemberSteps]: MemberSteps[K] } = { silentMs };
    const recent = this.#recent();
    if (this.#step !== undefined) said.step = this.#step;
    if (this.#checkpoint !== undefined) said.checkpoint = this.#checkpoint;
    if (this.#phase !== undefined) said.phase = this.#phase;
    if (this.standby !== undefined) said.standby = this.standby;
    if (this.#standbyDeaths !== undefined) said.standbyDeaths = this.#standbyDeaths;
    if (recent !== undefined) said.recent = recent;
    if (this.#firstStepMs !== undefined) said.firstStepMs = later(this.#firstStepMs, sinceMs);
    if (this.#checkpointMs !== undefined) said.checkpointMs = later(this.#checkpointMs, sinceMs);
    return said;
  }

  #recent(): RecentSteps | undefined {
    const ms = this.heardMs - this.#olderMs;
    if (this.#step === undefined || ms < MIN_RECENT_MS) return undefined;
    return { steps: this.#step - this.#olderStep, ms };
  }
}

/** Agents may tell any number. */
function later(ageMs: number, sinceMs: number): number {
  return Math.min(ageMs + sinceMs, Number.MAX_SAFE_INTEGER);
}
