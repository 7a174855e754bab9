/**
 * How often Pods are read to say why members do not start. Thousands of JobSets may wait for nodes,
 * but restarts need the API server and the reconciling workers more.
 */
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';

const NAMESPACE_LOOKS: Rate = { perSecond: 5, burst: 20 };
const ALL_LOOKS: Rate = { perSecond: 20, burst: 40 };

export class StartLooks {
  readonly #ofNamespaces: KeyedBudget;
  readonly #ofAll: TokenBucket;
  #isLooking = false;

  constructor(clock: Clock) {
    this.#ofNamespaces = new KeyedBudget(NAMESPACE_LOOKS, clock);
    this.#ofAll = new TokenBucket(ALL_LOOKS, clock);
  }

  /** Undefined: not now. Only one look runs at a time, so that a slow API server delays no others. */
  look<T>(namespace: string, read: () => Promise<T>): Promise<T> | undefined {
    if (this.#isLooking || !this.#ofNamespaces.of(namespace).tryTake()) return undefined;
    if (!this.#ofAll.tryTake()) return undefined;
    this.#isLooking = true;
    return read().finally(() => {
      this.#isLooking = false;
    });
  }
}
