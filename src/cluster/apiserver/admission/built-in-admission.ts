import type { ApiObject } from '../resources/api-object.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { ServerState } from '../resources/server-state.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { admitPod } from './pod-admission.ts';

/** A new object on its way into a collection. */
export interface CreateReview {
  readonly of: ServedResource;
  readonly namespace: string | undefined;
  readonly object: ApiObject;
}

/**
 * What the server itself has to say to a new object beyond its kind: it may complete or refuse it.
 * Done twice, it changes nothing more.
 */
export function admitNew(server: ServerState, review: CreateReview): ApiObject {
  namespaceLifecycle(server.resources, review);
  const isPod = review.of.group === '' && review.of.plural === 'pods';
  return isPod ? admitPod(server, review) : review.object;
}
