/** Every Markdown page keeps the rules of `plain-english.ts`. */
import { describe, expect, test } from 'vitest';
import { allPages, type Page, parsePage } from './page.ts';
import { brokenRules } from './plain-english.ts';

/** It quotes the names of tests. */
const QUOTES = /“[^”]*”/g;

/** The rows that `tools/jobset-reference.ts` writes from the doc comments of the API's types. */
const FROM_COMMENTS = 'docs/reference/jobset.md';

function broken({ path, prose }: Page): readonly string[] {
  return prose.flatMap(({ line, text }) =>
    brokenRules(text.replaceAll(QUOTES, '“”')).map((rule) => `${path}:${line}: ${rule}`),
  );
}

test('every page is in plain English', () => {
  const pages = allPages().filter(({ path }) => path !== FROM_COMMENTS);
  expect(pages.flatMap(broken)).toEqual([]);
});

describe('a sentence', () => {
  test.each([
    ['Agents repeat what they told.', 'told'],
    ['It waits. Of both, it takes the\nhigher one.', 'Of'],
    ['Jobs are made anew.', 'anew'],
    ['It is short. **Those of others** are not.', 'Those'],
    ['(One that goes is named.)', 'One that'],
    ['Such a Pod ends.', 'Such'],
    ['It waits so long.', 'so long'],
  ])('is refused: %j', (text, word) => {
    expect(brokenRules(text)).toEqual([expect.stringContaining(`"${word}`)]);
  });

  test.each([
    'A worker that is told to stop exits.',
    'Be told when a run is in trouble.',
    'The first of them: of these, and those, and such.',
    'Often it waits so long that it ends. Offers stay.',
  ])('is allowed: %j', (text) => {
    expect(brokenRules(text)).toEqual([]);
  });
});

test('code, headings and targets of links are no prose', () => {
  const page = parsePage(
    'docs/page.md',
    ['# Of told', '', 'See `told` and [a page](told.md).', '', '```text', 'anew', '```'].join('\n'),
  );
  expect(page.prose.map(({ text }) => text)).toEqual(['See `` and a page.']);
  expect(broken(page)).toEqual([]);
});
