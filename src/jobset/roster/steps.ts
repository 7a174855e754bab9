/** The progress that the agent of one member reported last. */
import type { MemberSteps, RecentSteps } from '../progress/group-progress.ts';
import type { Progress, RankLag, StandbyDeaths, StandbyState } from '../progress/progress.ts';

/**
 * Steps are counted from the older of two earlier reports, which are at least this far apart: the
 * rate covers the last one or two minutes.
 */
const SAMPLE_INTERVAL_MS = 60_000;
/** Steps between the two at least, so that a rate of slow steps is not made of one or two. */
const SAMPLE_STEPS = 8;
/** Over a shorter time, a rate says more about when the reports came. */
const MIN_RECENT_MS = 10_000;

/**
 * Soft state, which agents repeat with every ping. A thousand reports may come each second, so they
 * change this object in place, its times are whole numbers, and nothing is computed before a reader
 * asks.
 */
export class StepReport {
  #step: number | undefined;
  #checkpoint: number | undefined;
  #phase: string | undefined;
  standby: StandbyState | undefined;
  #standbyDeaths: StandbyDeaths | undefined;
  #firstStepMs: number | undefined;
  #checkpointMs: number | undefined;
  #ranks: number | undefined;
  #lag: readonly RankLag[] | undefined;
  #rest: Progress['rest'];
  #silentMs = 0;
  /** Monotonic time of the report's arrival, in whole milliseconds. */
  #heardMs = 0;
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
    this.#ranks = progress.ranks;
    this.#lag = progress.lag;
    this.#rest = progress.rest;
    this.#silentMs = silentMs;
    this.#heardMs = heardMs;
  }

  /** The report as it reads at that monotonic time. Metrics read all members: this makes one object. */
  at(nowMs: number): MemberSteps {
    const sinceMs = Math.max(0, Math.round(nowMs) - this.#heardMs);
    const silentMs = later(this.#silentMs, sinceMs);
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
    if (this.#ranks !== undefined) said.ranks = this.#ranks;
    if (this.#lag !== undefined) said.lag = this.#lag.map((rank) => older(rank, sinceMs));
    if (this.#rest !== undefined) said.rest = older(this.#rest, sinceMs);
    return said;
  }

  #recent(): RecentSteps | undefined {
    const ms = this.#heardMs - this.#olderMs;
    if (this.#step === undefined || ms < MIN_RECENT_MS) return undefined;
    return { steps: this.#step - this.#olderStep, ms };
  }
}

function older<T extends { readonly silentMs: number }>(told: T, sinceMs: number): T {
  return { ...told, silentMs: later(told.silentMs, sinceMs) };
}

/** Agents may tell any number. */
function later(ageMs: number, sinceMs: number): number {
  return Math.min(ageMs + sinceMs, Number.MAX_SAFE_INTEGER);
}
