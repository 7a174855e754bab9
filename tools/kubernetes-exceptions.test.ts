/**
 * Checks the lists of suites for the embedded cluster only, and of those that real nodes cannot run: they
 * name suites that exist, and each one that would not meet the real Kubernetes, where it would only run
 * a second time.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { EMBEDDED_ONLY, NOT_ON_NODES } from '../test/kubernetes.ts';

const TEST = join(import.meta.dirname, '../test');
/** The file that knows the real Kubernetes. */
const KUBERNETES = join(TEST, 'kubernetes.ts');

const exceptions = [
  ...Object.entries(EMBEDDED_ONLY),
  ...Object.entries(NOT_ON_NODES).map(([suite, reason]) => [`e2e/${suite}`, reason] as const),
];

it.each(exceptions)('%s is there, and has a reason', (suite, reason) => {
  expect(existsSync(join(TEST, suite))).toBe(true);
  expect(reason).toMatch(/\.$/);
});

it('gives no reason twice', () => {
  const reasons = Object.values(EMBEDDED_ONLY);
  expect(new Set(reasons).size).toBe(reasons.length);
});

it('names each suite that cannot meet a real Kubernetes', () => {
  const suites = ['e2e', 'integration'].flatMap((folder) =>
    readdirSync(join(TEST, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const unmet = suites.filter((suite) => !reaches(join(TEST, suite)));
  expect(unmet.filter((suite) => !(suite in EMBEDDED_ONLY))).toEqual([]);
});

it('names each suite that asks `lockstep up` for more than real nodes have', () => {
  const suites = readdirSync(join(TEST, 'e2e')).filter((name) => name.endsWith('.test.ts'));
  const asking = suites.filter((name) =>
    /startCluster\('|'(?:up|demo|node)'/.test(readFileSync(join(TEST, 'e2e', name), 'utf8')),
  );
  expect(asking).not.toEqual([]);
  expect(asking.filter((suite) => !(suite in NOT_ON_NODES))).toEqual([]);
});

/** Whether it imports `test/kubernetes.ts`, directly or by other files of `test/`. */
function reaches(file: string, seen = new Set<string>()): boolean {
  if (file === KUBERNETES) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/ from '(\.[^']+\.ts)'/g);
  const files = Array.from(imports, ([, path = '']) => join(dirname(file), path));
  return files.some((each) => each.startsWith(TEST) && reaches(each, seen));
}
