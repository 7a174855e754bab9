/** One JobSet in a simulated world with admission, which somebody changes while it lives. */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { JsonPatchOperation } from '@lockstep/kube/patch/json-patch.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { restartsInPlace } from '../../jobset/policies/restart-strategy.ts';
import { History } from '../history.ts';
import type { PropertyName, Violation } from '../properties.ts';
import type { Scenario } from '../scenario.ts';
import { NAME, NAMESPACE } from '../user.ts';
import { World } from '../world.ts';
import { type FinalState, finalStateOf } from './final-state.ts';

/** Where a group is when its JobSet changes. */
export const PHASES = [
  /** A Pod runs, and no epoch is released. */
  'Starting',
  'Running',
  /** A worker has died, and nobody has heard of it. */
  'Ending',
  /** The epoch is over, and the next is not released. */
  'Gathering',
  /** No Pod is left; the group is resumed after the change. */
  'Suspended',
  /** All workers have succeeded, and the JobSet is Completed. */
  'Finished',
] as const;
export type Phase = (typeof PHASES)[number];

/** Each phase is reached within this time, in virtual time. */
const PHASE_LIMIT_MS = 120_000;
/** A phase that lasts has lasted this long. */
const SETTLED_MS = 10_000;
/** A group at rest looks the same for this long, at each look. */
const RESTED_MS = 60_000;
const LOOK_MS = 10_000;
const REST_LIMIT_MS = 20 * 60_000;
/** The others depend on the policies, on what befalls a group, which a change may be, or on barriers. */
const ALWAYS: ReadonlySet<PropertyName> = new Set([
  'Epochs never go back',
  'Completed and Failed are final',
  'Each second is counted once',
  'The operator does not contradict itself',
  'Nothing throws',
]);
/** Barriers are open in a group that does not restart in place: `docs/reference/in-place-restart.md`. */
const WITH_BARRIERS: ReadonlySet<PropertyName> = new Set([
  'One epoch runs at a time',
  'No slot starts two workers in one epoch',
  'A release comes first',
]);
const AT = { namespace: NAMESPACE, name: NAME } as const;

export class LiveGroup {
  readonly #world: World;
  readonly #history: History;

  private constructor(scenario: Scenario, jobSet: JobSet) {
    const clock = { monotonic: () => this.#world.cluster.clock.monotonic() };
    this.#history = new History(clock);
    this.#world = new World({ ...scenario, hasWebhooks: true }, this.#history, jobSet);
    // A change is judged before anybody hears of what happened before it.
    this.#world.webhooks.weather.begin({ latencyMs: 0 });
    // A change may end any epoch.
    this.#world.properties.excuse();
  }

  /** Rejects with `ApiStatusError` if such a JobSet cannot be created. */
  static async start(scenario: Scenario, jobSet: JobSet): Promise<LiveGroup> {
    const group = new LiveGroup(scenario, jobSet);
    try {
      await group.#world.start();
    } catch (error) {
      await group.stop();
      throw error;
    }
    return group;
  }

  /** A property that no change of a spec excuses does not hold, of a group that has this JobSet now. */
  violation({ metadata, spec }: JobSet): Violation | undefined {
    const hasBarriers = restartsInPlace(spec, metadata.annotations);
    for (const event of this.#history.events) {
      if (event.kind !== 'Violated') continue;
      const { property } = event.violation;
      if (ALWAYS.has(property) || (hasBarriers && WITH_BARRIERS.has(property))) {
        return event.violation;
      }
    }
    return undefined;
  }

  async reach(phase: Phase): Promise<void> {
    const world = this.#world;
    const { properties } = world;
    if (phase === 'Starting') return this.#until(() => world.members.length > 0);
    await this.#until(() => world.isAtRest);
    await world.cluster.clock.advance(SETTLED_MS);
    switch (phase) {
      case 'Running':
        return;
      case 'Ending':
      case 'Gathering':
        world.members[0]?.exit({ signal: 'SIGKILL' });
        if (phase === 'Gathering') await this.#until(() => properties.epoch > 1);
        return;
      case 'Suspended':
        await world.user.patch({ spec: { suspend: true } });
        await this.#until(() => world.members.length === 0);
        await world.cluster.clock.advance(SETTLED_MS);
        return;
      case 'Finished':
        for (const member of world.members) member.exit({ exitCode: 0 });
        await this.#until(() => properties.isFinished);
        await world.cluster.clock.advance(SETTLED_MS);
    }
  }

  get(): Promise<Stored<JobSet>> {
    return this.#world.cluster.client.get(JOBSETS, AT);
  }

  /** Why the API server refuses the change, or undefined. */
  async change(operations: readonly JsonPatchOperation[]): Promise<ApiStatusError | undefined> {
    try {
      const { client } = this.#world.cluster;
      await this.#world.done(client.patch(JOBSETS, AT, { type: 'json', operations }));
      return undefined;
    } catch (error) {
      if (error instanceof ApiStatusError) return error;
      throw error;
    }
  }

  resume(): Promise<void> {
    return this.#world.user.patch({ spec: { suspend: false } });
  }

  /** The state that stays, or undefined if none stays within the limit. */
  async rest(): Promise<FinalState | undefined> {
    const { clock } = this.#world.cluster;
    const endMs = clock.monotonic() + REST_LIMIT_MS;
    let last = await finalStateOf(this.#world);
    for (let restedMs = 0; clock.monotonic() < endMs; ) {
      await clock.advance(LOOK_MS);
      const now = await finalStateOf(this.#world);
      restedMs = deepEqual(now, last) ? restedMs + LOOK_MS : 0;
      last = now;
      if (restedMs >= RESTED_MS) return last;
    }
    return undefined;
  }

  stop(): Promise<void> {
    return this.#world.stop();
  }

  #until(isReached: () => boolean): Promise<void> {
    return this.#world.cluster.clock.runUntil(isReached, PHASE_LIMIT_MS);
  }
}
