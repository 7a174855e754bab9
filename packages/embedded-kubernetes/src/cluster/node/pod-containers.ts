/** The containers of a Pod, from its spec, and their kinds. */
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';

/**
 * `sidecar` is an init container with restartPolicy Always. `ephemeral` is one that was added for
 * inspection: it is started once, in any state of the Pod, and does not affect it.
 */
export type ContainerKind = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export interface KnownContainer<K extends ContainerKind = ContainerKind> {
  readonly container: Container;
  readonly kind: K;
}

/** All that run in the Pod, including those added later. */
export function allContainersOf(spec: PodSpec): readonly KnownContainer[] {
  return [...containersOf(spec), ...ephemeralContainersOf(spec)];
}

export function ephemeralContainersOf({
  ephemeralContainers = [],
}: PodSpec): readonly KnownContainer<'ephemeral'>[] {
  return ephemeralContainers.map((container) => ({ container, kind: 'ephemeral' }));
}

/**
 * The containers that make up the Pod: init containers and sidecars in order, then the regular
 * ones.
 */
export function containersOf(
  spec: PodSpec,
): readonly KnownContainer<Exclude<ContainerKind, 'ephemeral'>>[] {
  return [
    ...(spec.initContainers ?? []).map((container) => ({
      container,
      kind: container.restartPolicy === 'Always' ? ('sidecar' as const) : ('init' as const),
    })),
    ...spec.containers.map((container) => ({ container, kind: 'regular' as const })),
  ];
}
