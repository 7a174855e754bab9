import { describe, expect, it } from 'vitest';
import { type Random, randomName } from './random.ts';

const SAMPLES = 20_000;

/** The tests that every implementation of the port of randomness must pass. */
export function randomConformance(name: string, make: () => Random): void {
  describe(`${name} as a Random`, () => {
    it('gives numbers in [0, 1) that spread evenly', () => {
      const random = make();
      const tenths = Array<number>(10).fill(0);
      for (let i = 0; i < SAMPLES; i++) {
        const value = random.next();
        expect(value >= 0 && value < 1).toBe(true);
        const tenth = Math.floor(value * 10);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      }
      // Ten standard deviations: a fair generator never fails this.
      const deviation = Math.sqrt(SAMPLES * 0.1 * 0.9);
      for (const count of tenths)
        expect(Math.abs(count - SAMPLES / 10)).toBeLessThan(10 * deviation);
    });

    it('gives version 4 UUIDs in lower case, each another', () => {
      const random = make();
      const uuids = Array.from({ length: 1_000 }, () => random.uuid());
      for (const uuid of uuids) {
        expect(uuid).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }
      expect(new Set(uuids).size).toBe(uuids.length);
    });

    it('gives names that are DNS labels', () => {
      const random = make();
      for (let i = 0; i < 100; i++) expect(randomName(random, 5)).toMatch(/^[a-z0-9]{5}$/);
    });
  });
}
