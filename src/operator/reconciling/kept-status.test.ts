import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, it } from 'vitest';
import { KeptStatus } from './kept-status.ts';

it('waits twice as long each time, up to ten minutes, until all is stored', async () => {
  const clock = new VirtualClock();
  const kept = new KeptStatus(clock);
  const waits: number[] = [];
  for (let time = 0; time < 9; time++) {
    const waitMs = kept.stored(false) ?? 0;
    waits.push(waitMs / 1000);
    await clock.advance(waitMs);
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600]);
  expect(kept.stored(true)).toBeUndefined();
  expect(kept.stored(false)).toBe(5000);
});

it('waits no longer after other writes, or when the wall clock is set back', async () => {
  const world = new VirtualClock();
  let aheadMs = 0;
  const kept = new KeptStatus({
    now: () => world.now() + aheadMs,
    monotonic: () => world.monotonic(),
    setTimer: (delayMs, fire) => world.setTimer(delayMs, fire),
  });
  expect(kept.stored(false)).toBe(5000);
  await world.advance(2000);
  aheadMs = -3_600_000;
  expect(kept.stored(false)).toBe(3000);
});
