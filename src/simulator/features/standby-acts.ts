/** What befalls warm standbys in a scenario. */
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { one, pick, weighted } from '../chance.ts';

/**
 * When a standby dies: at once, while it prepares itself, when the agent has decided to release it,
 * or as soon as it is released.
 */
export type StandbyDeath = (typeof STANDBY_DEATHS)[number];
export const STANDBY_DEATHS = ['Now', 'Preparing', 'Releasing', 'Released'] as const;

export type StandbyAct =
  | { readonly kind: 'StandbyDies'; readonly member: number; readonly when: StandbyDeath }
  /** With 0. */
  | { readonly kind: 'StandbyExits'; readonly member: number }
  /** The next one prepares itself for this much longer. */
  | { readonly kind: 'StandbySlow'; readonly member: number; readonly forMs: number };

const WEIGHTS: Readonly<Record<StandbyAct['kind'], number>> = {
  StandbyDies: 6,
  StandbyExits: 1,
  StandbySlow: 2,
};
export const STANDBY_KINDS = Object.keys(WEIGHTS) as readonly StandbyAct['kind'][];

/** With this one, the seeds that older planted bugs name have no standbys. */
const SALT = 991;
/** The share of seeds with supervised members that have standbys. */
const SHARE = 0.3;
const MAX_ACTS = 6;
/** Numbers of members are drawn below this. */
const ANY_MEMBER = 1_000_000;
const MAX_SLOW_MS = 120_000;

/**
 * Some acts within this time, in any order; undefined: the group has no standbys. If only some kinds
 * are asked for, it has some for these kinds alone. Drawn apart, so that the rest of a seed does not
 * depend on it.
 */
export function standbyActs(
  seed: number,
  asked: readonly string[] | undefined,
  lastMs: number,
): readonly { readonly atMs: number; readonly act: StandbyAct }[] | undefined {
  const random = new SeededRandom(seed + SALT * 2 ** 32);
  const kinds = STANDBY_KINDS.filter((kind) => asked?.includes(kind) !== false);
  if (kinds.length === 0 || (asked === undefined && random.next() >= SHARE)) return undefined;
  return Array.from({ length: 1 + pick(random, MAX_ACTS) }, () => {
    const atMs = pick(random, lastMs);
    const kind = weighted(random, kinds, WEIGHTS);
    const member = pick(random, ANY_MEMBER);
    const when = one(random, STANDBY_DEATHS);
    const forMs = 1 + pick(random, MAX_SLOW_MS);
    if (kind === 'StandbySlow') return { atMs, act: { kind, member, forMs } };
    return { atMs, act: kind === 'StandbyDies' ? { kind, member, when } : { kind, member } };
  });
}
