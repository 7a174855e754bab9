import { expect, it } from 'vitest';
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import { nextStep } from './first-look.tsx';

const ROW = { name: 'mnist', restarts: 0, finishedMs: null } as OverviewRow;

it.each([
  ['nothing yet', [], 0],
  ['the example runs', [ROW], 1],
  ['it has restarted once', [{ ...ROW, restarts: 1 }], 2],
  ['it has restarted twice', [{ ...ROW, restarts: 2 }], 3],
  ['it has restarted often', [{ ...ROW, restarts: 9 }], 3],
  ['it is over', [{ ...ROW, finishedMs: 1 }], 3],
  ['the user runs something else', [{ ...ROW, name: 'train' }], null],
  ['the user runs more', [ROW, { ...ROW, name: 'train' }], null],
] as const)('leads a newcomer where %s', (_, rows, step) => {
  expect(nextStep(rows)).toBe(step);
});
