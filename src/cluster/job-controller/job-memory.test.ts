import { describe, expect, it } from 'vitest';
import type { Stored } from '../../kube/meta.ts';
import type { Pod } from '../../kube/objects/pod.ts';
import { keyOf, type Store } from '../../runtime/informer/informer.ts';
import { jobOf, podOf } from './job.fixture.ts';
import { JobMemory } from './job-memory.ts';

const JOB = jobOf();
const A = podOf({ uid: 'a' });
const B = podOf({ uid: 'b' });

function storeOf(resourceVersion: string, ...pods: readonly Stored<Pod>[]): Store<Pod> {
  return {
    get: (key) => pods.find((pod) => keyOf(pod) === key),
    values: () => pods,
    size: pods.length,
    byIndex: () => pods,
    resourceVersion,
  };
}

function created(pod: Stored<Pod>, resourceVersion: string): Stored<Pod> {
  return { ...pod, metadata: { ...pod.metadata, resourceVersion } };
}

describe('the rest after a pass over a Job', () => {
  it.each([
    [1, 0],
    [49, 0],
    [50, 1],
    [5_000, 100],
    [1_000_000, 1_000],
  ])('of %d Pods is %d ms', (pods, expectedMs) => {
    const memory = new JobMemory();
    memory.rest(pods, 10_000);
    expect(memory.remainingRestMs(10_000)).toBe(expectedMs);
    expect(memory.remainingRestMs(10_000 + expectedMs)).toBe(0);
  });

  it('is none before the first pass', () => {
    expect(new JobMemory().remainingRestMs(0)).toBe(0);
  });
});

describe('Pods that were created', () => {
  it('are waited for until the last of them appears', () => {
    const memory = new JobMemory();
    memory.sawCreated(A);
    memory.sawCreated(B);
    expect([memory.appeared(B), memory.isAhead(JOB)]).toEqual([false, true]);
    expect([memory.appeared(A), memory.isAhead(JOB)]).toEqual([true, false]);
    expect(memory.appeared(A)).toBe(false);
  });

  it.each([
    ['in the cache', storeOf('4', A), false],
    ['not in the cache, which is older', storeOf('4'), true],
    ['not in the cache, which is newer: they came and went', storeOf('5'), false],
    ['replaced by another of their name, in an older cache', storeOf('4', other(A)), true],
  ])('and are %s', (_, store, isAhead) => {
    const memory = new JobMemory();
    memory.sawCreated(created(A, '5'));
    memory.catchUp(store);
    expect(memory.isAhead(JOB)).toBe(isAhead);
  });
});

it('own writes are remembered until the cache shows them, or another Pod in their place', () => {
  const memory = new JobMemory();
  for (const pod of [A, B]) {
    memory.untracked.add(pod);
    memory.deleted.add(pod);
  }
  memory.catchUp(storeOf('4', A, B));
  expect([memory.untracked.has('a'), memory.deleted.has('b')]).toEqual([true, true]);
  const untracked = podOf({ uid: 'a', isUntracked: true });
  const going = podOf({ uid: 'b', deletedAt: '2026-01-01T00:10:00Z' });
  memory.catchUp(storeOf('5', untracked, going));
  expect([memory.untracked.has('a'), memory.deleted.has('a')]).toEqual([false, true]);
  expect([memory.untracked.has('b'), memory.deleted.has('b')]).toEqual([true, false]);
  memory.catchUp(storeOf('6', other(A)));
  expect([memory.deleted.has('a'), memory.untracked.has('b')]).toEqual([false, false]);
});

function other(pod: Stored<Pod>): Stored<Pod> {
  return { ...pod, metadata: { ...pod.metadata, uid: 'other' } };
}
