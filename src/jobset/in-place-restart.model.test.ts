import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupModel, type Shape } from './group-model.fixture.ts';
import type { FailurePolicyRule } from './jobset.ts';

/** Of its Job the rule makes a new one; the others restart in place. */
function restartsJob(action: 'RestartJob' | 'RestartJobAndIgnoreMaxRestarts'): FailurePolicyRule {
  return {
    name: 'r',
    action,
    onJobFailureReasons: ['BackoffLimitExceeded'],
    targetReplicatedJobs: ['r0'],
  };
}

const SHAPES: readonly Shape[] = [
  { stages: [2], isSidecar: true },
  { stages: [2], isSidecar: false },
  { stages: [1, 2], isSidecar: true },
  { stages: [1, 2], isSidecar: false },
  { stages: [1, 1], isSidecar: true, isInOrder: true },
  { stages: [1, 1, 1], isSidecar: false, isInOrder: true },
  { stages: [2, 1], isSidecar: true, isInOrder: true },
  { stages: [1, 1], isSidecar: true, rules: [restartsJob('RestartJob')] },
  {
    stages: [1, 1],
    isSidecar: false,
    isInOrder: true,
    rules: [restartsJob('RestartJobAndIgnoreMaxRestarts')],
  },
  { stages: [2], isSidecar: true, faults: ['Suspend', 'Scale'] },
  { stages: [1, 1], isSidecar: false, faults: ['Suspend', 'Scale'] },
  {
    stages: [1, 1],
    isSidecar: true,
    isInOrder: true,
    faults: ['Suspend', 'Scale'],
    rules: [restartsJob('RestartJob')],
  },
];

/** Far more than any fault-free run of these sizes needs: reaching it is a livelock. */
const MAX_QUIET_STEPS = 3000;
const RUNS = 100;
/** A shape takes a few seconds; a machine that is busy otherwise must not look like a violation. */
const SHAPE_TIMEOUT_MS = 120_000;

/** Takes steps without faults until there are none left. */
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
    // Each number picks one of the steps that are possible then; one in eight picks a fault.
    const schedule = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 20, maxLength: 250 });
    fc.assert(
      fc.property(schedule, fc.nat({ max: 1_000_000 }), (picks, seed) => {
        const model = new GroupModel(shape);
        // Most of what can go wrong needs a group that runs.
        if (seed % 4 > 0) settle(model, seed);
        for (const pick of picks) {
          const choices = pick % 8 === 0 ? model.faults() : model.steps();
          choices[Math.floor(pick / 8) % choices.length]?.();
        }
        model.resume();
        settle(model, seed);
        model.expectEverybodyRuns();
      }),
      // Making a counterexample small takes minutes: that is for whoever replays its seed.
      { numRuns: RUNS, endOnFailure: true },
    );
  },
  SHAPE_TIMEOUT_MS,
);
