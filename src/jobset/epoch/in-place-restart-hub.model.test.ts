/**
 * Tests the protocol over the hub under any interleaving. Streams drop, or are open at one end only.
 * Hubs crash and forget. The lease moves, a deposed leader does not know it, and another steps down
 * and leads again. Agents fall back to the API server and return, and workers hang during all that.
 * `GroupModel` checks the properties (`docs/design/hub.md`).
 */
import { test } from 'vitest';
import type { Shape } from './group-model.fixture.ts';
import { expectProtocolHolds, SHAPE_TIMEOUT_MS } from './protocol-runs.fixture.ts';

const SHAPES: readonly Shape[] = [
  { stages: [2], isSidecar: false, hub: 'All' },
  { stages: [2], isSidecar: true, hub: 'All' },
  { stages: [3], isSidecar: false, hub: 'Mixed' },
  { stages: [1, 2], isSidecar: true, hub: 'Mixed' },
  { stages: [1, 1], isSidecar: false, isInOrder: true, hub: 'All' },
  { stages: [2, 1], isSidecar: true, isInOrder: true, hub: 'Mixed' },
  { stages: [2], isSidecar: false, hub: 'All', faults: ['Suspend', 'Scale'] },
];

test.each(SHAPES)(
  'holds the properties of the protocol for %o',
  (shape) => expectProtocolHolds(shape, { runs: 90, stepsPerFault: 6 }),
  SHAPE_TIMEOUT_MS,
);
