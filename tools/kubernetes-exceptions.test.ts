/** Checks that the list of exceptions for real clusters names only suites and tests that exist. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EMBEDDED_ONLY } from '../test/kubernetes.ts';

it.each(Object.entries(EMBEDDED_ONLY))('%s is there, and has a reason', (suite, reason) => {
  expect(existsSync(new URL(`../test/${suite}`, import.meta.url))).toBe(true);
  expect(reason).toMatch(/\.$/);
});
