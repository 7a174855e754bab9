/** Decides what the garbage collector does about one object. */
import type { DeleteOptions, OwnerReference } from '@lockstep/kube/meta.ts';
import {
  blocksOwner,
  FOREGROUND_FINALIZER,
  type GraphObject,
  isDeletingInForeground,
  isOrphaning,
  ORPHAN_FINALIZER,
} from './owner-graph.ts';

/**
 * An object whose owners are all gone is deleted. An object that keeps an owner only loses its
 * references to absent owners. An object in foreground deletion waits for the dependents that block
 * it; an orphaning object releases its dependents.
 */
export type Collection =
  | { readonly action: 'keep' }
  | {
      readonly action: 'delete';
      readonly policy: NonNullable<DeleteOptions['propagationPolicy']>;
      /** Its dependents wait for it in turn. The circle opens if the object blocks no owner. */
      readonly isCircular: boolean;
    }
  | { readonly action: 'disown'; readonly owners: readonly OwnerReference[] }
  | { readonly action: 'waitFor'; readonly dependents: readonly GraphObject[] }
  | { readonly action: 'free'; readonly dependents: readonly GraphObject[] }
  | { readonly action: 'finalize'; readonly finalizer: string };

/**
 * `absent`: verified to be gone. `waiting`: in foreground deletion. `unknown`: its kind is not
 * served or the reference makes no sense, so nothing may be concluded from it.
 */
export type OwnerState = 'present' | 'waiting' | 'absent' | 'unknown';

export function planCollection(
  object: GraphObject,
  dependents: readonly GraphObject[],
  stateOf: (owner: OwnerReference) => OwnerState,
): Collection {
  const { uid, deletionTimestamp, ownerReferences: owners = [] } = object.metadata;
  if (isOrphaning(object)) {
    if (dependents.length > 0) return { action: 'free', dependents };
    return { action: 'finalize', finalizer: ORPHAN_FINALIZER };
  }
  if (isDeletingInForeground(object)) {
    const blocking = dependents.filter((dependent) => blocksOwner(dependent, uid));
    if (blocking.length > 0) return { action: 'waitFor', dependents: blocking };
    return { action: 'finalize', finalizer: FOREGROUND_FINALIZER };
  }
  if (deletionTimestamp !== undefined || owners.length === 0) return { action: 'keep' };
  const states = owners.map((owner) => ({ owner, state: stateOf(owner) }));
  if (states.some(({ state }) => state === 'unknown')) return { action: 'keep' };
  const leaving = states.filter(({ state }) => state !== 'present').map(({ owner }) => owner);
  if (leaving.length === 0) return { action: 'keep' };
  if (leaving.length < owners.length) return { action: 'disown', owners: leaving };
  const isAwaited = states.some(({ state }) => state === 'waiting');
  const policy = isAwaited && dependents.length > 0 ? 'Foreground' : policyOf(object);
  const isCircular = isAwaited && dependents.some(isDeletingInForeground);
  return { action: 'delete', policy, isCircular };
}

/** The policy that the object's own finalizers ask for, which may be set before the deletion. */
function policyOf({ metadata }: GraphObject): NonNullable<DeleteOptions['propagationPolicy']> {
  if (metadata.finalizers?.includes(ORPHAN_FINALIZER) === true) return 'Orphan';
  if (metadata.finalizers?.includes(FOREGROUND_FINALIZER) === true) return 'Foreground';
  return 'Background';
}
