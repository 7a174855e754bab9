import type { Stored } from '../../kube/meta.ts';
import type { Node } from '../../kube/node.ts';
import type { Pod } from '../../kube/pod.ts';
import type { NodeLoad } from './node-loads.ts';
import { amountsOf, type ResourceAmounts } from './resource-amounts.ts';
import { untoleratedTaint } from './taints.ts';

/**
 * Where a Pod goes: to the node with the fewest Pods among those that it fits on. If it fits on
 * none, the message counts the nodes by reason, as kube-scheduler's does.
 */
export type Placing =
  | { readonly outcome: 'fits'; readonly node: string }
  | { readonly outcome: 'unschedulable'; readonly message: string };

export function placePod(
  pod: Pod,
  requests: ResourceAmounts,
  nodes: Iterable<Stored<Node>>,
  loadOf: (node: string) => NodeLoad,
): Placing {
  let best: { readonly node: string; readonly pods: number } | undefined;
  const reasons = new Map<string, number>();
  let count = 0;
  for (const node of nodes) {
    count++;
    const { name } = node.metadata;
    const load = loadOf(name);
    const problems = problemsOf(pod, requests, node, load);
    for (const problem of problems) reasons.set(problem, (reasons.get(problem) ?? 0) + 1);
    if (problems.length > 0) continue;
    const isBetter =
      best === undefined || load.pods < best.pods || (load.pods === best.pods && name < best.node);
    if (isBetter) best = { node: name, pods: load.pods };
  }
  if (best !== undefined) return { outcome: 'fits', node: best.node };
  if (count === 0)
    return { outcome: 'unschedulable', message: 'no nodes available to schedule pods' };
  const list = [...reasons].map(([reason, times]) => `${times} ${reason}`).sort();
  const message = `0/${count} nodes are available: ${list.join(', ')}.`;
  return { outcome: 'unschedulable', message };
}

function problemsOf(
  pod: Pod,
  requests: ResourceAmounts,
  node: Node,
  load: NodeLoad,
): readonly string[] {
  if (!matchesSelector(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const taint = untoleratedTaint(pod, node);
  if (taint !== undefined) {
    return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  }
  return missingResources(requests, node, load);
}

function matchesSelector(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const wanted = Object.entries(pod.spec.nodeSelector ?? {});
  return wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

function missingResources(requests: ResourceAmounts, node: Node, load: NodeLoad): string[] {
  const allocatable = amountsOf(node.status?.allocatable ?? node.status?.capacity);
  const missing: string[] = [];
  const podLimit = allocatable.get('pods');
  // A Pod counts as one unit of `pods`, that is 10^9 billionths.
  if (podLimit !== undefined && BigInt(load.pods + 1) * 1_000_000_000n > podLimit) {
    missing.push('Too many pods');
  }
  for (const [name, amount] of requests) {
    const free = (allocatable.get(name) ?? 0n) - (load.requests.get(name) ?? 0n);
    if (amount > 0n && amount > free) missing.push(`Insufficient ${name}`);
  }
  return missing;
}
