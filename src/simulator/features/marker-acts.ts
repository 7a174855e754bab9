/** What befalls agents while they write their markers. */
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { one, pick } from '../chance.ts';

/** The last step of a write that is done; `Acted`: shortly after the agent has done what the marker records. */
export type MarkerStep = (typeof MARKER_STEPS)[number];
export const MARKER_STEPS = [
  'Created',
  'Written',
  'TextSynced',
  'Renamed',
  'Synced',
  'Acted',
] as const;

/** What a disk has of that which was not synced. */
export type Unsynced = (typeof UNSYNCED)[number];
export const UNSYNCED = ['Kept', 'Lost', 'Torn'] as const;

export interface MarkerAct {
  readonly kind: 'AgentDiesAtMarker';
  readonly member: number;
  /** Counted from 0. */
  readonly write: number;
  readonly step: MarkerStep;
  readonly unsynced: Unsynced;
}

export const MARKER_KIND = 'AgentDiesAtMarker';

/** With this one, the seeds that older planted bugs name have no such acts. */
const SALT = 6203;
const SHARE = 0.33;
const MAX_ACTS = 8;
/** Numbers of members are drawn below this. */
const ANY_MEMBER = 1_000_000;
/** An agent writes its marker twice for each epoch. */
const MAX_WRITES_TO_LIVE = 3;

/** Some acts within this time, in any order. Drawn apart, so that the rest of a seed does not depend on it. */
export function markerActs(
  seed: number,
  asked: readonly string[] | undefined,
  lastMs: number,
): readonly { readonly atMs: number; readonly act: MarkerAct }[] {
  const random = new SeededRandom(seed + SALT * 2 ** 32);
  const isDrawn = random.next() < SHARE;
  const count = (asked?.includes(MARKER_KIND) ?? isDrawn) ? 1 + pick(random, MAX_ACTS) : 0;
  return Array.from({ length: count }, () => ({
    atMs: pick(random, lastMs),
    act: {
      kind: MARKER_KIND,
      member: pick(random, ANY_MEMBER),
      write: pick(random, MAX_WRITES_TO_LIVE),
      step: one(random, MARKER_STEPS),
      unsynced: one(random, UNSYNCED),
    },
  }));
}
