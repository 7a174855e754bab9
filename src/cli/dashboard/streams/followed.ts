/** A collection that is followed, and why it cannot be at the moment. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type {
  Indexes,
  Informer,
  ResourceEventHandler,
} from '@lockstep/kube/runtime/informer/informer.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import type { ClusterHealth } from './cluster-health.ts';

export interface Surroundings {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly health: ClusterHealth;
}

export interface FollowedOptions<T extends KubeObject> extends Surroundings {
  readonly resource: Resource<T>;
  readonly namespace: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly indexes?: Indexes<T>;
  /** The part of an object to keep, and whether it counts; absent: all of it does. */
  readonly transform?: (object: Stored<T>) => Stored<T>;
  readonly keeps?: (object: Stored<T>) => boolean;
  readonly handler: ResourceEventHandler<T>;
  /** Called when `refusal` changes, and when the collection is there for the first time. */
  readonly onState: () => void;
}

/** A refusal may end by itself: rights are given, a definition is installed. */
const ASK_AGAIN_MS = 2000;
const ASK_TIMEOUT_MS = 5000;

export class Followed<T extends KubeObject> {
  readonly informer: Informer<T>;
  /** The server's answer to the last try; undefined: it is followed, or there was no answer. */
  refusal: ApiStatusError | undefined;
  readonly #options: FollowedOptions<T>;
  readonly #stopping = new AbortController();
  readonly #leaveHealth: () => void;
  #isAsking = false;

  constructor(options: FollowedOptions<T>) {
    this.#options = options;
    const onFailure = (error: unknown): void => this.#failed(error);
    this.informer = createInformer({ ...options, logger: SILENT, onFailure });
    this.informer.subscribe(options.handler);
    this.informer.whenSynced(this.#stopping.signal).then(
      () => this.#told(undefined),
      () => undefined,
    );
    this.#leaveHealth = options.health.follow({ recovered: () => this.informer.reconnect() });
  }

  async stop(): Promise<void> {
    this.#leaveHealth();
    this.#stopping.abort(new Error('nobody looks any more'));
    await this.informer.stop();
  }

  #failed(error: unknown): void {
    if (!isRefusal(error)) {
      this.#options.health.checkNow();
      return;
    }
    if (!this.#isAsking) void this.#askAgain(error);
  }

  async #askAgain(first: ApiStatusError): Promise<void> {
    const { clock, client, resource, namespace, labelSelector, fieldSelector } = this.#options;
    const { signal } = this.#stopping;
    const selected = defined({ namespace, labelSelector, fieldSelector });
    this.#isAsking = true;
    let refusal: ApiStatusError | undefined = first;
    while (refusal !== undefined && !signal.aborted) {
      this.#told(refusal);
      await sleep(clock, ASK_AGAIN_MS, signal).catch(() => undefined);
      try {
        await withDeadline(clock, ASK_TIMEOUT_MS, signal, (within) =>
          client.list(resource, { ...selected, limit: 1, signal: within }),
        );
        refusal = undefined;
      } catch (error) {
        if (isRefusal(error)) refusal = error;
      }
    }
    this.#isAsking = false;
    if (signal.aborted) return;
    this.#told(undefined);
    this.informer.reconnect();
  }

  #told(refusal: ApiStatusError | undefined): void {
    this.refusal = refusal;
    if (!this.#stopping.signal.aborted) this.#options.onState();
  }
}

/** No right, no session, or no such API; other answers pass. */
function isRefusal(error: unknown): error is ApiStatusError {
  return error instanceof ApiStatusError && [401, 403, 404].includes(error.code);
}
