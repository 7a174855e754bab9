/** Holds what is said about tested versions of Kubernetes against each other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OLDEST_MINOR, TESTED_MINORS } from '../src/cli/kubernetes-versions.ts';
import { KUBERNETES_VERSIONS } from './control-plane/build.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../docs/reference/stability.md'), 'utf8');

test('the documentation and the commands name the same tested versions, which the suites know', () => {
  const rows = PAGE.matchAll(/^\| 1\.\d+[^|]*\| the suites on (1\.\d+\.\d+)/gm);
  const tested = Array.from(rows, ([, version = '']) => version);
  expect(KUBERNETES_VERSIONS).toEqual(expect.arrayContaining(tested));
  expect(tested.map((version) => Number(version.split('.')[1]))).toEqual(TESTED_MINORS);
  expect(PAGE).toContain(`1.${OLDEST_MINOR} is the oldest that is accepted`);
});
