/**
 * What a simulated group has beside its size: how its members get agents, and what these do for it.
 * Each is drawn apart, so that the rest of a seed does not depend on it.
 */
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { pick } from '../chance.ts';
import { MARKER_KIND, type MarkerAct, markerActs } from './marker-acts.ts';
import { STANDBY_KINDS, type StandbyAct, standbyActs } from './standby-acts.ts';

export interface Features {
  /** How members get their agents; absent: each agent supervises its worker. */
  readonly mode?: 'Sidecar';
  /** How many ranks each member starts; absent: its worker is no rank. */
  readonly processes?: number;
  /** Supervised workers have warm standbys. */
  readonly hasStandbys?: true;
  /** A Pod leaves its node when it was the first to fail this many times within minutes. */
  readonly replaceAfter?: number;
  /** A machine is checked after a worker that failed. */
  readonly hasPreflight?: true;
  /** Agents use the API server alone; absent: only while the hub does not answer. */
  readonly channel?: 'API';
}

/** The node of a member breaks: its worker is killed, and no preflight passes there for this time. */
interface NodeBreaks {
  readonly kind: 'NodeBreaks';
  readonly member: number;
  readonly forMs: number;
}

export type FeatureAct = StandbyAct | MarkerAct | NodeBreaks;
type FeatureKind = FeatureAct['kind'];
export const FEATURE_KINDS: readonly FeatureKind[] = [MARKER_KIND, ...STANDBY_KINDS, 'NodeBreaks'];

export function isFeatureKind(kind: string): kind is FeatureKind {
  return FEATURE_KINDS.some((each) => each === kind);
}

/** With these, the seeds that older planted bugs name have supervisors of one process, and no more. */
const MEMBERS_SALT = 7814;
const NODES_SALT = 265;
const CHANNEL_SALT = 4;
const SIDECAR_SHARE = 0.3;
const RANKS_SHARE = 0.3;
const MAX_PROCESSES = 4;
/** The share of seeds with supervised members that may leave their nodes. */
const NODES_SHARE = 0.3;
const MAX_STRIKES = 3;
const MAX_NODE_ACTS = 5;
const ANY_MEMBER = 1_000_000;
const MAX_BROKEN_MS = 300_000;
const API_SHARE = 0.1;

type Drawn<F> = F & {
  readonly acts: readonly { readonly atMs: number; readonly act: FeatureAct }[];
};

/** Acts within this time, in any order. `asked`: only these kinds, and what they need. */
export function featuresOf(
  seed: number,
  asked: readonly string[] | undefined,
  lastMs: number,
): Drawn<Features> {
  const members = membersOf(seed);
  const isApi = asked === undefined && chance(seed, CHANNEL_SALT).next() < API_SHARE;
  const shared = { ...members, ...(isApi && ({ channel: 'API' } as const)) };
  const markers = markerActs(seed, asked, lastMs);
  if (members.mode === 'Sidecar') return { ...shared, acts: markers };
  const standbys = standbyActs(seed, asked, lastMs);
  const { acts, ...nodes } = nodesOf(seed, asked, lastMs);
  return {
    ...shared,
    ...(standbys && { hasStandbys: true }),
    ...nodes,
    acts: [...(standbys ?? []), ...markers, ...acts],
  };
}

function membersOf(seed: number): Pick<Features, 'mode' | 'processes'> {
  const random = chance(seed, MEMBERS_SALT);
  const kind = random.next();
  if (kind < SIDECAR_SHARE) return { mode: 'Sidecar' };
  return kind < SIDECAR_SHARE + RANKS_SHARE ? { processes: 1 + pick(random, MAX_PROCESSES) } : {};
}

/** Whether members may leave their nodes, and what breaks there. */
function nodesOf(
  seed: number,
  asked: readonly string[] | undefined,
  lastMs: number,
): Drawn<Pick<Features, 'replaceAfter' | 'hasPreflight'>> {
  const random = chance(seed, NODES_SALT);
  const share = random.next();
  const isWanted = asked === undefined ? share < NODES_SHARE : asked.includes('NodeBreaks');
  if (!isWanted) return { acts: [] };
  const replaceAfter = pick(random, MAX_STRIKES + 1);
  const acts = Array.from({ length: 1 + pick(random, MAX_NODE_ACTS) }, () => {
    const atMs = pick(random, lastMs);
    const member = pick(random, ANY_MEMBER);
    const forMs = 1 + pick(random, MAX_BROKEN_MS);
    return { atMs, act: { kind: 'NodeBreaks', member, forMs } as const };
  });
  const hasPreflight = replaceAfter === 0 || random.next() < 0.5;
  return {
    ...(replaceAfter > 0 && { replaceAfter }),
    ...(hasPreflight && { hasPreflight }),
    acts,
  };
}

function chance(seed: number, salt: number): SeededRandom {
  return new SeededRandom(seed + salt * 2 ** 32);
}
