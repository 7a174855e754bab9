/**
 * The reports of one process since it started, and its silence. Time is counted by looks, several a
 * second: a pause of the machine, or of the container, counts as one look, so it never looks like a
 * hang. Holds no timer and no clock.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import {
  type Progress,
  type ProgressLine,
  parseProgressLine,
  saysStandby,
} from '../../jobset/progress/progress.ts';

/** The most that one look adds to the silence. */
export const MAX_LOOK_MS = 1000;

export class ProgressWatch {
  #lastLookMs: number | undefined;
  #newest: ProgressLine | undefined;
  #silentMs = 0;
  /** The time since the last line with a new step. */
  #stepMs = 0;
  #longestMs: number | undefined;
  #steps = 0;
  /** When it first reported any step, its newest step, and its newest checkpoint. */
  #steppedMs: number | undefined;
  #newestStepMs: number | undefined;
  #savedMs: number | undefined;

  /** A worker starts, at a monotonic time. The reports of an earlier worker are forgotten. */
  begin(nowMs: number): void {
    this.#lastLookMs = nowMs;
    this.#newest = undefined;
    this.#silentMs = 0;
    this.#stepMs = 0;
    this.#steps = 0;
    this.#longestMs = undefined;
    this.#steppedMs = undefined;
    this.#newestStepMs = undefined;
    this.#savedMs = undefined;
  }

  /** Lets time pass, up to a monotonic time. */
  look(nowMs: number): void {
    const passedMs = Math.min(MAX_LOOK_MS, Math.max(0, nowMs - (this.#lastLookMs ?? nowMs)));
    this.#lastLookMs = nowMs;
    this.#silentMs += passedMs;
    this.#stepMs += passedMs;
  }

  /** A line that is new since the last look. False if it is malformed, and so changes nothing. */
  took(text: string): boolean {
    const line = parseProgressLine(text);
    if (line === undefined) return false;
    // A worker that waits for its start has made no progress, and is not timed.
    if (saysStandby(line)) return true;
    if (line.step !== undefined && line.step !== this.#newest?.step) this.#stepped();
    const { step, checkpoint } = { ...this.#newest, ...line };
    if (checkpoint !== this.#newest?.checkpoint) this.#savedMs = this.#lastLookMs;
    const { phase, silence } = line;
    this.#newest = defined({ step, checkpoint, phase, silence });
    this.#silentMs = 0;
    return true;
  }

  /** Undefined before the first line. */
  get progress(): Progress | undefined {
    if (this.#newest === undefined) return undefined;
    const { step, checkpoint, phase } = this.#newest;
    return { ...defined({ step, checkpoint, phase }), silentMs: this.#silentMs };
  }

  /** For the hub, with ages at a monotonic time. They grow even after the worker has ended. */
  toldAt(nowMs: number): Progress | undefined {
    const { progress } = this;
    if (progress === undefined) return undefined;
    const firstStepMs = age(this.#steppedMs, nowMs);
    return { ...progress, ...defined({ firstStepMs, checkpointMs: age(this.#savedMs, nowMs) }) };
  }

  /** The time since the last line, or since the start of the worker if there is none. */
  get silentMs(): number {
    return this.#silentMs;
  }

  /** The silence that the newest line allows; absent: as long as usual. */
  get allowedSilence(): ProgressLine['silence'] {
    return this.#newest?.silence;
  }

  /** The longest silence between two steps of this worker; undefined before the second. */
  get longestMs(): number | undefined {
    return this.#longestMs;
  }

  /** When it last reported a new step; monotonic. */
  get newestStepMs(): number | undefined {
    return this.#newestStepMs;
  }

  /** How many different steps it has reported. */
  get steps(): number {
    return this.#steps;
  }

  #stepped(): void {
    if (this.#steps > 0) this.#longestMs = Math.max(this.#longestMs ?? 0, this.#stepMs);
    this.#steppedMs ??= this.#lastLookMs;
    this.#newestStepMs = this.#lastLookMs;
    this.#steps++;
    this.#stepMs = 0;
  }
}

function age(sinceMs: number | undefined, nowMs: number): number | undefined {
  return sinceMs === undefined ? undefined : Math.max(0, nowMs - sinceMs);
}
