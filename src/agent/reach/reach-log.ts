/** Logs that the agent cannot reach the hub, and why: once, not at each try. */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { type FailedTry, unreached } from './unreached.ts';

/** A sight that comes and goes, as of replicas that take turns, is logged no more often than this. */
const REPEAT_MS = 60_000;
/** An error can hold a stranger's answer. */
const MAX_TEXT = 500;

export class ReachLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** When each sight was logged, since the hub answered last. */
  readonly #told = new Map<string, number>();
  #last: string | undefined;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  failed(failure: FailedTry): void {
    const { saw, look } = unreached(failure);
    if (saw === this.#last) return;
    this.#last = saw;
    const nowMs = this.#clock.monotonic();
    for (const [text, atMs] of this.#told) {
      if (nowMs - atMs >= REPEAT_MS) this.#told.delete(text);
    }
    if (this.#told.has(saw)) return;
    this.#told.set(saw, nowMs);
    const err = failure.message.slice(0, MAX_TEXT);
    const why = saw.slice(0, MAX_TEXT);
    this.#logger.warn('the hub cannot be reached', {
      why,
      ...(look !== undefined && { look }),
      ...(err !== why && { err }),
    });
  }

  answered(): void {
    if (this.#last !== undefined) this.#logger.info('the hub is reached');
    this.#last = undefined;
    this.#told.clear();
  }
}
