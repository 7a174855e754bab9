/**
 * The protocol over the hub (design, section 8), under any interleaving: streams that drop, or are open
 * at one end only, hubs that crash and forget, a lease that moves on, a deposed leader that does not know
 * it, agents that fall back to the API server and return. `GroupModel` checks the properties.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupModel, type Shape } from './group-model.fixture.ts';

const SHAPES: readonly Shape[] = [
  { stages: [2], isSidecar: false, hub: 'All' },
  { stages: [2], isSidecar: true, hub: 'All' },
  { stages: [3], isSidecar: false, hub: 'Mixed' },
  { stages: [1, 2], isSidecar: true, hub: 'Mixed' },
  { stages: [1, 1], isSidecar: false, isInOrder: true, hub: 'All' },
  { stages: [2, 1], isSidecar: true, isInOrder: true, hub: 'Mixed' },
  { stages: [2], isSidecar: false, hub: 'All', faults: ['Suspend', 'Scale'] },
];

/** Far more than any fault-free run of these sizes needs: reaching it is a livelock. */
const MAX_QUIET_STEPS = 4000;
const RUNS = 150;
const SHAPE_TIMEOUT_MS = 120_000;

function settle(model: GroupModel, seed: number): void {
  let state = seed;
  for (let i = 0; i <= MAX_QUIET_STEPS; i++) {
    const steps = model.steps();
    if (steps.length === 0) return;
    expect(i, 'L1: it comes to rest when faults stop').toBeLessThan(MAX_QUIET_STEPS);
    state = (state * 48_271 + 11) % 2_147_483_647;
    steps[state % steps.length]?.();
  }
}

test.each(SHAPES)(
  'holds the properties of the protocol for %o',
  (shape) => {
    const schedule = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 20, maxLength: 250 });
    fc.assert(
      fc.property(schedule, fc.nat({ max: 1_000_000 }), (picks, seed) => {
        const model = new GroupModel(shape);
        if (seed % 4 > 0) settle(model, seed);
        for (const pick of picks) {
          const choices = pick % 6 === 0 ? model.faults() : model.steps();
          choices[Math.floor(pick / 6) % choices.length]?.();
        }
        model.resume();
        settle(model, seed);
        model.expectEverybodyRuns();
      }),
      { numRuns: RUNS },
    );
  },
  SHAPE_TIMEOUT_MS,
);
