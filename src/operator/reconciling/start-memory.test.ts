import { expect, it } from 'vitest';
import { StartMemory } from './start-memory.ts';

const POD = { key: 'a', lacksPods: false };
const NO_POD = { key: 'a', lacksPods: true };

it('begins again when members are missing again, but keeps when a Pod was read', () => {
  const memory = new StartMemory();
  expect(memory.look(0)).toMatchObject({ missingForMs: 0, sinceLookMs: Number.POSITIVE_INFINITY });
  memory.missing(POD, 1000);
  memory.looked(false, 2000);
  expect(memory.look(3000)).toMatchObject({ missingForMs: 2000, sinceLookMs: 1000, looks: 1 });
  memory.missing(undefined, 4000);
  memory.missing(POD, 5000);
  expect(memory.look(6000)).toMatchObject({ missingForMs: 1000, sinceLookMs: 4000, looks: 0 });
});

it('counts idle looks until what is missing changes', () => {
  const memory = new StartMemory();
  memory.missing(POD, 0);
  memory.looked(undefined, 0);
  memory.missing(POD, 0);
  expect(memory.look(0)).toMatchObject({ looks: 1, idleLooks: 1 });
  memory.missing({ ...POD, key: 'b' }, 0);
  expect(memory.look(0)).toMatchObject({ looks: 1, idleLooks: 0 });
});

it('counts Pods in a row that start, but none while a Job lacks one', () => {
  const memory = new StartMemory();
  memory.missing(POD, 0);
  const after = (isHeld: boolean | undefined): number => {
    memory.looked(isHeld, 0);
    return memory.look(0).calmLooks;
  };
  expect([false, undefined, false, true, false].map(after)).toEqual([1, 1, 2, 0, 1]);
  memory.missing(NO_POD, 0);
  expect(memory.look(0).calmLooks).toBe(0);
});

it('a Pod in between ends the time for which a Job lacks one', () => {
  const memory = new StartMemory();
  memory.missing(NO_POD, 0);
  memory.missing(NO_POD, 5000);
  expect(memory.look(9000).noPodForMs).toBe(9000);
  memory.missing(POD, 9000);
  expect(memory.look(9000).noPodForMs).toBe(0);
  memory.missing(NO_POD, 10_000);
  expect(memory.look(11_000).noPodForMs).toBe(1000);
});
