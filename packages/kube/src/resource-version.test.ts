import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOlder, mayBeNewer } from './resource-version.ts';

describe('resource versions', () => {
  it('are ordered as numbers, beyond what a number holds too', () => {
    const versions = fc.bigInt({ min: 1n, max: 10n ** 30n });
    fc.assert(
      fc.property(versions, versions, (a, b) => {
        expect(isOlder(String(a), String(b))).toBe(a < b);
        expect(mayBeNewer(String(a), String(b))).toBe(a > b);
      }),
    );
  });

  it.each([
    ['', '1'],
    ['1', '01'],
    ['abc', '1'],
    ['-1', '1'],
  ])('have no order when one is no decimal number: %j and %j', (a, b) => {
    expect([isOlder(a, b), mayBeNewer(a, b)]).toEqual([false, true]);
  });

  it.each(['', 'abc', '10'])('are the same: %j', (version) => {
    expect([isOlder(version, version), mayBeNewer(version, version)]).toEqual([false, false]);
  });
});
