/**
 * What the workers of a simulated group do together: they start, step, and write checkpoints, each
 * with the step that it holds. Books the time of their work. Pure: the caller tells the time.
 */
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import type { Ledger } from './ledger.ts';

export interface Pace {
  readonly stepMs: number;
  /** Steps between two checkpoints. */
  readonly checkpointSteps: number;
}

export class Training {
  readonly #pace: Pace;
  readonly #ledger: Ledger;
  /** The newest step that is done, also in an epoch that ended: then it is done again. */
  #step = 0;
  #checkpoint = 0;
  #checkpointMs: number | undefined;
  /** When the first step of this epoch was done. */
  #firstStepMs: number | undefined;
  #lastStepMs = 0;
  /** When the next step is done, if all goes well. */
  #nextStepMs = Number.POSITIVE_INFINITY;

  constructor(pace: Pace, ledger: Ledger) {
    this.#pace = pace;
    this.#ledger = ledger;
  }

  get step(): number {
    return this.#step;
  }

  get checkpoint(): number {
    return this.#checkpoint;
  }

  /** When the newest checkpoint of this epoch was complete. */
  get checkpointMs(): number | undefined {
    return this.#checkpointMs;
  }

  get firstStepMs(): number | undefined {
    return this.#firstStepMs;
  }

  get lastStepMs(): number {
    return this.#lastStepMs;
  }

  get nextStepMs(): number {
    return this.#nextStepMs;
  }

  /** What the hub knows of the workers. */
  reported(nowMs: number): GroupProgress {
    const firstStepMs = this.#firstStepMs;
    if (firstStepMs === undefined) return {};
    return {
      lowestStep: this.#step,
      highestStep: this.#step,
      checkpoint: this.#checkpoint,
      // A worker that has written no checkpoint tells from which one it started.
      checkpointMs: nowMs - (this.#checkpointMs ?? firstStepMs),
      firstStepMs: nowMs - firstStepMs,
      isReporting: true,
    };
  }

  /** A new epoch is released: what workers said before counts no more. */
  release(): void {
    this.#firstStepMs = undefined;
    this.#checkpointMs = undefined;
  }

  /** All workers are started, and will have done the first step after `startMs`. */
  begin(nowMs: number, startMs: number): void {
    this.#step = this.#checkpoint;
    this.#nextStepMs = nowMs + startMs;
  }

  /** The next step is done, at `nextStepMs`. */
  stepDone(): void {
    const nowMs = this.#nextStepMs;
    if (this.#firstStepMs === undefined) {
      this.#firstStepMs = nowMs;
      this.#ledger.pass(nowMs, 'Starting');
    }
    this.#advance(1, nowMs);
  }

  /** Does all steps up to that time at once. */
  skipTo(untilMs: number): void {
    if (this.#firstStepMs === undefined || this.#nextStepMs > untilMs) return;
    const { stepMs } = this.#pace;
    const steps = 1 + Math.floor((untilMs - this.#nextStepMs) / stepMs);
    this.#advance(steps, this.#nextStepMs + (steps - 1) * stepMs);
  }

  /** A worker stops without a word, and the others wait for it. */
  hang(): void {
    this.#nextStepMs = Number.POSITIVE_INFINITY;
  }

  /** The epoch is over: what is in no checkpoint has to be done again. */
  end(nowMs: number, isHung: boolean): void {
    this.hang();
    if (this.#firstStepMs === undefined) {
      this.#ledger.pass(nowMs, 'Starting');
      return;
    }
    if (isHung) this.#ledger.pass(this.#lastStepMs, 'Lost');
    this.#ledger.pass(nowMs, isHung ? 'Hung' : 'Lost');
  }

  #advance(steps: number, lastMs: number): void {
    const { stepMs, checkpointSteps } = this.#pace;
    this.#step += steps;
    this.#lastStepMs = lastMs;
    this.#nextStepMs = lastMs + stepMs;
    const checkpoint = this.#step - (this.#step % checkpointSteps);
    if (checkpoint <= this.#checkpoint) return;
    this.#checkpoint = checkpoint;
    this.#checkpointMs = lastMs - (this.#step - checkpoint) * stepMs;
    this.#ledger.pass(this.#checkpointMs, 'Productive');
  }
}
