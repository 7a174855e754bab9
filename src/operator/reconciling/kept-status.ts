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

export class KeptStatus {
  readonly #clock: Clock;
  /** The cached object itself, unless that has lost fields. */
  #known: JobSetStatus | undefined;
  /** Undefined until the first restore, which most JobSets never need. */
  #budget: TokenBucket | undefined;

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
}
