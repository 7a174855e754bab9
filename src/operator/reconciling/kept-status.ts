/**
 * The status of a JobSet as this operator saw it last, to put back fields that a client with upstream's
 * types drops (`jobset/status/stripped-status.ts`). A new leader remembers none: then dropped fields
 * are lost.
 */

import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import {
  type Restored,
  restoredStatus,
  STATUS_RESTORES_PER_HOUR,
} from '../../jobset/status/stripped-status.ts';

const HOUR_SECONDS = 3600;
/** Limits the writes if another controller drops the fields again and again. */
const RESTORES: Rate = {
  perSecond: STATUS_RESTORES_PER_HOUR / HOUR_SECONDS,
  burst: STATUS_RESTORES_PER_HOUR,
};
/**
 * A server that takes a new definition serves it a little later. No watch reports that, and a write
 * of a status that the server prunes to what it has is no change either.
 */
const WRITE_AGAIN_MS = 5000;
/** A policy or a proxy may drop the fields for ever: each time it takes twice as long, up to this. */
const MAX_WRITE_AGAIN_MS = 600_000;

export class KeptStatus {
  readonly #clock: Clock;
  /** The cached object itself, unless that has lost fields. */
  #known: JobSetStatus | undefined;
  /** Undefined until the first restore, which most JobSets never need. */
  #budget: TokenBucket | undefined;
  /** While the API server drops fields: when they are written again, and how long the wait is. */
  #dropped: { readonly delayMs: number; readonly againMs: number } | undefined;

  /** Whether the numbers of ranks were dropped when they were written last. */
  losesRanks = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The status to write before any decision about `now`; undefined: `now` is whole, and kept. */
  restored(
    now: JobSetStatus | undefined,
    lacks: ReadonlySet<string> | undefined,
  ): Restored | undefined {
    const restored = restoredStatus(this.#known, now, lacks);
    if (restored !== undefined) {
      this.#budget ??= new TokenBucket(RESTORES, this.#clock);
      if (this.#budget.tryTake()) return restored;
    }
    this.#known = now;
    return undefined;
  }

  /** The write of what was restored has failed for a reason that passes, and is tried again. */
  notRestored(): void {
    this.#budget?.giveBack();
  }

  saw(status: JobSetStatus | undefined): void {
    this.#known = status;
  }

  /** Whether the dropped numbers of ranks wait for their next write; undefined: none were dropped. */
  get droppedRanks(): 'Wait' | 'Again' | undefined {
    if (!this.losesRanks) return undefined;
    return this.waitMs === undefined ? 'Again' : 'Wait';
  }

  /** How long the next write of what was dropped has to wait; undefined: it may come now. */
  get waitMs(): number | undefined {
    const leftMs = (this.#dropped?.againMs ?? 0) - this.#clock.monotonic();
    return leftMs > 0 ? leftMs : undefined;
  }

  /** A plan was written. Returns when to write again what the API server has dropped, if it has. */
  stored(isWhole: boolean): number | undefined {
    if (isWhole) {
      this.#dropped = undefined;
      return undefined;
    }
    const nowMs = this.#clock.monotonic();
    // Writes for other reasons do not make the next one later.
    const { delayMs, againMs } = this.#dropped ?? { delayMs: WRITE_AGAIN_MS / 2, againMs: nowMs };
    if (nowMs < againMs) return this.waitMs;
    const nextMs = Math.min(2 * delayMs, MAX_WRITE_AGAIN_MS);
    this.#dropped = { delayMs: nextMs, againMs: nowMs + nextMs };
    return nextMs;
  }
}
