/**
 * Disturbs the operator at each of its writes, as the tool Sieve does. A first run records them; in
 * further runs the operator dies there, or sees what led to the write late, or only merged with what came
 * after. The group has to become the same, and all properties have to hold.
 *
 * An operator that starts with an older list than it had is not among them: its lists are consistent
 * reads, which no cache of an API server answers.
 */
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { runScenario } from '../run.ts';
import type { Act, Scenario, TimedAct } from '../scenario.ts';
import type { World } from '../world.ts';
import { differences, type FinalState, type Finding, finalStateOf } from './final-state.ts';

/** A write of one replica of the operator, other than of its lease and of Events. */
interface DecisionPoint {
  readonly operator: number;
  /** Its number among the writes of that replica since the JobSet was created, from 0. */
  readonly write: number;
  /** Milliseconds since the JobSet was created. */
  readonly atMs: number;
  /** For example, `PUT /apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/train/status #3`: the third of these. */
  readonly request: string;
}

const DISTURBANCES = [
  'DiesBefore',
  'DiesAfter',
  'SeesCauseLate',
  'SeesResultLate',
  'MissesCause',
  'MissesResult',
] as const;
type Disturbance = (typeof DISTURBANCES)[number];

/** What a run has become, from outside. */
interface Outcome {
  readonly state: FinalState;
  readonly epoch: number;
  /** How often a process of an operator started. */
  readonly starts: number;
}

interface DecisionOptions {
  /** By default all. */
  readonly stories?: readonly string[];
  /** Which runs to make, by what they are called; by default all. */
  readonly chooses?: (name: string) => boolean;
  readonly told?: (story: string, points: number, runs: number) => void;
  /** Called at once for each finding. */
  readonly found?: (finding: Finding) => void;
}

/** More than any story has. */
const MAX_POINTS = 500;
/** Before a write by this much, the operator has not heard of what leads to it. */
const LEAD_MS = 20;
/** How long the operator sees nothing new, or sees it late. */
const BLIND_MS = 10_000;
/** From one cause to the next: longer than the operator is blind, and than a replica takes to lead. */
const GAP_MS = 30_000;

const QUIET: Scenario = {
  seed: 1,
  jobs: [
    { name: 'a', replicas: 1, pods: 2 },
    { name: 'b', replicas: 1, pods: 1 },
  ],
  nodes: 2,
  operators: 2,
  maxRestarts: 9,
  isInOrder: true,
  acts: [],
};

/** Each cause has its own time, so that a disturbance does not make one of two. */
export const STORIES = {
  'restarts and runs': story(
    { kind: 'WorkerKilled', member: 0 },
    { kind: 'PodDeleted', member: 1 },
    { kind: 'AgentCrashes', member: 2 },
    { kind: 'RestartAsked' },
  ),
  'changes and runs': story(
    { kind: 'Suspended', forMs: GAP_MS / 2 },
    { kind: 'Resized', job: 0, pods: 3 },
    { kind: 'Resized', job: 0, pods: 1 },
  ),
  completes: story({ kind: 'WorkerExits', member: 1, exitCode: 3 }, { kind: 'AllSucceed' }),
  fails: { ...story({ kind: 'WorkerExits', member: 1, exitCode: 3 }), maxRestarts: 0 },
} satisfies Readonly<Record<string, Scenario>>;

const STORIES_BY_NAME: ReadonlyMap<string, Scenario> = new Map(Object.entries(STORIES));

function story(...acts: readonly Act[]): Scenario {
  const timed = acts.map((act, index): TimedAct => ({ atMs: (index + 1) * GAP_MS, act }));
  return { ...QUIET, acts: timed };
}

export async function disturbDecisions(options: DecisionOptions = {}): Promise<readonly Finding[]> {
  const { stories = [...STORIES_BY_NAME.keys()], chooses = () => true, told, found } = options;
  const findings: Finding[] = [];
  for (const name of stories) {
    const scenario = STORIES_BY_NAME.get(name);
    if (scenario === undefined) throw new Error(`there is no story "${name}"`);
    const { points, outcome } = await recorded(scenario);
    let runs = 0;
    for (const point of points) {
      for (const disturbance of DISTURBANCES) {
        const called = `${name}: ${disturbance} ${point.request}`;
        if (!chooses(called)) continue;
        runs++;
        const why = await differencesOf(disturbed(scenario, point, disturbance), {
          ...outcome,
          starts: outcome.starts + (disturbance.startsWith('Dies') ? 1 : 0),
        });
        if (why.length === 0) continue;
        findings.push({ name: called, why });
        found?.({ name: called, why });
      }
    }
    if (runs > 0) told?.(name, points.length, runs);
  }
  return findings;
}

/** The decision points of a run that nothing disturbs, and what becomes of it. */
export async function recorded(
  scenario: Scenario,
): Promise<{ readonly points: readonly DecisionPoint[]; readonly outcome: Outcome }> {
  const points: DecisionPoint[] = [];
  let outcome: Outcome | undefined;
  const { violation } = await runScenario(scenario, {
    began: (world) => follow(world, points),
    ended: async (world) => {
      outcome = await outcomeOf(world);
    },
  });
  if (violation !== undefined) throw new Error(`${violation.property}: ${violation.detail}`);
  if (outcome === undefined) throw new Error('the run has no end');
  if (points.length > MAX_POINTS) throw new Error(`more than ${MAX_POINTS} decision points`);
  return { points, outcome };
}

function follow({ operators, cluster }: World, points: DecisionPoint[]): void {
  const beganMs = cluster.clock.monotonic();
  const sent = new Map<string, number>();
  for (const [operator, { weather }] of operators.entries()) {
    let writes = 0;
    weather.onWrite = (when, { method, path }: HttpRequest) => {
      if (when === 'After') return;
      const write = writes++;
      if (/\/(leases|events)\b/.test(path)) return;
      const atMs = cluster.clock.monotonic() - beganMs;
      const request = `${method} ${path}`;
      const nth = (sent.get(request) ?? 0) + 1;
      sent.set(request, nth);
      points.push({ operator, write, atMs, request: `${request} #${nth}` });
    };
  }
}

function disturbed(scenario: Scenario, point: DecisionPoint, how: Disturbance): Scenario {
  const acts = [...scenario.acts, disturbing(point, how)];
  return { ...scenario, acts: acts.toSorted((a, b) => a.atMs - b.atMs) };
}

function disturbing({ operator, write, atMs }: DecisionPoint, how: Disturbance): TimedAct {
  const blind = (fault: 'LateWatches' | 'StalledWatches', fromMs: number): TimedAct => ({
    atMs: Math.max(0, fromMs),
    act: { kind: 'ApiFault', to: 'Operators', fault, forMs: BLIND_MS },
  });
  switch (how) {
    case 'DiesBefore':
      return { atMs: 0, act: { kind: 'OperatorDiesAtWrite', operator, write, when: 'Before' } };
    case 'DiesAfter':
      return { atMs: 0, act: { kind: 'OperatorDiesAtWrite', operator, write, when: 'After' } };
    case 'SeesCauseLate':
      return blind('LateWatches', atMs - LEAD_MS);
    case 'SeesResultLate':
      return blind('LateWatches', atMs);
    case 'MissesCause':
      return blind('StalledWatches', atMs - LEAD_MS);
    case 'MissesResult':
      return blind('StalledWatches', atMs);
  }
}

/** How what becomes of a run differs from this, or why that is not known. */
export async function differencesOf(
  scenario: Scenario,
  expected: Outcome,
): Promise<readonly string[]> {
  let outcome: Outcome | undefined;
  const { violation } = await runScenario(scenario, {
    ended: async (world) => {
      outcome = await outcomeOf(world);
    },
  });
  if (violation !== undefined) return [`${violation.property}: ${violation.detail}`];
  if (outcome === undefined) return ['the run has no end'];
  const { epoch, state, starts } = outcome;
  const epochs = epoch === expected.epoch ? [] : [`epoch ${epoch} instead of ${expected.epoch}`];
  const deaths =
    starts === expected.starts
      ? []
      : [`${starts} starts of operators instead of ${expected.starts}`];
  return [...epochs, ...deaths, ...differences(expected.state, state)];
}

async function outcomeOf(world: World): Promise<Outcome> {
  const starts = world.operators.reduce((sum, operator) => sum + operator.starts, 0);
  return { state: await finalStateOf(world), epoch: world.properties.epoch, starts };
}
