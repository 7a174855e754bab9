/** The Markdown pages of this repository, taken apart for the tests that hold them to rules. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import GithubSlugger from 'github-slugger';
import MarkdownIt, { type Token } from 'markdown-it';

export const ROOT = join(import.meta.dirname, '../..');

export interface Located {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** A fenced block. `mark` is what follows the language on the fence; readers do not see it. */
export interface CodeBlock extends Located {
  readonly language: string;
  readonly mark: string;
}

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  /** Lines outside tables. */
  readonly wrapped: readonly Located[];
  readonly cells: readonly Located[];
  readonly links: readonly Located[];
  /** Paragraphs, items of lists and cells, without code and the targets of links. */
  readonly prose: readonly Located[];
  /** The anchors that GitHub gives to its headings. */
  readonly anchors: ReadonlySet<string>;
  readonly blocks: readonly CodeBlock[];
}

/** Every page under version control, by path. */
export function allPages(): readonly Page[] {
  const listed = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' });
  const paths = listed.split('\n').filter((path) => path !== '');
  return paths.map((path) => parsePage(path, readFileSync(join(ROOT, path), 'utf8')));
}

export function parsePage(path: string, text: string): Page {
  const tokens = new MarkdownIt().parse(text, {});
  const inlines = tokens.filter(({ type }) => type === 'inline');
  const isCode = ({ type }: Token): boolean => type === 'fence' || type === 'code_block';
  const unwrapped = new Set(tokens.filter(({ type }) => type === 'table_open').flatMap(linesOf));
  return {
    path,
    wrapped: text
      .split('\n')
      .map((line, index) => ({ line: index + 1, text: line }))
      .filter(({ line }) => !unwrapped.has(line)),
    cells: tokens.flatMap((token, index) => {
      if (!/^t[hd]_open$/.test(tokens[index - 1]?.type ?? '')) return [];
      const row = tokens.findLast(({ type }, at) => at < index && type === 'tr_open');
      return [{ line: lineOf(row ?? token), text: token.content }];
    }),
    links: inlines.flatMap((token) =>
      targetsOf(token).map((target) => ({ line: lineOf(token), text: target })),
    ),
    prose: tokens.flatMap((token, index) => {
      if (token.type !== 'inline' || tokens[index - 1]?.type === 'heading_open') return [];
      const placed = tokens.findLast(({ map }, at) => at <= index && map !== null);
      return [{ line: lineOf(placed ?? token), text: proseOf(token) }];
    }),
    anchors: anchorsOf(tokens),
    blocks: tokens.filter(isCode).map((token) => {
      const [language = '', ...mark] = token.info.trim().split(' ');
      return { line: lineOf(token), text: token.content, language, mark: mark.join(' ') };
    }),
  };
}

function lineOf({ map }: Token): number {
  return (map?.[0] ?? 0) + 1;
}

function linesOf({ map }: Token): readonly number[] {
  const [from, to] = map ?? [0, 0];
  return Array.from({ length: to - from }, (_, index) => from + index + 1);
}

function targetsOf({ children }: Token): readonly string[] {
  return (children ?? [])
    .map((child) => child.attrGet('href') ?? child.attrGet('src'))
    .filter((target) => typeof target === 'string');
}

/** Code becomes two backticks, so that what stands before it does not become the beginning. */
function proseOf({ children }: Token): string {
  const text = { softbreak: '\n', hardbreak: '\n', code_inline: '``' } as Record<string, string>;
  return (children ?? []).map(({ type, content }) => text[type] ?? content).join('');
}

function anchorsOf(tokens: readonly Token[]): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const headings = tokens.filter((_, index) => tokens[index - 1]?.type === 'heading_open');
  return new Set(
    headings.map(({ children }) =>
      slugger.slug((children ?? []).map(({ content }) => content).join('')),
    ),
  );
}
