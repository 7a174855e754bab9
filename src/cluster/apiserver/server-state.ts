import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import { type Random, randomName } from '../../runtime/ports/random.ts';
import type { ApiObject } from './api-object.ts';
import type { ResourceTable } from './resource-table.ts';
import { collectionKey, type ServedResource } from './served-resource.ts';
import type { StrategyContext } from './strategy.ts';

/** What every verb works with. */
export interface ServerState {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly resources: ResourceTable;
  readonly admission: Admission;
  /** Aborts when the server closes: streams end then. */
  readonly closing: AbortSignal;
}

/** Decides about writes beyond the object itself; throws to refuse. */
export interface Admission {
  create(write: CreateReview): CreateReview['object'];
}

export interface CreateReview {
  readonly of: ServedResource;
  readonly namespace: string | undefined;
  readonly object: ApiObject;
}

export function strategyContext(server: ServerState, uid = server.random.uuid()): StrategyContext {
  return {
    nowMs: server.clock.now(),
    uid,
    randomName: (length) => randomName(server.random, length),
    exists: (plural, namespace, name) =>
      server.resources.core(plural).collection.get(collectionKey(namespace, name)) !== undefined,
  };
}
