import { expect, test } from 'vitest';
import { forEachConcurrently } from './concurrency.ts';
import { VirtualClock } from './memory/virtual-clock.ts';
import { sleep } from './ports/clock.ts';

test('all items are worked on, never more than the limit at a time', async () => {
  const clock = new VirtualClock();
  const done: number[] = [];
  let running = 0;
  let most = 0;
  const items = Array.from({ length: 10 }, (_, i) => i);
  const all = forEachConcurrently(items, 3, async (item) => {
    most = Math.max(most, ++running);
    await sleep(clock, 10);
    running--;
    done.push(item);
  });
  await clock.advance(40);
  await all;
  expect([most, done.sort((a, b) => a - b)]).toEqual([3, items]);
});

test('a failure keeps nothing back, and is what the whole fails with', async () => {
  const done: number[] = [];
  const all = forEachConcurrently([1, 2, 3, 4], 2, async (item) => {
    if (item % 2 === 0) throw new Error(`no ${item}`);
    done.push(item);
  });
  await expect(all).rejects.toThrow('no 2');
  expect(done).toEqual([1, 3]);
});
