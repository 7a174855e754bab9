/**
 * The status of a JobSet as this operator saw it last, to put back what a client with upstream's types
 * drops (`jobset/status/stripped-status.ts`). A new leader remembers none: then what was dropped is
 * gone.
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
/** Beside a controller that drops it again and again, both come to rest. */
const RESTORES: Rate = {
  perSecond: STATUS_RESTORES_PER_HOUR / HOUR_SECONDS,
  burst: STATUS_RESTORES_PER_HOUR,
};

export class KeptStatus {
  readonly #clock: Clock;
  /** It shares its memory with the cache, unless the cached one has lost something. */
  #known: JobSetStatus | undefined;
  /** Most JobSets never need one. */
  #budget: TokenBucket | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What to write before anything is decided on `now`; undefined: nothing, and `now` is known. */
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
}
