/** The queue of reviews before a judge. */

import { refusalResponse } from '@lockstep/kube/runtime/client/refusal-response.ts';
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';

/**
 * The judge takes few reviews at a time. Addresses take turns, so an address that sends many delays
 * only its own. When too many wait, the newest review of the address with the most is refused.
 */
export interface ReviewQueueLimits {
  readonly atATime: number;
  readonly waiting: number;
}

export function queuedReviews(judge: HttpHandler, limits: ReviewQueueLimits): HttpHandler {
  const queue = new ReviewQueue(judge, limits);
  return (request) => queue.judge(request);
}

class ReviewQueue {
  readonly #judge: HttpHandler;
  readonly #limits: ReviewQueueLimits;
  /** By address, in the order of turns; oldest first. No list is empty. */
  readonly #waiting = new Map<string, Waiting[]>();
  #waitingCount = 0;
  #underWay = 0;

  constructor(judge: HttpHandler, limits: ReviewQueueLimits) {
    this.#judge = judge;
    this.#limits = limits;
  }

  judge(request: HttpRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const address = request.peer?.address ?? '';
      const line = this.#waiting.get(address);
      const one: Waiting = { request, resolve, reject };
      if (line === undefined) this.#waiting.set(address, [one]);
      else line.push(one);
      this.#waitingCount++;
      this.#next();
      if (this.#waitingCount > this.#limits.waiting) this.#turnOneAway();
    });
  }

  #next(): void {
    while (this.#underWay < this.#limits.atATime) {
      const one = this.#takeTurn();
      if (one === undefined) return;
      this.#underWay++;
      this.#judge(one.request)
        .then(one.resolve, one.reject)
        .finally(() => {
          this.#underWay--;
          this.#next();
        });
    }
  }

  #takeTurn(): Waiting | undefined {
    for (const [address, line] of this.#waiting) {
      const one = line.shift();
      this.#waiting.delete(address);
      if (line.length > 0) this.#waiting.set(address, line);
      if (one === undefined) continue;
      this.#waitingCount--;
      if (!one.request.signal.aborted) return one;
      one.reject(one.request.signal.reason);
    }
    return undefined;
  }

  #turnOneAway(): void {
    let longest: readonly [string, Waiting[]] | undefined;
    for (const entry of this.#waiting) {
      if (longest === undefined || entry[1].length > longest[1].length) longest = entry;
    }
    if (longest === undefined) return;
    const [address, line] = longest;
    const last = line.pop();
    if (line.length === 0) this.#waiting.delete(address);
    this.#waitingCount--;
    last?.resolve(refusalResponse(tooMany()));
  }
}

interface Waiting {
  readonly request: HttpRequest;
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** API servers retry after this time by themselves. */
const RETRY_AFTER_SECONDS = 1;

function tooMany() {
  const message = 'too many admission reviews wait to be judged: try again later';
  return failure('TooManyRequests', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
