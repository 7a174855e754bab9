/** What the tests of a Pod's life have in common: steps from a frozen life, taken twice. */

import { deepFrozen } from '@lockstep/kube/runtime/memory/deep-frozen.ts';
import { expect } from 'vitest';
import type { PodEvent, PodLife, Step } from './pod-life.ts';
import { step } from './pod-step.ts';

/** Takes the step twice from one deeply frozen life, and fails if it is not the same both times. */
export function frozenStep(life: PodLife, event: PodEvent): Step {
  deepFrozen(life);
  deepFrozen(event);
  const first = step(life, event);
  expect(bytesOf(step(life, event))).toBe(bytesOf(first));
  return first;
}

/** JSON that tells undefined and the infinities apart. */
function bytesOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    each === undefined || each === Infinity || each === -Infinity ? `\u0000${each}` : each,
  );
}
