import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const DIRECTORY = join(import.meta.dirname, '../docs/reference');
/** Titles go over the ends of lines. */
const page = readFileSync(join(DIRECTORY, 'conformance-tests.md'), 'utf8').replaceAll(/\n +/g, ' ');

/** A file that the page links to, and the titles of tests, requests or scenarios that follow it there. */
const named = page.split('](').flatMap((part) => {
  const path = part.slice(0, part.indexOf(')'));
  if (!path.startsWith('../../')) return [];
  const titles = [...part.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title);
  return [{ path, titles }];
});

/** The title of a recording is its file name; other titles stand in the text of the file. */
function has(path: string, title: string): boolean {
  const file = join(DIRECTORY, path);
  if (statSync(file).isDirectory()) return existsSync(join(file, `${title}.json`));
  return readFileSync(file, 'utf8').includes(title);
}

test('docs/reference/conformance-tests.md names files that exist', () => {
  expect(named.length).toBeGreaterThan(100);
  const missing = named.filter(({ path }) => !existsSync(join(DIRECTORY, path)));
  expect(missing.map(({ path }) => path)).toEqual([]);
});

test('docs/reference/conformance-tests.md names tests that exist', () => {
  const missing = named.flatMap(({ path, titles }) =>
    titles.filter((title) => !has(path, title)).map((title) => `${path}: ${title}`),
  );
  expect(missing).toEqual([]);
});

test('docs/reference/conformance-tests.md shows every fact by a test, or says why not', () => {
  const facts = page.split('\n').filter((line) => line.startsWith('- '));
  expect(facts.length).toBeGreaterThan(100);
  const unshown = facts.filter(
    (fact) => !/“[^”]+”/.test(fact) && !fact.includes('as conformance says'),
  );
  expect(unshown).toEqual([]);
});
