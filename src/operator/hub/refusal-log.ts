/** The log of refused requests for a stream. */
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { LogFields, Logger } from '@lockstep/kube/runtime/ports/logger.ts';

/**
 * Thousands of requests may fail in a second with one problem. The log has the first of a kind at
 * once, and the others as sums; metrics count each.
 */
export interface Refusal {
  readonly reason: string;
  /** The JobSet or namespace that a token has proved; part of the kind, like the reason. */
  readonly from: { readonly jobset?: string; readonly namespace?: string };
  /** More about this request, logged for the first of a kind and the last in a sum. */
  readonly details: LogFields;
}

/** The least time between lines of one kind; without refusals there is no line. */
export const REFUSAL_LOG_INTERVAL_MS = 30_000;
/** Refusals of further kinds are summed up together, to bound memory. */
export const MAX_REFUSAL_KINDS = 64;

interface Kind {
  /** Refusals since its last line, and the last of them. */
  unsaid: number;
  last: Refusal;
  timer: Timer;
}

const OTHERS = 'others';

export class RefusalLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #kinds = new Map<string, Kind>();
  #isStopped = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  add(refusal: Refusal): void {
    if (this.#isStopped) return;
    const key = this.#keyOf(refusal);
    const kind = this.#kinds.get(key);
    if (kind !== undefined) {
      kind.unsaid++;
      kind.last = refusal;
      return;
    }
    this.#logger.warn('refused a stream', fieldsOf(refusal));
    this.#kinds.set(key, { unsaid: 0, last: refusal, timer: this.#tellLater(key) });
  }

  /** Writes the remaining sums, and nothing after that. */
  stop(): void {
    this.#isStopped = true;
    for (const [key, kind] of this.#kinds) {
      kind.timer.cancel();
      if (kind.unsaid > 0) this.#tell(key, kind);
    }
    this.#kinds.clear();
  }

  #keyOf({ reason, from: { jobset = '', namespace = '' } }: Refusal): string {
    const key = JSON.stringify([reason, jobset, namespace]);
    return this.#kinds.has(key) || this.#kinds.size < MAX_REFUSAL_KINDS ? key : OTHERS;
  }

  #tellLater(key: string): Timer {
    return this.#clock.setTimer(REFUSAL_LOG_INTERVAL_MS, () => {
      const kind = this.#kinds.get(key);
      if (kind === undefined) return;
      // If the kind comes up again, its first refusal is logged at once.
      if (kind.unsaid === 0) this.#kinds.delete(key);
      else {
        this.#tell(key, kind);
        kind.timer = this.#tellLater(key);
      }
    });
  }

  #tell(key: string, kind: Kind): void {
    const what = key === OTHERS ? 'refused streams, for this reason and others' : 'refused streams';
    this.#logger.warn(what, { ...fieldsOf(kind.last), count: kind.unsaid });
    kind.unsaid = 0;
  }
}

function fieldsOf({ reason, from, details }: Refusal): LogFields {
  return { reason, ...from, ...details };
}
