import { test } from 'vitest';
import type { FailurePolicyRule } from '../jobset.ts';
import type { Shape } from './group-model.fixture.ts';
import { expectProtocolHolds, SHAPE_TIMEOUT_MS } from './protocol-runs.fixture.ts';

/** The rule recreates the Job of the failed member; the others restart in place. */
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

test.each(SHAPES)(
  'holds the properties of the protocol for %o',
  (shape) => expectProtocolHolds(shape, { runs: 60, stepsPerFault: 8 }),
  SHAPE_TIMEOUT_MS,
);
