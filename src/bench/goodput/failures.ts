/**
 * What goes wrong in a simulated run: the unexpected interruptions that Meta counted in 54 days of
 * training Llama 3 with 405 billion parameters ("The Llama 3 Herd of Models", table 5), at times
 * and on members drawn from a seed.
 */
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';

export const RUN_DAYS = 54;
export const RUN_MS = RUN_DAYS * 24 * 60 * 60_000;

/** How often each happened. */
export const FAILURES = {
  GPU: 148,
  HBM: 72,
  Software: 54,
  Network: 35,
  'Host maintenance': 32,
  Others: 78,
} as const;
export type FailureKind = keyof typeof FAILURES;

/** Failures that a node may have again, until its member leaves it. */
const OF_A_NODE: readonly FailureKind[] = ['GPU', 'HBM', 'Network'];

/** Assumed: of all failures, one in so many is a hang. A node that is taken away never hangs. */
const FAILURES_PER_HANG = 8;
/**
 * Assumed, because no report tells it: 9 nodes are bad, and each fails 8 times unless its member
 * leaves it; then somebody repairs it. So a quarter of the failures of nodes come back on the node
 * of an earlier one.
 */
export const BAD_NODES = 9;
export const FAILURES_OF_A_BAD_NODE = 8;
/** Assumed: how long a bad node does its work before it fails again. */
const LEAST_RELAPSE_MS = 5 * 60_000;
const MOST_RELAPSE_MS = 15 * 60_000;

export interface Failure {
  readonly kind: FailureKind;
  /** The worker stops without a word. */
  readonly isHang: boolean;
  /** From 0 to 1: whether a Pod that is recreated lands on a spare node. */
  readonly luck: number;
}

/** The failures of one node. */
export interface Outage {
  /** When the first comes, in milliseconds since the start of the run. */
  readonly atMs: number;
  /** The member's completion index. */
  readonly slot: number;
  readonly first: Failure;
  /** Each comes `afterMs` after the first step that the group made since the failure before it. */
  readonly relapses: readonly (Failure & { readonly afterMs: number })[];
}

/** Outages of a whole run for `members`, in the order of time. */
export function drawOutages(random: Random, members: number): readonly Outage[] {
  const kinds = Object.entries(FAILURES) as [FailureKind, number][];
  const all = shuffled(
    kinds.flatMap(([kind, count]) => Array.from({ length: count }, () => kind)),
    random,
  );
  const mayHang = all.flatMap((kind, index) => (kind === 'Host maintenance' ? [] : [index]));
  const hangs = Math.floor(all.length / FAILURES_PER_HANG);
  const hanging = new Set(shuffled(mayHang, random).slice(0, hangs));
  const failures = all.map((kind, index): Failure => {
    return { kind, isHang: hanging.has(index), luck: random.next() };
  });
  const ofBadNodes = new Set(
    failures
      .filter(({ kind }) => OF_A_NODE.includes(kind))
      .slice(0, BAD_NODES * FAILURES_OF_A_BAD_NODE),
  );
  const bad = [...ofBadNodes];
  const single = failures.filter((failure) => !ofBadNodes.has(failure));
  return [
    ...single.map((first) => [first]),
    ...Array.from({ length: BAD_NODES }, () => bad.splice(0, FAILURES_OF_A_BAD_NODE)),
  ]
    .flatMap(([first, ...others]): Outage[] => {
      if (first === undefined) return [];
      const relapses = others.map((failure) => ({
        ...failure,
        afterMs: Math.round(between(LEAST_RELAPSE_MS, MOST_RELAPSE_MS, random)),
      }));
      const atMs = Math.round(between(0, RUN_MS, random));
      const slot = Math.floor(between(0, members, random));
      return [{ atMs, slot, first, relapses }];
    })
    .sort((a, b) => a.atMs - b.atMs);
}

function between(least: number, most: number, random: Random): number {
  return least + (most - least) * random.next();
}

function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
