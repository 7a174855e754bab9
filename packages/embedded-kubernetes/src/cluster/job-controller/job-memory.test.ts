import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { keyOf, type Store } from '@lockstep/kube/runtime/informer/informer.ts';
import { describe, expect, it } from 'vitest';
import { jobOf, podOf } from './job.fixture.ts';
import { JobMemory } from './job-memory.ts';

const JOB = jobOf();
const A = podOf({ uid: 'a' });
const B = podOf({ uid: 'b' });

/** A store whose contents and version the test sets. */
class Cache<T extends KubeObject> implements Store<T> {
  resourceVersion = '1';
  #objects: readonly Stored<T>[] = [];

  show(resourceVersion: string, ...objects: readonly Stored<T>[]): void {
    this.resourceVersion = resourceVersion;
    this.#objects = objects;
  }

  get(key: string): Stored<T> | undefined {
    return this.#objects.find((object) => keyOf(object) === key);
  }

  values(): readonly Stored<T>[] {
    return this.#objects;
  }

  get size(): number {
    return this.#objects.length;
  }

  byIndex(): readonly Stored<T>[] {
    return this.#objects;
  }
}

function start() {
  const pods = new Cache<Pod>();
  const jobs = new Cache<Job>();
  return { pods, jobs, memory: new JobMemory(pods, jobs) };
}

function at<T extends KubeObject>(resourceVersion: string, object: Stored<T>): Stored<T> {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

describe('the rest after a pass over a Job', () => {
  it.each([
    [1, 0],
    [49, 0],
    [50, 1],
    [5_000, 100],
    [1_000_000, 1_000],
  ])('of %d Pods is %d ms', (pods, expectedMs) => {
    const { memory } = start();
    memory.rest(pods, 10_000);
    expect(memory.remainingRestMs(10_000)).toBe(expectedMs);
    expect(memory.remainingRestMs(10_000 + expectedMs)).toBe(0);
  });

  it('is none before the first pass', () => {
    expect(start().memory.remainingRestMs(0)).toBe(0);
  });
});

describe('Pods that were created', () => {
  it('are waited for until the last of them appears', () => {
    const { memory } = start();
    memory.sawCreated(at('5', A));
    memory.sawCreated(at('6', B));
    expect([memory.appeared(B), memory.isAhead()]).toEqual([false, true]);
    expect([memory.appeared(A), memory.isAhead()]).toEqual([true, false]);
    expect(memory.appeared(A)).toBe(false);
  });

  it.each([
    ['in the cache', '4', [at('5', A)], false],
    ['in the cache as they were before they were adopted', '4', [at('4', A)], true],
    ['not in the cache, which is older', '4', [], true],
    ['not in the cache, which is newer: they came and went', '5', [], false],
    ['replaced by another of their name, in an older cache', '4', [other(A)], true],
  ])('and are %s', (_, version, shown, isAhead) => {
    const { memory, pods } = start();
    memory.sawCreated(at('5', A));
    pods.show(version, ...shown);
    expect(memory.isAhead()).toBe(isAhead);
  });
});

it('a status that was written is waited for', () => {
  const { memory, jobs } = start();
  jobs.show('4', at('4', JOB));
  memory.wrote(at('5', JOB));
  expect(memory.isAhead()).toBe(true);
  jobs.show('5', at('5', JOB));
  expect(memory.isAhead()).toBe(false);
});

it('own writes are remembered until the cache shows them, or another Pod in their place', () => {
  const { memory, pods } = start();
  for (const pod of [A, B]) {
    memory.untracked.add(pod);
    memory.deleted.add(pod);
  }
  pods.show('4', A, B);
  memory.catchUp();
  expect([memory.untracked.has('a'), memory.deleted.has('b')]).toEqual([true, true]);
  const untracked = podOf({ uid: 'a', isUntracked: true });
  const going = podOf({ uid: 'b', deletedAt: '2026-01-01T00:10:00Z' });
  pods.show('5', untracked, going);
  memory.catchUp();
  expect([memory.untracked.has('a'), memory.deleted.has('a')]).toEqual([false, true]);
  expect([memory.untracked.has('b'), memory.deleted.has('b')]).toEqual([true, false]);
  pods.show('6', other(A));
  memory.catchUp();
  expect([memory.deleted.has('a'), memory.untracked.has('b')]).toEqual([false, false]);
});

function other(pod: Stored<Pod>): Stored<Pod> {
  return { ...pod, metadata: { ...pod.metadata, uid: 'other' } };
}
