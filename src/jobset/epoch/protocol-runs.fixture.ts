/** Runs the protocol's model through random schedules. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { GroupModel, type Shape } from './group-model.fixture.ts';

/** A shape takes a few seconds; a busy machine must not look like a violation. */
export const SHAPE_TIMEOUT_MS = 300_000;
/** Far more than any fault-free run of these sizes needs: reaching it is a livelock. */
const MAX_QUIET_STEPS = 4000;

/** Each schedule ends without faults, and every state is checked. */
export function expectProtocolHolds(
  shape: Shape,
  { runs, stepsPerFault }: { readonly runs: number; readonly stepsPerFault: number },
): void {
  // Each number picks one of the possible steps, and now and then a fault. Without a size, an array has at
  // most 10 elements more than twice its minimum, whatever its maximum is.
  const schedule = fc.array(fc.nat({ max: 1_000_000 }), {
    minLength: 20,
    maxLength: 120,
    size: 'max',
  });
  fc.assert(
    fc.property(schedule, fc.nat({ max: 1_000_000 }), (picks, seed) => {
      const model = new GroupModel(shape);
      // Most of what can go wrong needs a running group.
      if (seed % 4 > 0) settle(model, seed);
      for (const pick of picks) {
        const choices = pick % stepsPerFault === 0 ? model.faults() : model.steps();
        choices[Math.floor(pick / stepsPerFault) % choices.length]?.();
      }
      model.resume();
      settle(model, seed);
      model.expectEverybodyRuns();
    }),
    // Shrinking takes minutes, so replay the seed of a counterexample to do that.
    { numRuns: runs, endOnFailure: true },
  );
}

/** Takes steps without faults until there are none left. */
function settle(model: GroupModel, seed: number): void {
  let state = seed;
  for (let i = 0; i <= MAX_QUIET_STEPS; i++) {
    const steps = model.steps();
    if (steps.length === 0) return;
    expect(i, 'it comes to rest when faults stop').toBeLessThan(MAX_QUIET_STEPS);
    state = (state * 48_271 + 11) % 2_147_483_647;
    steps[state % steps.length]?.();
  }
}
