/**
 * Tests leases against deadlines: the worker of a Pod that is deleted by force has stopped before,
 * whatever the network does, as long as the clocks of API server and operator differ by less than
 * the margin.
 */

import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { timeText } from '@lockstep/kube/time.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LOST_NODE_MARGIN_MS,
  leaseMs,
  MIN_LOST_NODE_DEADLINE_MS,
} from '../jobset/injection/lost-node-deadline.ts';
import { LOST_NODE_DEADLINE } from '../jobset/names.ts';
import { lossMs } from '../jobset/plan/restart/lost-pods.ts';
import { podFacts } from '../jobset/roster/pod-facts.ts';
import { PodLease, UNCONFIRMED_AFTER_MS } from './pod-lease.ts';

const LEASE_MS = 60_000;

class Scene {
  readonly clock = new VirtualClock();
  readonly asked: number[] = [];
  readonly lapsed: number[] = [];
  readonly unconfirmed: number[] = [];
  /** After how long a question is answered; undefined: never. */
  answerMs: number | undefined = 10;
  /** How far the wall clock continued while the machine was suspended. */
  suspendedMs = 0;
  readonly lease = new PodLease({
    clock: {
      now: () => this.clock.now() + this.suspendedMs,
      monotonic: () => this.clock.monotonic(),
      setTimer: (delayMs, fire) => this.clock.setTimer(delayMs, fire),
    },
    random: new SeededRandom(1),
    leaseMs: LEASE_MS,
    ask: () => {
      const askedMs = this.clock.monotonic();
      this.asked.push(askedMs);
      if (this.answerMs === undefined) return;
      this.clock.setTimer(this.answerMs, () => this.lease.renew(askedMs));
    },
    lapsed: () => this.lapsed.push(this.clock.monotonic()),
    unconfirmed: () => this.unconfirmed.push(this.clock.monotonic()),
  });
}

describe('a lease', () => {
  it('is held from the first answer on, and asked for four times before it ends', async () => {
    const { clock, lease, asked, lapsed } = new Scene();
    lease.start();
    expect(lease.isHeld()).toBe(false);
    await clock.advance(10 * LEASE_MS);
    expect(lease.isHeld()).toBe(true);
    expect(lapsed).toEqual([]);
    expect(asked.length).toBeGreaterThan(35);
    expect(asked.length).toBeLessThan(60);
    lease.stop();
  });

  it('ends once when nothing answers, counted from the question that was answered last', async () => {
    const scene = new Scene();
    const { clock, lease, asked, lapsed } = scene;
    scene.answerMs = 5000;
    lease.start();
    await clock.advance(5000);
    scene.answerMs = undefined;
    await clock.advance(2 * LEASE_MS);
    expect(lapsed).toHaveLength(1);
    expect(lapsed[0]).toBeGreaterThanOrEqual((asked[0] ?? 0) + LEASE_MS);
    expect(lapsed[0]).toBeLessThanOrEqual((asked[0] ?? 0) + LEASE_MS + 2000);
    scene.answerMs = 10;
    await clock.advance(10_000);
    expect(lease.isHeld()).toBe(true);
    lease.stop();
  });

  it('reports once, after a while, that the Pod was never confirmed', async () => {
    const scene = new Scene();
    const { clock, lease, lapsed, unconfirmed } = scene;
    scene.answerMs = undefined;
    lease.start();
    await clock.advance(UNCONFIRMED_AFTER_MS - 1);
    expect(unconfirmed).toEqual([]);
    await clock.advance(20 * UNCONFIRMED_AFTER_MS);
    expect(unconfirmed).toHaveLength(1);
    expect([lease.isHeld(), lapsed]).toEqual([false, []]);
    scene.answerMs = 10;
    await clock.advance(10_000);
    expect(lease.isHeld()).toBe(true);
    lease.stop();
  });

  it('is not made longer by an answer that comes after a newer one, or too late', async () => {
    const { clock, lease } = new Scene();
    await clock.advance(LEASE_MS);
    lease.renew(LEASE_MS);
    lease.renew(LEASE_MS - 1000);
    await clock.advance(LEASE_MS - 1);
    expect(lease.isHeld()).toBe(true);
    await clock.advance(1);
    expect(lease.isHeld()).toBe(false);
  });

  it('ends too when the machine was suspended, where only the wall clock continued', async () => {
    const scene = new Scene();
    const { clock, lease, lapsed } = scene;
    lease.start();
    await clock.advance(100);
    scene.suspendedMs = LEASE_MS;
    await clock.advance(2000);
    expect(lapsed).toHaveLength(1);
    lease.stop();
  });
});

/**
 * How far the clocks may differ: a lapse is seen up to two seconds late and times are whole
 * seconds.
 */
const MAX_SKEW_MS = LOST_NODE_MARGIN_MS - 2000 - 1000;

interface Story {
  readonly deadlineMs: number;
  readonly stopGraceMs: number;
  /** Share of the longest grace period that admission allows for the deletion. */
  readonly graceShare: number;
  readonly deletedMs: number;
  /** The operator's clock minus the API server's. */
  readonly skewMs: number;
  /** When the network breaks and heals, in turns. */
  readonly turnsMs: readonly number[];
  readonly latenciesMs: readonly number[];
  readonly seed: number;
}

const STORY: fc.Arbitrary<Story> = fc.record({
  deadlineMs: fc.integer({ min: MIN_LOST_NODE_DEADLINE_MS, max: 600_000 }),
  stopGraceMs: fc.integer({ min: 0, max: 10_000 }),
  graceShare: fc.double({ min: 0, max: 1, noNaN: true }),
  deletedMs: fc.integer({ min: 0, max: 900_000 }),
  skewMs: fc.integer({ min: -MAX_SKEW_MS, max: MAX_SKEW_MS }),
  turnsMs: fc.array(fc.integer({ min: 1, max: 300_000 }), { maxLength: 10 }),
  latenciesMs: fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 1, maxLength: 5 }),
  seed: fc.nat(1000),
});

/** Plays one run, and returns whether a worker ran when the Pod was deleted by force. */
async function play(
  story: Story,
): Promise<{ readonly ranAtLoss: boolean; readonly stops: number }> {
  const clock = new VirtualClock();
  const { deadlineMs, stopGraceMs, deletedMs, latenciesMs } = story;
  const graceMs = Math.floor((story.graceShare * (deadlineMs - MIN_LOST_NODE_DEADLINE_MS)) / 2);
  let isCut = false;
  let isDeleted = false;
  let isRunning = false;
  let isStopping = false;
  let asks = 0;
  let stops = 0;

  let turnMs = 0;
  for (const ms of story.turnsMs) {
    turnMs += ms;
    clock.setTimer(turnMs, () => {
      isCut = !isCut;
    });
  }
  const lease = new PodLease({
    clock,
    random: new SeededRandom(story.seed),
    leaseMs: leaseMs(deadlineMs, stopGraceMs),
    ask: () => {
      if (isCut) return;
      const askedMs = clock.monotonic();
      const latencyMs = latenciesMs[asks++ % latenciesMs.length] ?? 0;
      // The answer is true at some time between question and answer.
      const readMs = (latencyMs * (asks % 4)) / 3;
      clock.setTimer(readMs, () => {
        const lives = !isDeleted;
        clock.setTimer(latencyMs - readMs, () => {
          if (!lives || isCut) return;
          lease.renew(askedMs);
          if (lease.isHeld() && !isStopping) isRunning = true;
        });
      });
    },
    lapsed: () => {
      if (!isRunning || isStopping) return;
      stops++;
      isStopping = true;
      clock.setTimer(stopGraceMs, () => {
        isRunning = false;
        isStopping = false;
      });
    },
    unconfirmed: () => undefined,
  });
  lease.start();
  await clock.advance(deletedMs);
  isDeleted = true;
  const facts = podFacts({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      annotations: { [LOST_NODE_DEADLINE]: `${deadlineMs}ms` },
      deletionTimestamp: timeText(clock.now() + graceMs),
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true },
      ],
    },
  });
  const dueMs = facts === undefined ? undefined : lossMs(facts);
  if (dueMs === undefined) throw new Error('the Pod has no deadline');
  await clock.advance(Math.max(0, dueMs - (clock.now() + story.skewMs)));
  lease.stop();
  return { ranAtLoss: isRunning, stops };
}

describe('two workers of one index', () => {
  it('never run at once, under any network, clocks and deletion', async () => {
    await fc.assert(
      fc.asyncProperty(STORY, async (story) => {
        expect((await play(story)).ranAtLoss).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('would, with clocks further apart than the margin', async () => {
    const story = {
      deadlineMs: 120_000,
      stopGraceMs: 5000,
      graceShare: 0,
      deletedMs: 60_000,
      skewMs: 2 * LOST_NODE_MARGIN_MS,
      turnsMs: [60_000],
      latenciesMs: [0],
      seed: 1,
    };
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, seed) =>
        play({ ...story, deletedMs: 60_000 + seed * 1000, seed }),
      ),
    );
    expect(outcomes.some(({ ranAtLoss }) => ranAtLoss)).toBe(true);
  });

  it('are not stopped by outages that are shorter than the lease', async () => {
    const outages = { turnsMs: [100_000, 60_000, 100_000, 60_000], latenciesMs: [500] };
    const story = { deadlineMs: 120_000, stopGraceMs: 5000, graceShare: 0, skewMs: 0, seed: 3 };
    const { stops } = await play({ ...story, ...outages, deletedMs: 500_000 });
    // The deletion itself stops the worker.
    expect(stops).toBe(1);
  });
});
