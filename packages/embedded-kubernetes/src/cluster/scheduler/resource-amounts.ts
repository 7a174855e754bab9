/** Adds up the resources that Pods request. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, Pod } from '@lockstep/kube/objects/pod.ts';
import { parseQuantity } from '@lockstep/kube/quantity.ts';

/** Amounts by resource name, such as `cpu`, in billionths: exact for every quantity of the API. */
export type ResourceAmounts = ReadonlyMap<string, bigint>;

/**
 * What a Pod needs of its node: the sum of its containers and sidecars. An init container that
 * needs more, together with the sidecars before it, raises it.
 */
export function requestsOf(pod: Pod): ResourceAmounts {
  let sidecars: ResourceAmounts = new Map();
  let peak: ResourceAmounts = new Map();
  for (const container of pod.spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') sidecars = plus(sidecars, requested(container));
    else peak = larger(peak, plus(sidecars, requested(container)));
  }
  const running = pod.spec.containers.map(requested).reduce(plus, sidecars);
  return larger(peak, running);
}

/** Quantities as amounts. Unreadable ones count as nothing; the API server refuses them. */
export function amountsOf(quantities: StringMap | undefined): ResourceAmounts {
  const entries = Object.entries(quantities ?? {});
  return new Map(entries.map(([name, text]) => [name, parseQuantity(text)?.nano ?? 0n]));
}

export function plus(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return merged(a, b, (x, y) => x + y);
}

export function minus(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return merged(a, b, (x, y) => x - y);
}

function larger(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return merged(a, b, maximum);
}

// `Math.max` takes no bigint.
function maximum(x: bigint, y: bigint): bigint {
  if (x < y) return y;
  return x;
}

function merged(
  a: ResourceAmounts,
  b: ResourceAmounts,
  combine: (x: bigint, y: bigint) => bigint,
): ResourceAmounts {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, combine(result.get(name) ?? 0n, amount));
  return result;
}

/** A limit without a request is a request, as the API server defaults it. */
function requested({ resources }: Container): ResourceAmounts {
  return amountsOf({ ...resources?.limits, ...resources?.requests });
}
