/**
 * Tests that a newcomer can read any file: it says within its first ten lines what it is for, it is
 * short, and its comments and the names of tests are in plain English.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commentsOf, testNamesOf } from './documentation/comments.ts';
import { brokenInComment, brokenRules } from './documentation/plain-english.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['src', 'packages', 'test', 'tools', 'examples'];
const HEADER_LINES = 10;
const MAX_LINES = 350;
const MAX_FILES_IN_FOLDER = 25;

/** Tests and what they share. */
const BESIDE_SOURCE = /\.(test|fixture|conformance)\.tsx?$/;
const COMMENT = /^\s*(\/\*|\*|\/\/)/;

interface Source {
  readonly path: string;
  readonly text: string;
}

function sources(): readonly Source[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !/node_modules\/|\.generated\.ts$/.test(path))
      .map((path) => join(folder, path)),
  ).map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function hasHeader({ text }: Source): boolean {
  return text
    .split('\n')
    .slice(0, HEADER_LINES)
    .some((line) => COMMENT.test(line));
}

function notPlain({ path, text }: Source): readonly string[] {
  return [
    ...commentsOf(text).map(({ line, text: words }) => ({ line, broken: brokenInComment(words) })),
    ...testNamesOf(text).map(({ line, text: words }) => ({ line, broken: brokenRules(words) })),
  ].flatMap(({ line, broken }) => broken.map((rule) => `${path}:${line}: ${rule}`));
}

describe('every source file', () => {
  const all = sources();

  it('says within its first ten lines what it is for', () => {
    const isTest = /\.test\.tsx?$/;
    const without = all.filter((source) => !isTest.test(source.path) && !hasHeader(source));
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  it(`has at most ${MAX_LINES} lines, and ${MAX_FILES_IN_FOLDER - 1} others beside it`, () => {
    const short = all.filter(
      ({ path }) => /^(src|packages)\//.test(path) && !BESIDE_SOURCE.test(path),
    );
    const lines = short.map(({ path, text }) => [path, text.split('\n').length - 1] as const);
    expect(lines.filter(([, count]) => count > MAX_LINES)).toEqual([]);
    const folders = new Map<string, number>();
    for (const { path } of short) {
      const folder = dirname(path);
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
    expect([...folders].filter(([, count]) => count > MAX_FILES_IN_FOLDER)).toEqual([]);
  });

  it('has comments and names of tests in plain English', () => {
    expect(all.flatMap(notPlain)).toEqual([]);
  });

  it('is found', () => {
    expect(all.length).toBeGreaterThan(1000);
    expect(all.map(({ path }) => path)).toContain('src/dashboard/page/main.tsx');
  });
});
