/** Changes of container resources while a JobSet is suspended (KEP-1150). */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { compareQuantities, parseQuantity } from '@lockstep/kube/quantity.ts';

/**
 * Changes only requests and limits of containers and init containers, matched by name. A container
 * that only one side has stays as it is.
 */
export function resourceChanges(present: PodSpec, wanted: PodSpec): ContainerPatch | undefined {
  const containers = withResources(present.containers, wanted.containers);
  const initContainers = withResources(present.initContainers, wanted.initContainers);
  if (containers === undefined && initContainers === undefined) return undefined;
  return {
    ...(containers === undefined ? {} : { containers }),
    ...(initContainers === undefined ? {} : { initContainers }),
  };
}

/** The lists replace the present ones. */
export interface ContainerPatch {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

function withResources(
  present: readonly Container[] = [],
  wanted: readonly Container[] = [],
): readonly Container[] | undefined {
  const wantedOf = new Map(wanted.map((container) => [container.name, container]));
  let isChanged = false;
  const containers = present.map((container) => {
    const other = wantedOf.get(container.name);
    if (other === undefined || sameResources(container, other)) return container;
    isChanged = true;
    const { requests: _, limits: __, ...others } = container.resources ?? {};
    const { requests, limits } = other.resources ?? {};
    const resources = {
      ...others,
      ...(requests === undefined ? {} : { requests }),
      ...(limits === undefined ? {} : { limits }),
    };
    return { ...container, resources };
  });
  return isChanged ? containers : undefined;
}

export function sameResources(a: Container, b: Container): boolean {
  return (
    sameAmounts(a.resources?.limits, b.resources?.limits) &&
    sameAmounts(effectiveRequests(a), effectiveRequests(b))
  );
}

/** The API server uses a limit as the missing request. */
export function effectiveRequests({ resources }: Container): StringMap {
  return { ...resources?.limits, ...resources?.requests };
}

function sameAmounts(a: StringMap = {}, b: StringMap = {}): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => sameAmount(a[key] ?? '', b[key] ?? ''))
  );
}

/** The API server stores `1` for `1000m`. */
function sameAmount(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [parseQuantity(a), parseQuantity(b)];
  return first !== undefined && second !== undefined && compareQuantities(first, second) === 0;
}
