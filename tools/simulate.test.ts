import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PLANTED } from '../src/simulator/planted/planted.ts';

it.each(PLANTED)('$name: its text is there once', ({ file, find, replace }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});

it.each(PLANTED)('$name: one way to find it is known', ({ seed, scenario, systematic }) => {
  expect([seed, scenario, systematic].filter((way) => way !== undefined)).toHaveLength(1);
});
