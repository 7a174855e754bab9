/** Chooses a node for a Pod. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { mayRestartAll, RESTART_ALL_FEATURE } from '@lockstep/kube/objects/restart-rule.ts';
import { AFFINITY_PROBLEM, type Survey } from './neighbours.ts';
import { matchesNode, nodePreference } from './node-affinity.ts';
import type { NodeLoad } from './node-loads.ts';
import { amountsOf, type ResourceAmounts } from './resource-amounts.ts';
import { isCordonedFor, untoleratedTaint, unwelcomeTaints } from './taints.ts';

/**
 * Among the nodes on which the Pod fits, the choice is the one that fulfils most of its preferences,
 * and among equals the one with the fewest Pods. If it fits on none, the message counts the nodes
 * by reason, as kube-scheduler's does.
 */
export type Placing =
  | { readonly outcome: 'fits'; readonly node: string }
  | {
      readonly outcome: 'unschedulable';
      readonly message: string;
      /** Whether the arrival of another Pod could help. */
      readonly awaitsNeighbour: boolean;
    };

export interface Ground {
  readonly nodes: Iterable<Stored<Node>>;
  readonly loadOf: (node: string) => NodeLoad;
  readonly survey: Survey;
}

export function placePod(pod: Pod, requests: ResourceAmounts, ground: Ground): Placing {
  const fitting: Candidate[] = [];
  const reasons = new Map<string, number>();
  let count = 0;
  for (const node of ground.nodes) {
    count++;
    const load = ground.loadOf(node.metadata.name);
    const problems = problemsOf(pod, requests, node, load, ground.survey);
    for (const problem of problems) reasons.set(problem, (reasons.get(problem) ?? 0) + 1);
    if (problems.length === 0) fitting.push({ name: node.metadata.name, node, pods: load.pods });
  }
  const best = preferredOf(pod, fitting, ground.survey);
  if (best !== undefined) return { outcome: 'fits', node: best.name };
  const list = [...reasons].map(([reason, times]) => `${times} ${reason}`).sort();
  return {
    outcome: 'unschedulable',
    message: count === 0 ? NO_NODES : unavailable(count, list.join(', ')),
    awaitsNeighbour: reasons.has(AFFINITY_PROBLEM),
  };
}

/** kube-scheduler's text for a Pod that fits on no node. */
export function unavailable(nodes: number, why: string): string {
  return `0/${nodes} nodes are available: ${why}.`;
}

const NO_NODES = 'no nodes available to schedule pods';

interface Candidate {
  readonly name: string;
  readonly node: Node;
  readonly pods: number;
}

/** The weight of each kind of preference, as in kube-scheduler's default profile. */
const TAINTS_WEIGHT = 3;
const NODE_AFFINITY_WEIGHT = 2;
const POD_AFFINITY_WEIGHT = 2;

function preferredOf(
  pod: Pod,
  candidates: readonly Candidate[],
  survey: Survey,
): Candidate | undefined {
  const scores = [
    { weight: TAINTS_WEIGHT, of: ({ node }: Candidate) => -unwelcomeTaints(pod, node) },
    { weight: NODE_AFFINITY_WEIGHT, of: ({ node }: Candidate) => nodePreference(pod, node) },
    { weight: POD_AFFINITY_WEIGHT, of: ({ node }: Candidate) => survey.preference(node) },
  ].map(({ weight, of }) => normalized(candidates.map(of), weight));
  const scoreAt = (i: number): number => scores.reduce((sum, score) => sum + (score[i] ?? 0), 0);
  return candidates
    .map((candidate, i) => ({ candidate, score: scoreAt(i) }))
    .reduce<Scored | undefined>(
      (best, each) => (best === undefined || isBetter(each, best) ? each : best),
      undefined,
    )?.candidate;
}

interface Scored {
  readonly candidate: Candidate;
  readonly score: number;
}

function isBetter(one: Scored, other: Scored): boolean {
  if (one.score !== other.score) return one.score > other.score;
  const [a, b] = [one.candidate, other.candidate];
  return a.pods === b.pods ? a.name < b.name : a.pods < b.pods;
}

/**
 * Maps scores from 0 for the least to `weight` for the most, so that several kinds can be added.
 */
function normalized(scores: readonly number[], weight: number): readonly number[] {
  const least = Math.min(...scores);
  const span = Math.max(...scores) - least;
  return scores.map((score) => (span === 0 ? 0 : (weight * (score - least)) / span));
}

/** The first problem that applies, in kube-scheduler's order. */
function problemsOf(
  pod: Pod,
  requests: ResourceAmounts,
  node: Node,
  load: NodeLoad,
  survey: Survey,
): readonly string[] {
  if (isCordonedFor(pod, node)) return ['node(s) were unschedulable'];
  const taint = untoleratedTaint(pod, node);
  if (taint !== undefined) {
    return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  }
  if (!matchesNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const missing = missingResources(requests, node, load);
  if (missing.length > 0) return missing;
  const problem = survey.problemOf(node) ?? undeclaredFeature(pod, node);
  return problem === undefined ? [] : [problem];
}

/** A node without the feature would not know the rule, and leave the container alone. */
function undeclaredFeature({ spec }: Pod, { status }: Node): string | undefined {
  if (!mayRestartAll(spec) || status?.declaredFeatures?.includes(RESTART_ALL_FEATURE)) {
    return undefined;
  }
  return `node declared features check failed - unsatisfied requirements: ${RESTART_ALL_FEATURE}`;
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
