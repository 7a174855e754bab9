/** What holds for every Markdown page; `test/e2e/documented-commands.test.ts` runs what they show. */
import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { allPages, type Located, type Page, parsePage, ROOT } from './page.ts';

const MAX_COLUMNS = 120;
const MAX_CELL_CHARACTERS = 200;
const MAX_PARAGRAPH_LINES = 8;

/** Languages of code blocks. `text` is output, and what no program reads. */
const LANGUAGES = ['sh', 'ts', 'yaml', 'json', 'http', 'mermaid', 'text', 'python'];

/**
 * Who runs the commands of an `sh` block: a test, one after the other (no mark), or in the background
 * until the end of the page (`watch`). README's first look (`first-look`) has a test of its own, which
 * waits for the result of each command. No test runs commands that need a cluster of your own
 * (`cluster`), or that build or test a checkout (`checkout`), which CI does.
 */
const MARKS = ['', 'watch', 'first-look', 'cluster', 'checkout'];

const pages = allPages();
const anchors = new Map(pages.map((page) => [page.path, page.anchors]));

function told(page: Page, { line }: Located, what: string): string {
  return `${page.path}:${line}: ${what}`;
}

function tooLong(page: Page): readonly string[] {
  return page.wrapped
    .filter(({ text }) => text.length > MAX_COLUMNS)
    .map((line) => told(page, line, `${line.text.length} columns`));
}

function tooFull(page: Page): readonly string[] {
  return page.cells
    .filter(({ text }) => text.length > MAX_CELL_CHARACTERS)
    .map((cell) => told(page, cell, `a cell of ${cell.text.length} characters`));
}

function tooTall(page: Page): readonly string[] {
  return page.prose
    .map(({ line, text }) => ({ line, text: `${text.split('\n').length} lines` }))
    .filter(({ text }) => Number.parseInt(text, 10) > MAX_PARAGRAPH_LINES)
    .map((paragraph) => told(page, paragraph, paragraph.text));
}

function broken(page: Page): readonly string[] {
  return page.links
    .filter(({ text }) => !/^[a-z]+:/.test(text))
    .filter(({ text }) => !leadsSomewhere(page.path, text))
    .map((link) => told(page, link, link.text));
}

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : normalize(join(from, '..', decodeURI(path)));
  if (anchor !== undefined) return anchors.get(target)?.has(anchor) === true;
  return existsSync(join(ROOT, target));
}

function unmarked(page: Page): readonly string[] {
  return page.blocks
    .filter(
      ({ language, mark }) =>
        !LANGUAGES.includes(language) || !(language === 'sh' ? MARKS : ['']).includes(mark),
    )
    .map((block) => told(page, block, `a block of "${block.language} ${block.mark}"`));
}

function unknownScripts(page: Page): readonly string[] {
  return page.blocks.flatMap((block) =>
    [...block.text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
      .filter(([, script = '']) => !Object.hasOwn(packageJson.scripts, script))
      .map(([command]) => told(page, block, command)),
  );
}

/** A reader has no such file until a page tells where it comes from. */
function packageFromNowhere(page: Page): readonly string[] {
  const named = page.blocks.filter(({ text }) => /lockstep-[\d.]+\.tgz/.test(text));
  const current = `lockstep-${packageJson.version}.tgz`;
  const stale = named.filter(({ text }) => !text.includes(current));
  const leads = page.links.some(({ text }) => /^(install\.md)?#get-the-package$/.test(text));
  return [
    ...stale.map((block) => told(page, block, `expected ${current}`)),
    ...(leads ? [] : named.map((block) => told(page, block, 'no link to "Get the package"'))),
  ];
}

describe('every page', () => {
  test.each([
    ['has at most 120 columns outside tables, code included', tooLong],
    ['has at most 200 characters in a cell of a table', tooFull],
    ['has at most 8 lines in a paragraph', tooTall],
    ['links to files and headings that exist', broken],
    ['says of each block of code what it is, and who runs its commands', unmarked],
    ['names scripts of package.json', unknownScripts],
    ['says where the package comes from that it installs', packageFromNowhere],
  ])('%s', (_, findings) => {
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap(findings)).toEqual([]);
  });
});

describe('a page that breaks a rule', () => {
  const page = parsePage(
    'docs/page.md',
    [
      '# A title',
      'x'.repeat(MAX_COLUMNS + 1),
      '',
      `| ${'y'.repeat(MAX_CELL_CHARACTERS + 1)} |`,
      '|---|',
      `| short, in a row of ${'z'.repeat(MAX_COLUMNS)} |`,
      '',
      '- [gone](gone.md), [none](#none), [there](../README.md), [known](https://example.com/gone)',
      '',
      '```',
      'npm run nothing',
      'w'.repeat(MAX_COLUMNS + 2),
      '```',
      '',
      ...Array.from({ length: MAX_PARAGRAPH_LINES + 1 }, () => 'A line.'),
    ].join('\n'),
  );

  test.each([
    [tooLong, ['docs/page.md:2: 121 columns', 'docs/page.md:12: 122 columns']],
    [tooFull, ['docs/page.md:4: a cell of 201 characters']],
    [tooTall, ['docs/page.md:15: 9 lines']],
    [broken, ['docs/page.md:8: gone.md', 'docs/page.md:8: #none']],
    [unmarked, ['docs/page.md:10: a block of " "']],
    [unknownScripts, ['docs/page.md:10: npm run nothing']],
  ])('is found by $name', (findings, expected) => {
    expect(findings(page)).toEqual(expected);
  });
});
