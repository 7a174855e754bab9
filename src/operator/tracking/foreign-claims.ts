/** Reports objects that claim an owner in another namespace, which has no effect. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';
import { foreignClaim, type KnownOwners } from '../../jobset/foreign-claim.ts';

/**
 * Reports with Events. There may be thousands of these objects, so each namespace has a budget, all
 * together have one, and no object is reported twice.
 */
export interface ForeignClaimsOptions {
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly owners: KnownOwners;
}

const FOREIGN_OWNER = 'ForeignOwner';

/** Enough to see the problem; further objects are reported when they change. */
const OF_NAMESPACE: Rate = { perSecond: 0.2, burst: 50 };
const OF_ALL: Rate = { perSecond: 2, burst: 200 };
/** The most remembered objects. Beyond it all are forgotten, which costs a repetition. */
const MAX_TOLD = 10_000;

export class ForeignClaims {
  readonly #options: ForeignClaimsOptions;
  readonly #ofNamespaces: KeyedBudget;
  readonly #ofAll: TokenBucket;
  /** UIDs of objects. */
  readonly #told = new Set<string>();

  constructor(options: ForeignClaimsOptions) {
    this.#options = options;
    this.#ofNamespaces = new KeyedBudget(OF_NAMESPACE, options.clock);
    this.#ofAll = new TokenBucket(OF_ALL, options.clock);
  }

  follow<T extends KubeObject>(of: Resource, objects: Informer<T>): void {
    const see = (object: Stored<T>): void => this.#see(of, object);
    objects.subscribe({ added: see, updated: see });
  }

  #see(of: Resource, object: Stored<KubeObject>): void {
    const note = foreignClaim(object, this.#options.owners);
    const { uid, namespace = '' } = object.metadata;
    if (note === undefined || this.#told.has(uid)) return;
    if (!this.#ofNamespaces.of(namespace).tryTake() || !this.#ofAll.tryTake()) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.add(uid);
    const regarding = referenceTo(of, object);
    const action = 'Reconciling';
    this.#options.events.record({
      regarding,
      type: 'Warning',
      reason: FOREIGN_OWNER,
      action,
      note,
    });
  }
}
