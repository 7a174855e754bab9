/**
 * What comments, test names and pages refer to is in the repository or public: the number of a section
 * or of a hazard in some other text tells a reader nothing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allPages, ROOT } from './page.ts';

/** Without recordings and golden files. */
const SOURCES = ['*.ts', '*.tsx', '*.yaml', ':!**/testdata/**', ':!**/recorded/**'];
const listed = execFileSync('git', ['ls-files', ...SOURCES], { cwd: ROOT, encoding: 'utf8' });
const pages = allPages();
const texts = [
  ...listed.split('\n').filter((path) => path !== ''),
  ...pages.map(({ path }) => path),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** Sections of RFCs are public. A citation may continue in the next line of a comment. */
const UNNAMED = [
  /\bdesign,?[\s*]+(sections?|H)[\s*]*\d/gi,
  /\bH\d{1,2}\b/g,
  /\b(spec|specification)[\s*]+\d/gi,
  /\(sections? \d/gi,
  /['"`(][SL]\d{1,2}\b/g,
];

test('no text is cited by a number that a reader cannot look up', () => {
  const found = texts.flatMap(({ path, text }) =>
    UNNAMED.flatMap((pattern) => [...text.matchAll(pattern)].map(([cited]) => `${path}: ${cited}`)),
  );
  expect(found).toEqual([]);
});

test('each page and heading of docs/design/ that is cited exists', () => {
  const anchorsOf = new Map(pages.map(({ path, anchors }) => [path, anchors]));
  const cited = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/(docs\/design\/[\w-]+\.md)(?:#([\w-]+))?/g)].map(
      ([all, page = '', anchor]) => {
        const anchors = anchorsOf.get(page);
        const exists = anchor === undefined ? anchors !== undefined : anchors?.has(anchor) === true;
        return { exists, where: `${path}: ${all}` };
      },
    ),
  );
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ exists }) => !exists).map(({ where }) => where)).toEqual([]);
});
