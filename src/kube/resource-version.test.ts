import { expect, test } from 'vitest';
import { isOlderVersion } from './resource-version.ts';

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['7', '7', false],
  [undefined, '1', true],
  ['', '0', true],
  ['99999999999999999998', '99999999999999999999', true],
  ['1', undefined, false],
])('%o older than %o: %o', (a, b, expected) => expect(isOlderVersion(a, b)).toBe(expected));
