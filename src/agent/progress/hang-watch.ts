/**
 * When a worker counts as hung. Its time-out counts from its first report; the report itself has a
 * time-out of its own. After it, the hub or the API server has to answer before the worker is ended,
 * because a broken network stops the whole group without any fault of a worker
 * (`docs/design/member-hazards.md#a-worker-hangs-while-nothing-answers`). Holds no timer and no
 * clock.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { ProgressTimeouts } from '../../jobset/progress/progress-timeouts.ts';
import type { Learnt } from '../marker.ts';
import type { MemberProgress, Reporter } from './member-progress.ts';

/**
 * The first wait for an answer before asking again. Each wait is twice as long as the last: over the
 * API, an ask is a request, and all members of a large group may ask at once.
 */
export const ASK_INTERVAL_MS = 1000;
const MAX_ASK_INTERVAL_MS = 8000;

const MINUTE_MS = 60_000;
/** `Auto` is this many times the longest silence between two steps, within these bounds. */
const AUTO_FACTOR = 5;
const MIN_AUTO_MS = 5 * MINUTE_MS;
const MAX_AUTO_MS = 60 * MINUTE_MS;
/** `Auto` is no time-out before this many steps. */
const MIN_STEPS = 10;
/** A worker that hangs again without a step between may only be slow there. */
const PATIENCE_FACTOR = 4;

/** What the agent has to do about its worker. */
export type HangFinding = 'Ask' | 'Hung';

export class HangWatch {
  readonly #progress: MemberProgress;
  /** Learnt from earlier workers. */
  #before: Learnt;
  /** `Auto` as it was when the marker was written last. */
  #keptMs: number;
  /** Since when the worker has been silent for too long; monotonic. */
  #dueSinceMs: number | undefined;
  #askedMs: number | undefined;
  #isAnswered = false;
  #asks = 0;

  constructor(progress: MemberProgress, kept: Learnt | undefined) {
    this.#progress = progress;
    this.#before = kept ?? { members: 0, steps: 0 };
    this.#keptMs = autoMs(this.#before) ?? 0;
  }

  /**
   * Another worker is about to start, in a group of this many Pods. The watch forgets knowledge
   * from a group of another size.
   */
  begin(members: number): void {
    this.#clear();
    const { learnt } = this;
    this.#before = members === learnt.members ? learnt : { members, steps: 0 };
    if (this.#before !== learnt) this.#keptMs = 0;
  }

  /** Called several times a second. `timeouts` are none while the worker may not be ended. */
  look(nowMs: number, timeouts: ProgressTimeouts): HangFinding | undefined {
    if (!this.#isSilentFor(timeouts, 1)) {
      this.#clear();
      return undefined;
    }
    this.#dueSinceMs ??= nowMs;
    if (this.#isAnswered) return 'Hung';
    const waitMs = Math.min(MAX_ASK_INTERVAL_MS, ASK_INTERVAL_MS * 2 ** (this.#asks - 1));
    if (nowMs < (this.#askedMs ?? Number.NEGATIVE_INFINITY) + waitMs) return undefined;
    this.#askedMs = nowMs;
    this.#asks++;
    return 'Ask';
  }

  /** The hub or the API server answered a question from `askedMs`, monotonic. */
  answered(askedMs: number): void {
    if (this.#dueSinceMs !== undefined && askedMs >= this.#dueSinceMs) this.#isAnswered = true;
  }

  /** How often the agent has asked in vain since the worker has been silent for too long. */
  get asks(): number {
    return this.#asks;
  }

  /** Whether a worker that is told to stop was silent for half of its time-out. */
  isSilent(timeouts: ProgressTimeouts): boolean {
    return this.#isSilentFor(timeouts, 2);
  }

  /** The worker is ended as hung. */
  noteHang(): void {
    const step = this.#progress.progress?.step;
    const isAgain = step !== undefined && step <= (this.#before.hungStep ?? -1);
    this.#before = {
      ...this.#before,
      ...defined({ hungStep: step }),
      ...(isAgain ? { isPatient: true } : {}),
    };
    this.#clear();
  }

  get learnt(): Learnt {
    const { longestMs, steps } = this.#progress;
    const before = this.#before.longestMs;
    const longest = Math.max(before ?? 0, Math.round(longestMs ?? 0));
    return {
      ...this.#before,
      steps: Math.min(MIN_STEPS, this.#before.steps + steps),
      ...(before === undefined && longestMs === undefined ? {} : { longestMs: longest }),
    };
  }

  /** Whether `Auto` has grown by a minute since the marker was written. */
  get isNews(): boolean {
    return (autoMs(this.learnt) ?? 0) >= this.#keptMs + MINUTE_MS;
  }

  /** For the marker, which is written now. */
  keep(): Learnt {
    this.#keptMs = autoMs(this.learnt) ?? 0;
    return this.learnt;
  }

  /**
   * Whether `factor` times the silence of a process reaches its time-out. While one rank is in a phase
   * with a time-out of its own that holds, such as saving, the others of its Pod may wait for it.
   */
  #isSilentFor(timeouts: ProgressTimeouts, factor: number): boolean {
    const { reporters } = this.#progress;
    const isOver = ({ watch }: Reporter): boolean => {
      const timeoutMs = this.#timeoutMs(watch, timeouts);
      return timeoutMs !== undefined && factor * watch.silentMs >= timeoutMs;
    };
    const inPhase = reporters.filter(({ watch }) => watch.allowedSilence !== undefined);
    if (inPhase.some((each) => !isOver(each))) return inPhase.some(isOver);
    return reporters.some(isOver);
  }

  #timeoutMs(
    { progress, allowedSilence }: Reporter['watch'],
    { progressTimeout, firstProgressTimeout }: ProgressTimeouts,
  ): number | undefined {
    if (progress === undefined) return firstProgressTimeout;
    if (progressTimeout === undefined || allowedSilence === 'Unlimited') return undefined;
    if (allowedSilence !== undefined) return allowedSilence;
    return progressTimeout === 'Auto' ? autoMs(this.learnt) : progressTimeout;
  }

  #clear(): void {
    this.#dueSinceMs = undefined;
    this.#askedMs = undefined;
    this.#isAnswered = false;
    this.#asks = 0;
  }
}

function autoMs({ steps, longestMs, isPatient }: Learnt): number | undefined {
  if (steps < MIN_STEPS || longestMs === undefined) return undefined;
  const usualMs = Math.min(MAX_AUTO_MS, Math.max(MIN_AUTO_MS, AUTO_FACTOR * longestMs));
  return isPatient === true ? usualMs * PATIENCE_FACTOR : usualMs;
}
