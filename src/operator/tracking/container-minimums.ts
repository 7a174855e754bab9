/** Reads the minimums of a namespace's LimitRanges. */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { LIMIT_RANGES } from '@lockstep/kube/objects/core.ts';
import { compareQuantities, parseQuantity } from '@lockstep/kube/quantity.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { ContainerMinimums } from '../../jobset/injection/agent-resources.ts';

/** A namespace has few; further ones are not read. */
const MAX_LIMIT_RANGES = 100;

/**
 * The minimums for each container. The operator reads them when it makes Jobs, because their
 * templates never change afterwards. Without the right to read them the answer is `Unknown`; rejects
 * while the API server does not answer.
 */
export async function containerMinimums(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<ContainerMinimums> {
  try {
    const options = { namespace, limit: MAX_LIMIT_RANGES, signal };
    const { items, metadata } = await client.list(LIMIT_RANGES, options);
    if (metadata.continue !== undefined && metadata.continue !== '') return 'Unknown';
    const minimums = items
      .flatMap(({ spec }) => spec?.limits ?? [])
      .flatMap(({ type, min = {} }) => (type === 'Container' ? [min] : []));
    return minimums.reduce(largest, {});
  } catch (error) {
    if (isReason(error, 'Forbidden')) return 'Unknown';
    // The embedded cluster has no such kind.
    if (isReason(error, 'NotFound')) return {};
    throw error;
  }
}

function largest(one: StringMap, other: StringMap): StringMap {
  const merged = { ...one };
  for (const [name, amount] of Object.entries(other)) {
    const [known, next] = [parseQuantity(merged[name] ?? ''), parseQuantity(amount)];
    const isLarger = known === undefined || (next && compareQuantities(known, next) < 0);
    if (next !== undefined && isLarger) merged[name] = amount;
  }
  return merged;
}
