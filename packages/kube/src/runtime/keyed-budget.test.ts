import { describe, expect, it } from 'vitest';
import { KeyedBudget } from './keyed-budget.ts';
import { VirtualClock } from './memory/virtual-clock.ts';

function allowed(budget: KeyedBudget, key: string, tries: number): number {
  return Array.from({ length: tries }, () => budget.of(key).tryTake()).filter(Boolean).length;
}

describe('a budget for each key', () => {
  it('lets each have its burst, and its rate from then on', async () => {
    const clock = new VirtualClock();
    const budget = new KeyedBudget({ perSecond: 2, burst: 10 }, clock);
    expect(allowed(budget, 'a', 100)).toBe(10);
    expect(allowed(budget, 'b', 100)).toBe(10);
    let total = 0;
    for (let i = 0; i < 60; i++) {
      await clock.advance(1000);
      total += allowed(budget, 'a', 100);
    }
    expect(total).toBe(120);
  });

  it('gives the whole burst again after a pause', async () => {
    const clock = new VirtualClock();
    const budget = new KeyedBudget({ perSecond: 2, burst: 10 }, clock);
    allowed(budget, 'a', 100);
    await clock.advance(60_000);
    expect(allowed(budget, 'a', 100)).toBe(10);
  });
});
