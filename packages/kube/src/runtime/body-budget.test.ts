import { describe, expect, it } from 'vitest';
import { BodyBudget } from './body-budget.ts';

const LIMITS = { maxBytes: 100_000, maxLargeBytes: 80_000, smallBodyBytes: 10_000 };

/** A budget whose bodies have names, and the names of those that were refused. */
function budgetOf() {
  const budget = new BodyBudget(LIMITS);
  const refused: string[] = [];
  return {
    budget,
    refused,
    begin: (name: string, address = 'a') => budget.begin(address, () => refused.push(name)),
  };
}

describe('a budget of bodies', () => {
  it('takes what fits, and forgets what is released', () => {
    const { budget, refused, begin } = budgetOf();
    const body = begin('one');
    for (let i = 0; i < 10; i++) {
      body.take(8_000);
      if (i % 2 === 0) expect(budget.heldBytes).toBe((i + 1) * 8_000);
    }
    body.arrived();
    body.release();
    body.release();
    expect({ held: budget.heldBytes, refused }).toEqual({ held: 0, refused: [] });
  });

  it('has the oldest unfinished body of the address with the most give way', () => {
    const { refused, begin } = budgetOf();
    const honest = begin('honest', 'server');
    honest.take(20_000);
    for (const name of ['first', 'second', 'third']) begin(name, 'crowd').take(19_000);
    honest.take(20_000);
    expect(refused).toEqual(['first']);
  });

  it('never takes a body back that has arrived', () => {
    const { refused, begin } = budgetOf();
    const whole = begin('whole');
    whole.take(70_000);
    whole.arrived();
    begin('late', 'b').take(20_000);
    expect(refused).toEqual(['late']);
  });

  it('keeps a share that large bodies cannot take', () => {
    const { refused, begin } = budgetOf();
    for (const name of ['one', 'two']) {
      const body = begin(name);
      body.take(40_000);
      body.arrived();
    }
    begin('large').take(10_001);
    begin('small').take(10_000);
    expect(refused).toEqual(['large']);
  });

  it('counts a chunk for what it costs, however little is in it', () => {
    const { budget, begin } = budgetOf();
    const body = begin('one');
    for (let i = 0; i < 10; i++) body.take(1);
    expect(budget.heldBytes).toBe(10 * 512);
  });
});
