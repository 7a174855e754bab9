/** Of which containers a Pod is made, by its spec, and what each of them is to it. */
import type { Container, PodSpec } from '../../kube/objects/pod.ts';

/**
 * `sidecar` is an init container with restartPolicy Always. `ephemeral` is one that was added to look
 * into the Pod: it is started once, whatever else the Pod does, and means nothing for it.
 */
export type ContainerKind = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export interface KnownContainer<K extends ContainerKind = ContainerKind> {
  readonly container: Container;
  readonly kind: K;
}

/** All that run in the Pod, those too that were added later. */
export function allContainersOf(spec: PodSpec): readonly KnownContainer[] {
  return [...containersOf(spec), ...ephemeralContainersOf(spec)];
}

export function ephemeralContainersOf({
  ephemeralContainers = [],
}: PodSpec): readonly KnownContainer<'ephemeral'>[] {
  return ephemeralContainers.map((container) => ({ container, kind: 'ephemeral' }));
}

/** Those of which the Pod is made: init containers and sidecars in order, then the regular ones. */
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
