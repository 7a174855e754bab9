import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareResourceVersions } from './resource-version.ts';

describe('resource versions', () => {
  it('are ordered as numbers, beyond what a number holds too', () => {
    const versions = fc.bigInt({ min: 1n, max: 10n ** 30n });
    fc.assert(
      fc.property(versions, versions, (a, b) => {
        const order = compareResourceVersions(String(a), String(b)) ?? Number.NaN;
        expect(Math.sign(order)).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it.each([
    ['', '1'],
    ['1', '01'],
    ['abc', '1'],
    ['-1', '1'],
  ])('have no order when one is no decimal number: %j and %j', (a, b) => {
    expect(compareResourceVersions(a, b)).toBeUndefined();
  });
});
