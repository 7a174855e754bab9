/** Runs a scenario: its acts at their times, then peace until the group is at rest. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { TraceLine } from '../dashboard/messages/trace.ts';
import { Actor } from './acts.ts';
import { History, type TimedEvent } from './history.ts';
import { runningOf } from './member.ts';
import type { Violation } from './properties.ts';
import type { Scenario } from './scenario.ts';
import { Tracer } from './trace.ts';
import { World } from './world.ts';

/** Above the longest delay of a crash loop and the time after which Pods of a lost node are evicted. */
const REST_LIMIT_MS = 45 * 60_000;
const REST_LOOK_MS = 1000;
/** A group that rests this long has heard of everything that befell it. */
const RESTED_MS = 60_000;

export interface RunResult {
  /** Undefined: every property held. */
  readonly violation: Violation | undefined;
  readonly events: readonly TimedEvent[];
  readonly simulatedMs: number;
  readonly epochs: number;
}

/** Others who look at a run. */
interface RunWatch {
  /** The JobSet exists, and nothing has befallen it. */
  readonly began?: (world: World) => void;
  /** All that was to happen has happened. */
  readonly ended?: (world: World) => Promise<void>;
  /** Gets each line of a trace when it happens. */
  readonly trace?: (line: TraceLine) => void;
}

export async function runScenario(scenario: Scenario, watch: RunWatch = {}): Promise<RunResult> {
  const clock = { monotonic: () => world.cluster.clock.monotonic() };
  const tracer = watch.trace && new Tracer(clock, watch.trace);
  const history = new History(clock, tracer);
  const world: World = new World(scenario, history);
  tracer?.begin(scenario.seed, world.cluster.clock.now());
  const actor = new Actor(world);
  try {
    await world.start();
    watch.began?.(world);
    await play(world, actor, history, scenario);
    await watch.ended?.(world);
  } catch (error) {
    world.properties.threw(error as Error);
  }
  tracer?.end();
  await world.stop().catch((error: Error) => world.properties.threw(error));
  return {
    violation: history.violation,
    events: history.events,
    simulatedMs: world.cluster.clock.monotonic(),
    epochs: world.properties.epoch,
  };
}

async function play(
  world: World,
  actor: Actor,
  history: History,
  { acts }: Scenario,
): Promise<void> {
  const { clock } = world.cluster;
  const beganMs = clock.monotonic();
  for (const { atMs, act } of acts) {
    await clock.advance(Math.max(0, beganMs + atMs - clock.monotonic()));
    if (history.violation !== undefined) return;
    history.add({ kind: 'Act', act, ...defined({ target: actor.targetOf(act) }) });
    await actor.carryOut(act);
  }
  actor.heal();
  for (const operator of world.operators) operator.start();
  history.add({ kind: 'Peace' });
  const endMs = clock.monotonic() + REST_LIMIT_MS;
  for (
    let restedMs = 0;
    restedMs < RESTED_MS && clock.monotonic() < endMs;
    restedMs += REST_LOOK_MS
  ) {
    if (history.violation !== undefined) return;
    if (!world.isAtRest || withoutStandby(world).length > 0) restedMs = 0;
    await clock.advance(REST_LOOK_MS);
  }
  world.properties.rests(world.isAtRest, world.members.map(runningOf));
  const without = withoutStandby(world);
  if (without.length === 0) return;
  history.violated({
    property: 'Each worker has a standby at rest',
    detail: without.join(', '),
  });
}

/** The slots of members that run without the standby that they should have. */
function withoutStandby({ scenario, members }: World): readonly string[] {
  if (scenario.hasStandbys !== true) return [];
  return members
    .filter(
      ({ epoch, supervised }) => epoch !== undefined && supervised?.isStandbySettled === false,
    )
    .map(({ slot }) => slot);
}
