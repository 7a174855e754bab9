import type { JobStatus } from '@lockstep/kube/objects/job.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countEndedPods, MAX_UNCOUNTED_PODS } from './counting.ts';
import { jobOf, podOf, uids } from './job.fixture.ts';

interface ServerPod {
  readonly uid: string;
  readonly index: number;
  phase: 'Running' | 'Succeeded' | 'Failed';
  isTracked: boolean;
  isGone: boolean;
}

/**
 * An API server, a cache that lags behind it, and a controller that may crash after any write. The
 * Job itself is never stale, because the controller waits for its own writes.
 */
class World {
  readonly pods: ServerPod[];
  readonly #isIndexed: boolean;
  #status: JobStatus = {};
  #cache: readonly ServerPod[] = [];
  #untracked = new Set<string>();

  constructor(phases: readonly ServerPod['phase'][], isIndexed: boolean) {
    this.#isIndexed = isIndexed;
    this.pods = phases.map((_, index) => ({
      uid: `u${index}`,
      index,
      phase: 'Running',
      isTracked: true,
      isGone: false,
    }));
    this.sync();
  }

  get status(): JobStatus {
    return this.#status;
  }

  sync(): void {
    this.#cache = this.pods.filter((pod) => !pod.isGone).map((pod) => ({ ...pod }));
    for (const uid of this.#untracked) {
      const pod = this.#cache.find((cached) => cached.uid === uid);
      if (pod?.isTracked !== true) this.#untracked.delete(uid);
    }
  }

  crash(): void {
    this.#untracked = new Set();
    this.sync();
  }

  /** One reconcile that stops after `writes` writes; the status is the first write. */
  step(writes: number): boolean {
    const completionMode = this.#isIndexed ? 'Indexed' : 'NonIndexed';
    const completions = this.pods.length;
    const job = jobOf({ completionMode, completions }, this.#status);
    const tracked = this.#cache
      .filter((pod) => pod.isTracked && !this.#untracked.has(pod.uid))
      .map(podOf);
    const { status, settled } = countEndedPods(job, tracked, undefined);
    if (writes === 0) return true;
    const isChanged = JSON.stringify(status) !== JSON.stringify(this.#status);
    this.#status = status;
    for (const uid of uids(settled).slice(0, writes - 1)) {
      this.#untracked.add(uid);
      const pod = this.pods.find((each) => each.uid === uid);
      if (pod !== undefined) pod.isTracked = false;
    }
    return isChanged || settled.length > 0;
  }
}

type Action =
  | { readonly do: 'end' | 'remove'; readonly pod: number }
  | { readonly do: 'step'; readonly writes: number }
  | { readonly do: 'sync' | 'crash' };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constantFrom('end' as const, 'remove' as const), pod: fc.nat(5) }),
  fc.record({ do: fc.constant('step' as const), writes: fc.nat(6) }),
  fc.record({ do: fc.constantFrom('sync' as const, 'crash' as const) }),
);

const outcome = fc.constantFrom('Running' as const, 'Succeeded' as const, 'Failed' as const);

test('counts each Pod exactly once, under any crash and any stale cache', () => {
  fc.assert(
    fc.property(
      fc.array(outcome, { minLength: 6, maxLength: 6 }),
      fc.boolean(),
      fc.array(action, { maxLength: 60, size: 'max' }),
      (outcomes, isIndexed, actions) => {
        const world = new World(outcomes, isIndexed);
        let counted = 0;
        const end = (pod: ServerPod): void => {
          pod.phase = outcomes[pod.index] ?? 'Running';
        };
        for (const next of actions) {
          const pod = 'pod' in next ? world.pods[next.pod] : undefined;
          if (next.do === 'end' && pod !== undefined) end(pod);
          // An object cannot go while it has its finalizer.
          else if (next.do === 'remove' && pod?.isTracked === false) pod.isGone = true;
          else if (next.do === 'step') world.step(next.writes);
          else if (next.do === 'sync') world.sync();
          else if (next.do === 'crash') world.crash();
          const now = (world.status.succeeded ?? 0) + (world.status.failed ?? 0);
          expect(now).toBeGreaterThanOrEqual(counted);
          counted = now;
        }
        world.pods.forEach(end);
        world.crash();
        for (let steps = 0; world.step(100); steps++) {
          world.sync();
          expect(steps).toBeLessThan(10);
        }
        const count = (phase: string): number => outcomes.filter((each) => each === phase).length;
        expect(world.status).toMatchObject({
          succeeded: count('Succeeded'),
          failed: count('Failed'),
          uncountedTerminatedPods: {},
        });
      },
    ),
    { numRuns: 500 },
  );
});

test('decisions know of all ended Pods, although one write lists a limited number', () => {
  const number = MAX_UNCOUNTED_PODS + 20;
  const pods = Array.from({ length: number }, (_, i) => podOf({ uid: `u${i}`, phase: 'Failed' }));
  const counting = countEndedPods(jobOf({ completionMode: 'NonIndexed' }), pods, undefined);
  expect(counting.failed).toBe(number);
  expect(counting.status.uncountedTerminatedPods.failed).toHaveLength(MAX_UNCOUNTED_PODS);
  expect([counting.settled.length, counting.isPartial]).toEqual([MAX_UNCOUNTED_PODS, true]);
});

test('two Pods that succeed at one index are one success', () => {
  const pods = ['a', 'b'].map((uid) => podOf({ uid, index: 0, phase: 'Succeeded' }));
  const counting = countEndedPods(jobOf(), pods, undefined);
  expect([counting.succeeded, counting.status.completedIndexes]).toEqual([1, '0']);
});

test('a Pod of no index of the Job is let go without being counted', () => {
  const pods = [
    podOf({ uid: 'a', index: 9, phase: 'Failed' }),
    podOf({ uid: 'b', phase: 'Failed' }),
  ];
  const counting = countEndedPods(jobOf(), pods, undefined);
  expect([counting.failed, uids(counting.settled)]).toEqual([0, ['a', 'b']]);
});

test('indexes beyond lowered completions are forgotten', () => {
  const job = jobOf({ completions: 2 }, { completedIndexes: '0-5', succeeded: 6 });
  expect(countEndedPods(job, [], undefined).status).toMatchObject({
    succeeded: 2,
    completedIndexes: '0,1',
  });
});
