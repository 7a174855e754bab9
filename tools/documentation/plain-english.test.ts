/**
 * Every Markdown page keeps the rules of `plain-english.ts`; `tools/headers.test.ts` holds comments and
 * names of tests to them.
 */
import { describe, expect, test } from 'vitest';
import { commentsOf, testNamesOf } from './comments.ts';
import { allPages, type Page, parsePage } from './page.ts';
import { brokenInComment, brokenRules } from './plain-english.ts';

/** It quotes the names of tests. */
const QUOTES = /“[^”]*”/g;

function broken({ path, prose }: Page): readonly string[] {
  return prose.flatMap(({ line, text }) =>
    brokenRules(text.replaceAll(QUOTES, '“”')).map((rule) => `${path}:${line}: ${rule}`),
  );
}

test('every page is in plain English', () => {
  expect(allPages().flatMap(broken)).toEqual([]);
});

describe('a sentence', () => {
  test.each([
    ['Agents repeat what they told.', 'told'],
    ['It waits. Of both, it takes the\nhigher one.', 'Of'],
    ['Jobs are made anew.', 'anew'],
    ['It is short. **Those Pods** are not.', 'Those'],
    ['(One that goes is named.)', 'One that'],
    ['Such a Pod ends.', 'Such'],
    ['It waits so long.', 'so long'],
    ['The order is that\nof the Pods.', 'that of'],
    ['Its names are those of Kubernetes.', 'those of'],
    ['The run goes on.', 'go on'],
    ['A signal brought that about, and a Job went on.', 'go on'],
    ['A hang is brought about by this.', 'bring about'],
  ])('is refused: %j', (text, word) => {
    expect(brokenRules(text)).toEqual([expect.stringContaining(`"${word}`)]);
  });

  test.each([
    'A worker that is told to stop exits.',
    'Be told when a run is in trouble.',
    'The first of them: of these, and those, and such.',
    'Often it waits so long that it ends. Offers stay.',
    'Pods that go only on Monday bring it about: that often.',
  ])('is allowed: %j', (text) => {
    expect(brokenRules(text)).toEqual([]);
  });
});

test('a sentence has at most 40 words, up to a colon or a semicolon', () => {
  const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
  expect(brokenRules(`${words(40)}: ${words(40)}; ${words(40)}.\n${words(40)}.`)).toEqual([]);
  expect(brokenRules(`${words(20)}, \n${words(21)}.`)).toEqual([
    expect.stringContaining('more than 40 words'),
  ]);
});

test('code, headings and targets of links are no prose', () => {
  const page = parsePage(
    'docs/page.md',
    ['# Of told', '', 'See `told` and [a page](told.md).', '', '```text', 'anew', '```'].join('\n'),
  );
  expect(page.prose.map(({ text }) => text)).toEqual(['See `` and a page.']);
  expect(broken(page)).toEqual([]);
});

test('comments are prose without marks and code, and lines of `//` are one', () => {
  const source = [
    '/**',
    ' * What was `told` is',
    ' * anew.',
    ' */',
    "const url = 'http://told'; // Behind code.",
    '  // One',
    '  // comment.',
    '  {/* In a page. */}',
  ].join('\n');
  expect(commentsOf(source)).toEqual([
    { line: 1, text: 'What was `` is\n anew.' },
    { line: 5, text: 'Behind code.' },
    { line: 6, text: 'One\n comment.' },
    { line: 8, text: 'In a page.' },
  ]);
});

test('names of tests are found after tables and conditions, too', () => {
  const source = [
    "describe('a', () => {",
    "  it('b', async () => {});",
    '  test.each([[1]])("c\'s %i", (i) => {});',
    "  it.each<[string, number]>([['x', 1]])(",
    "    'd',",
    '    async () => {},',
    '  );',
    "  it.skipIf(isOff())('e', () => {});",
    "  test('f', { retry: 1 }, () => {});",
    '});',
  ].join('\n');
  expect(testNamesOf(source).map(({ text }) => text)).toEqual(['a', 'b', "c's %i", 'd', 'e', 'f']);
});

test('only the first sentence of a comment stands alone', () => {
  expect(brokenInComment('Nobody waits. That is told.')).toEqual([
    expect.stringContaining('"Nobody"'),
    expect.stringContaining('"told"'),
  ]);
  expect(brokenInComment('A Pod ends. That is fine.')).toEqual([]);
});
