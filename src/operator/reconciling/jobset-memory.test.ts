import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { ChildJobMemory } from '../tracking/child-job-memory.ts';
import { JobSetMemory } from './jobset-memory.ts';

const STORE = {
  get: () => undefined,
  values: () => [],
  size: 0,
  byIndex: () => [],
  resourceVersion: '5',
};

test('the reason why Jobs could not be made goes with the last failure', () => {
  const owner = { namespace: 'default', name: 'train', uid: 'jobset-uid' };
  const memory = new JobSetMemory(new ChildJobMemory(STORE, owner), new VirtualClock());
  const refused = () => memory.knowledge(0).jobsRefused;
  expect(refused(), 'nobody has tried').toBeUndefined();
  expect([1, 2, 3].map(() => memory.triedToStart(true))).toEqual([1, 2, 3]);
  const refusal = { reason: 'CreationFailed', message: 'exceeded quota' } as const;
  memory.jobsRefused = refusal;
  expect(refused()).toBe(refusal);
  expect(memory.triedToStart(false)).toBe(0);
  expect(refused()).toBe(false);
  expect(memory.triedToStart(true)).toBe(1);
  expect(refused(), 'it may have another reason').toBeUndefined();
});
