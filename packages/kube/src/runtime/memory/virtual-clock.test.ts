import { describe, expect, it } from 'vitest';
import { clockConformance } from '../ports/clock.conformance.ts';
import { timestamp } from '../ports/clock.ts';
import { VirtualClock } from './virtual-clock.ts';

clockConformance('VirtualClock', () => {
  const clock = new VirtualClock();
  return { clock, pass: (ms) => clock.advance(ms) };
});

describe('VirtualClock', () => {
  it('stands still until it is advanced, and then stands exactly there', async () => {
    const clock = new VirtualClock(Date.parse('2030-05-06T07:08:09Z'));
    expect(timestamp(clock)).toBe('2030-05-06T07:08:09Z');
    clock.setTimer(400, () => undefined);
    await clock.advance(1_000);
    expect([timestamp(clock), clock.monotonic()]).toEqual(['2030-05-06T07:08:10Z', 1_000]);
  });

  it('shows a timer the time at which it was due', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.monotonic());
      clock.setTimer(10, tick);
    };
    tick();
    await clock.advance(35);
    expect(seen).toEqual([0, 10, 20, 30]);
  });

  it('fires what became due in a jump late, in its order, and never goes back', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    const at = (dueMs: number): void => {
      clock.setTimer(dueMs, () => fired.push(`${dueMs} at ${clock.monotonic()}`));
    };
    for (const dueMs of [30, 10, 110]) at(dueMs);
    clock.jump(100);
    expect([clock.monotonic(), fired]).toEqual([100, []]);
    await clock.advance(10);
    expect(fired).toEqual(['10 at 100', '30 at 100', '110 at 110']);
    const advanced = clock.advance(1);
    expect(() => clock.jump(1)).toThrow('the clock is being advanced');
    await advanced;
  });

  it('runs until a condition holds, no further', async () => {
    const clock = new VirtualClock();
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      clock.setTimer(10, tick);
    };
    tick();
    await clock.runUntil(() => ticks === 5, 1_000);
    expect([clock.monotonic(), clock.pendingTimers]).toEqual([40, 1]);
  });

  it('says why a condition cannot be reached', async () => {
    const clock = new VirtualClock();
    const never = (): boolean => false;
    await expect(clock.runUntil(never, 50)).rejects.toThrow(/no timer is armed at 0 ms/);
    clock.setTimer(60, () => undefined);
    await expect(clock.runUntil(never, 50)).rejects.toThrow(/within 50 ms .*timer is due later/);
  });

  it('keeps pace with a chain of reactions of any length', async () => {
    const clock = new VirtualClock();
    let steps = 0;
    const chain = async (): Promise<void> => {
      for (let i = 0; i < 1_000; i++) {
        await Promise.resolve();
        steps++;
      }
    };
    clock.setTimer(1, () => void chain());
    let seen = 0;
    clock.setTimer(2, () => {
      seen = steps;
    });
    await clock.advance(2);
    expect(seen).toBe(1_000);
  });

  it('reports an error of a timer to the caller of advance', async () => {
    const clock = new VirtualClock();
    clock.setTimer(1, () => {
      throw new Error('from the timer');
    });
    await expect(clock.advance(5)).rejects.toThrow('from the timer');
  });

  it('fires each of many timers once, in order, with any cancellations in between', async () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    const delays = Array.from({ length: 2_000 }, (_, at) => (at * 7_919) % 1_009);
    const timers = delays.map((delay) => clock.setTimer(delay, () => fired.push(delay)));
    timers.forEach((timer, at) => {
      if (at % 3 !== 0) timer.cancel();
    });
    const left = delays.filter((_, at) => at % 3 === 0);
    expect(clock.pendingTimers).toBe(left.length);
    await clock.advance(1_009);
    expect(fired).toEqual(left.toSorted((a, b) => a - b));
    expect(clock.pendingTimers).toBe(0);
  });
});
