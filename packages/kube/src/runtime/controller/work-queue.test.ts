import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SeededRandom } from '../memory/seeded-random.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { createWorkQueue, type WorkQueueOptions } from './work-queue.ts';

function queueUnderTest(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  return { clock, queue: createWorkQueue({ clock, random: new SeededRandom(1), ...options }) };
}

test('a key that waits already is not added twice', async () => {
  const { queue } = queueUnderTest();
  queue.add('a');
  queue.add('b');
  queue.add('a');
  expect(queue.depth).toBe(2);
  expect([await queue.take(), await queue.take()]).toEqual(['a', 'b']);
});

test('a key added while it is worked on comes back exactly once, after it is done', async () => {
  const { queue } = queueUnderTest();
  queue.add('a');
  await queue.take();
  queue.add('a');
  queue.add('a');
  expect(queue.depth).toBe(0);
  queue.done('a');
  expect(queue.depth).toBe(1);
  expect(await queue.take()).toBe('a');
  queue.done('a');
  expect(queue.depth).toBe(0);
});

test('uses the earliest of several delays', async () => {
  const { clock, queue } = queueUnderTest();
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 900);
  await clock.advance(99);
  expect(queue.depth).toBe(0);
  await clock.advance(1);
  expect(await queue.take()).toBe('a');
  queue.done('a');
  await clock.advance(10_000);
  expect(queue.depth).toBe(0);
});

test('back-off doubles up to its limit and starts over after forget', async () => {
  const { clock, queue } = queueUnderTest({ baseDelayMs: 100, maxDelayMs: 1000 });
  const delays: number[] = [];
  for (let i = 0; i < 7; i++) {
    if (i === 6) queue.forget('a');
    const start = clock.monotonic();
    queue.addRateLimited('a');
    await clock.runUntil(() => queue.depth === 1, 5000);
    delays.push((clock.monotonic() - start) / 100);
    await queue.take();
    queue.done('a');
  }
  // Jitter stretches each by at most a tenth.
  [1, 2, 4, 8, 10, 10, 1].forEach((expected, i) => {
    expect(delays[i]).toBeGreaterThanOrEqual(expected);
    expect(delays[i]).toBeLessThanOrEqual(expected * 1.1);
  });
});

test('a full queue refuses new keys and keeps what it has', () => {
  const { queue } = queueUnderTest({ limit: 2 });
  expect([queue.add('a'), queue.addAfter('b', 10), queue.add('c'), queue.add('a')]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('after shutDown ready keys drain, delayed ones are dropped, waiting workers end', async () => {
  const { clock, queue } = queueUnderTest();
  queue.add('ready');
  queue.addAfter('later', 10);
  queue.shutDown();
  expect(queue.add('new')).toBe(false);
  expect(await queue.take()).toBe('ready');
  expect(await queue.take()).toBeUndefined();
  expect(clock.pendingTimers).toBe(0);

  const other = queueUnderTest().queue;
  const waiting = other.take();
  other.shutDown();
  expect(await waiting).toBeUndefined();
});

test('no addition is lost and no key is ever with two workers, in any interleaving', async () => {
  type Step = readonly ['add' | 'after' | 'take' | 'done', number];
  const step = fc.tuple(
    fc.constantFrom('add' as const, 'after' as const, 'take' as const, 'done' as const),
    fc.nat(3),
  );
  const run = async (steps: readonly Step[]): Promise<void> => {
    const { clock, queue } = queueUnderTest();
    const working = new Set<string>();
    // Keys that were added after they were last handed out.
    const owed = new Set<string>();
    const take = async (): Promise<void> => {
      const key = (await queue.take()) ?? '';
      expect(working.has(key)).toBe(false);
      working.add(key);
      owed.delete(key);
    };
    for (const [what, which] of steps) {
      const key = `k${which}`;
      if (what === 'add' || what === 'after') {
        if (what === 'add') queue.add(key);
        else queue.addAfter(key, which + 1);
        owed.add(key);
      } else if (what === 'take' && queue.depth > 0) {
        await take();
      } else if (what === 'done') {
        queue.done(key);
        working.delete(key);
      }
    }
    await clock.advance(10);
    for (const key of working) queue.done(key);
    working.clear();
    while (queue.depth > 0) await take();
    expect([...owed]).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), run), {
    numRuns: 200,
  });
});
