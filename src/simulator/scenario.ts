/** A scenario: a group, and what befalls it. A seed gives one, and a shrunk one is as good. */
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { burstsOf, one, pick, skew, weighted } from './chance.ts';
import {
  FEATURE_KINDS,
  type FeatureAct,
  type Features,
  featuresOf,
  isFeatureKind,
} from './features/features.ts';
import {
  INVALID_TOKENS,
  LATE_KINDS,
  type NetworkAct,
  REFUSED_CHANGES,
  TOKEN_KINDS,
  WEBHOOK_FAULTS,
  WEBHOOK_KINDS,
} from './network/network-acts.ts';

export interface Scenario extends Features {
  /** Also for chance in the world itself. */
  readonly seed: number;
  readonly jobs: readonly ReplicatedJobShape[];
  readonly nodes: number;
  /** Replicas of the operator. */
  readonly operators: number;
  readonly maxRestarts: number;
  readonly isInOrder: boolean;
  /** The API server asks the replicas' webhooks about JobSets and Pods; absent: none is installed. */
  readonly hasWebhooks?: true;
  /** How the hub checks the tokens of agents: by published keys, or by reviews; absent: it believes them. */
  readonly tokens?: 'Keys' | 'Reviews';
  /** In the order of their times. */
  readonly acts: readonly TimedAct[];
}

export interface ReplicatedJobShape {
  readonly name: string;
  readonly replicas: number;
  readonly pods: number;
}

export interface TimedAct {
  /** Milliseconds since the JobSet was created. */
  readonly atMs: number;
  readonly act: Act;
}

/** Members, nodes and operators are numbers; of fewer, the rest of the division counts. */
export type Act =
  | { readonly kind: 'WorkerExits'; readonly member: number; readonly exitCode: number }
  | { readonly kind: 'WorkerKilled'; readonly member: number }
  | { readonly kind: 'WorkerHangs'; readonly member: number }
  | { readonly kind: 'AgentCrashes'; readonly member: number }
  | { readonly kind: 'MarkerTorn'; readonly member: number; readonly keeps: number }
  | { readonly kind: 'PodDeleted'; readonly member: number }
  | { readonly kind: 'WorkerSucceeds'; readonly member: number }
  | { readonly kind: 'AllSucceed' }
  | { readonly kind: 'NodeSilent'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'OperatorKilled'; readonly operator: number; readonly forMs: number }
  | {
      readonly kind: 'OperatorDiesAtWrite';
      readonly operator: number;
      readonly write: number;
      readonly when: 'Before' | 'After';
    }
  | { readonly kind: 'OperatorPaused'; readonly operator: number; readonly forMs: number }
  | { readonly kind: 'OperatorClock'; readonly operator: number; readonly aheadMs: number }
  | {
      readonly kind: 'ClockJumps';
      readonly of: Party;
      readonly one: number;
      readonly aheadMs: number;
    }
  | { readonly kind: 'HubCut'; readonly member: number | undefined; readonly forMs: number }
  | { readonly kind: 'StreamsReset' }
  | {
      readonly kind: 'ApiFault';
      readonly to: Party;
      /** One of them alone. */
      readonly one?: number;
      readonly fault: ApiFault;
      readonly forMs: number;
    }
  | {
      readonly kind: 'WatchesEnd';
      readonly to: Party;
      readonly one?: number;
      readonly how: 'Closed' | 'Gone';
    }
  | { readonly kind: 'ControllersDown'; readonly forMs: number }
  | { readonly kind: 'Suspended'; readonly forMs: number }
  | { readonly kind: 'RestartAsked' }
  | NetworkAct
  | { readonly kind: 'Resized'; readonly job: number; readonly pods: number }
  /** `ahead`: the epoch that it announces, from the one that runs. */
  | { readonly kind: 'PodForged'; readonly member: number; readonly ahead: number }
  | FeatureAct;

export type ActKind = Act['kind'];
type GroupActKind = Exclude<ActKind, FeatureAct['kind']>;
export type Party = 'Operators' | 'Agents';
export type ApiFault = (typeof API_FAULTS)[number];

/** How often each kind is drawn, relative to the others. */
const WEIGHTS: Readonly<Record<GroupActKind, number>> = {
  WorkerExits: 8,
  WorkerKilled: 6,
  WorkerHangs: 3,
  AgentCrashes: 6,
  MarkerTorn: 2,
  PodDeleted: 4,
  WorkerSucceeds: 1,
  AllSucceed: 0.3,
  NodeSilent: 1,
  OperatorKilled: 5,
  OperatorDiesAtWrite: 6,
  OperatorPaused: 3,
  OperatorClock: 1,
  ClockJumps: 1,
  HubCut: 4,
  StreamsReset: 3,
  ApiFault: 8,
  WatchesEnd: 3,
  ControllersDown: 2,
  Suspended: 1,
  RestartAsked: 1,
  Resized: 1,
  PodForged: 2,
  WebhooksDown: 3,
  ChangeRefused: 1,
  HubLate: 1,
  TokenInvalid: 3,
  TokensUnchecked: 1,
};

const GROUP_KINDS = Object.keys(WEIGHTS) as readonly GroupActKind[];
export const ACT_KINDS: readonly ActKind[] = [...GROUP_KINDS, ...FEATURE_KINDS];
/** The others are drawn apart. */
const NETWORK_KINDS: readonly GroupActKind[] = [...WEBHOOK_KINDS, ...TOKEN_KINDS, ...LATE_KINDS];
const COMMON_KINDS = GROUP_KINDS.filter((kind) => !NETWORK_KINDS.includes(kind));
export const PARTIES: readonly Party[] = ['Operators', 'Agents'];
export const API_FAULTS = [
  'Slow',
  'Cut',
  'Refuses429',
  'Refuses500',
  'LosesAnswers',
  'LateWatches',
  /** What happened meanwhile comes as one list. */
  'StalledWatches',
] as const;
const MAX_ACTS = 30;
/** Numbers of members, nodes and operators are drawn below this. */
const ANY = 1_000_000;
const DEFAULT_MINUTES = 10;
const MINUTE_MS = 60_000;
/** By default a group has 2 members to this many. */
const MAX_DEFAULT_MEMBERS = 8;
const MAX_NODES = 3;
const MAX_OPERATORS = 3;
/** Restarts that no scenario uses up. */
const MANY_RESTARTS = 1000;
const MAX_FEW_RESTARTS = 3;
/** How long half of the faults last at most, and the others. */
const SHORT_FAULT_MS = 3000;
const LONG_FAULT_MS = 90_000;
/** Pods of a node that is not heard of are evicted after minutes, so these last ten times as long. */
const SILENCE_FACTOR = 10;
const MAX_WRITES_TO_LIVE = 8;
/** Forged Pods announce the epoch before the running one, or one of the next. */
const FORGED_EPOCHS = 4;
/** Which share of seeds has few kinds of faults: several of one kind meet more often there. */
const FEW_KINDS_SHARE = 0.5;
const MIN_KINDS = 2;
const MAX_KINDS = 6;
/** Without one of these, little happens. */
const FAILURES: readonly GroupActKind[] = [
  'WorkerExits',
  'WorkerKilled',
  'AgentCrashes',
  'PodDeleted',
];
/** Which share of faults of a network has one process alone. */
const ONE_SHARE = 0.4;
const MAX_RESIZED_PODS = 4;
/** With these, the seeds that planted bugs name have none of both. */
const WEBHOOKS_SALT = 150;
const TOKENS_SALT = 965;
const LATE_SALT = 1445;
const BURSTS_SALT = 4242;
const EXTRA_SHARE = 0.33;
const MAX_EXTRA_ACTS = 8;

export interface ScenarioOptions {
  /** By default 2 to `MAX_DEFAULT_MEMBERS`. */
  readonly members?: number | undefined;
  /** By default all. */
  readonly kinds?: readonly ActKind[] | undefined;
  /** How long acts happen; by default `DEFAULT_MINUTES`. */
  readonly minutes?: number | undefined;
}

export function scenarioOf(seed: number, options: ScenarioOptions = {}): Scenario {
  const random = new SeededRandom(seed);
  const kinds = options.kinds?.filter((kind) => !isFeatureKind(kind)) ?? kindsFor(random);
  const members = options.members ?? 2 + pick(random, MAX_DEFAULT_MEMBERS - 1);
  const jobs = shapesOf(random, members);
  const lastMs = (options.minutes ?? DEFAULT_MINUTES) * MINUTE_MS;
  const count = kinds.length === 0 ? 0 : 1 + pick(random, MAX_ACTS);
  const bursts = burstsOf(new SeededRandom(seed + BURSTS_SALT * 2 ** 32));
  let atMs = 0;
  const acts: TimedAct[] = [];
  for (let i = 0; i < count; i++) {
    // Much goes wrong only if the next comes before the last is over.
    const isBurst = random.next() < bursts.share;
    atMs += isBurst ? pick(random, bursts.ms) : pick(random, (2 * lastMs) / count);
    acts.push({ atMs, act: drawn(random, kinds) });
  }
  const features = featuresOf(seed, options.kinds, lastMs);
  return {
    seed,
    jobs,
    nodes: 1 + pick(random, MAX_NODES),
    operators: 1 + pick(random, MAX_OPERATORS),
    maxRestarts: random.next() < 0.2 ? pick(random, MAX_FEW_RESTARTS + 1) : MANY_RESTARTS,
    isInOrder: jobs.length > 1 && random.next() < 0.5,
    ...features,
    ...extrasOf(seed, acts.concat(features.acts), lastMs, options.kinds),
  };
}

/** Drawn apart, as the features. `given`: all kinds of acts that there are to be. */
function extrasOf(
  seed: number,
  acts: readonly TimedAct[],
  lastMs: number,
  given: readonly ActKind[] | undefined,
): Pick<Scenario, 'hasWebhooks' | 'tokens' | 'acts'> {
  const own = [...acts];
  const has = (salt: number, kinds: readonly GroupActKind[]): boolean => {
    if (given !== undefined) return kinds.some((kind) => given.includes(kind));
    const random = new SeededRandom(seed + salt * 2 ** 32);
    if (random.next() >= EXTRA_SHARE) return false;
    for (let left = 1 + pick(random, MAX_EXTRA_ACTS); left > 0; left--) {
      own.push({ atMs: pick(random, lastMs), act: drawn(random, kinds) });
    }
    return true;
  };
  const hasWebhooks = has(WEBHOOKS_SALT, WEBHOOK_KINDS);
  const hasTokens = has(TOKENS_SALT, TOKEN_KINDS);
  has(LATE_SALT, LATE_KINDS);
  return {
    ...(hasWebhooks && { hasWebhooks }),
    ...(hasTokens && { tokens: seed % 2 === 0 ? 'Keys' : 'Reviews' }),
    acts: own.toSorted((a, b) => a.atMs - b.atMs),
  };
}

function kindsFor(random: SeededRandom): readonly GroupActKind[] {
  if (random.next() >= FEW_KINDS_SHARE) return COMMON_KINDS;
  const kinds = new Set([one(random, FAILURES)]);
  const count = MIN_KINDS + pick(random, MAX_KINDS - MIN_KINDS + 1);
  while (kinds.size < count) kinds.add(one(random, COMMON_KINDS));
  return [...kinds];
}

function shapesOf(random: SeededRandom, members: number): readonly ReplicatedJobShape[] {
  const first = random.next() < 0.5 ? members : 1 + pick(random, members);
  const replicas = first % 2 === 0 && random.next() < 0.4 ? 2 : 1;
  const jobs = [{ name: 'a', replicas, pods: first / replicas }];
  return first === members ? jobs : [...jobs, { name: 'b', replicas: 1, pods: members - first }];
}

function drawn(random: SeededRandom, kinds: readonly GroupActKind[]): Act {
  const kind = weighted(random, kinds, WEIGHTS);
  const member = pick(random, ANY);
  const forMs = 1 + pick(random, random.next() < 0.5 ? SHORT_FAULT_MS : LONG_FAULT_MS);
  switch (kind) {
    case 'WorkerExits':
      return { kind, member, exitCode: 1 + pick(random, 255) };
    case 'WorkerKilled':
    case 'WorkerHangs':
    case 'WorkerSucceeds':
    case 'AgentCrashes':
    case 'PodDeleted':
      return { kind, member };
    case 'MarkerTorn':
      return { kind, member, keeps: random.next() };
    case 'AllSucceed':
    case 'StreamsReset':
    case 'RestartAsked':
      return { kind };
    case 'NodeSilent':
      return { kind, node: member, forMs: SILENCE_FACTOR * forMs };
    case 'OperatorKilled':
    case 'OperatorPaused':
      return { kind, operator: member, forMs };
    case 'OperatorDiesAtWrite': {
      const when = random.next() < 0.5 ? 'Before' : 'After';
      return { kind, operator: member, write: pick(random, MAX_WRITES_TO_LIVE), when };
    }
    case 'OperatorClock':
      return { kind, operator: member, aheadMs: skew(random) };
    case 'ClockJumps':
      return { kind, of: one(random, PARTIES), one: member, aheadMs: skew(random) };
    case 'HubCut':
      return { kind, member: random.next() < 0.3 ? undefined : member, forMs };
    case 'ApiFault':
      return { kind, ...victims(random, member), fault: one(random, API_FAULTS), forMs };
    case 'WatchesEnd': {
      const how = random.next() < 0.5 ? 'Closed' : 'Gone';
      return { kind, ...victims(random, member), how };
    }
    case 'TokenInvalid':
      return { kind, member, how: one(random, INVALID_TOKENS), forMs };
    case 'HubLate':
      return { kind, member, forMs };
    case 'ControllersDown':
    case 'TokensUnchecked':
    case 'Suspended':
      return { kind, forMs };
    case 'WebhooksDown':
      return { kind, fault: one(random, WEBHOOK_FAULTS), forMs };
    case 'ChangeRefused':
      return { kind, change: one(random, REFUSED_CHANGES) };
    case 'Resized':
      return { kind, job: member, pods: 1 + pick(random, MAX_RESIZED_PODS) };
    case 'PodForged':
      return { kind, member, ahead: pick(random, FORGED_EPOCHS) - 1 };
  }
}

function victims(random: SeededRandom, index: number): { readonly to: Party; one?: number } {
  const to = one(random, PARTIES);
  return random.next() < ONE_SHARE ? { to, one: index } : { to };
}
