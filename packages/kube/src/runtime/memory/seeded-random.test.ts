import { describe, expect, it } from 'vitest';
import { randomConformance } from '../ports/random.conformance.ts';
import { SeededRandom } from './seeded-random.ts';

randomConformance('SeededRandom', () => new SeededRandom(42));

describe('SeededRandom', () => {
  it('repeats itself for the same seed and differs for the next one', () => {
    const sequence = (seed: number): string => {
      const random = new SeededRandom(seed);
      return [random.next(), random.uuid(), random.next()].join(' ');
    };
    expect(sequence(7)).toBe(sequence(7));
    expect(new Set([0, 1, 2, 2 ** 32, 2 ** 33].map(sequence)).size).toBe(5);
  });
});
