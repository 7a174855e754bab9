/** The protocol with members that leave their nodes, over both channels. */
import { test } from 'vitest';
import type { Shape } from './group-model.fixture.ts';
import { expectProtocolHolds, SHAPE_TIMEOUT_MS } from './protocol-runs.fixture.ts';

const SHAPES: readonly Shape[] = [
  { stages: [2], isSidecar: false, replaceAfter: '1/1h' },
  { stages: [1], isSidecar: false, replaceAfter: '2/1h' },
  { stages: [2], isSidecar: true, replaceAfter: '1/1h' },
  { stages: [1, 2], isSidecar: false, hasPreflight: true },
  { stages: [1, 1], isSidecar: true, isInOrder: true, replaceAfter: '1/1h', hasPreflight: true },
  { stages: [2, 1], isSidecar: false, isInOrder: true, replaceAfter: '1/1h' },
  { stages: [2], isSidecar: false, replaceAfter: '1/1h', faults: ['Suspend', 'Scale'] },
  { stages: [2], isSidecar: false, hub: 'All', replaceAfter: '1/1h' },
  { stages: [1, 2], isSidecar: true, hub: 'Mixed', replaceAfter: '1/1h', hasPreflight: true },
];

test.each(SHAPES)(
  'holds the properties of the protocol for %o',
  (shape) => expectProtocolHolds(shape, { runs: 60, stepsPerFault: 6 }),
  SHAPE_TIMEOUT_MS,
);
