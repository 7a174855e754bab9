/** The prose of a TypeScript file, taken out for the tests that hold it to the rules of English. */
import type { Located } from './page.ts';

/** A block comment, also in JSX, lines of `//` that follow each other, or one behind code. */
const COMMENT =
  /^[ \t]*\{?\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=[;,{}()[\]>] )\/\/ .*/gm;
const MARKS = /^[ \t]*(?:\{?\/\*+|\*+\/|\*(?!\*)|\/\/+)|\*\/\}?[ \t]*$/gm;
const CODE = /`[^`]*`/g;

/** The name of a test, or of a group of tests, also after a table. */
const TEST_NAME =
  /(?:\b(?:it|test|describe)(?:\.(?!each)\w+)*\(|(?<=\)|`)\()\s*(['"`])((?:(?!\1)[^\n])+)\1,\s*(?:async )?(?:\(|\{|[\w.]+\()/g;

/** Its comments, without what marks them and without code. */
export function commentsOf(text: string): readonly Located[] {
  return [...text.matchAll(COMMENT)].map(({ index, 0: comment }) => ({
    line: lineAt(text, index),
    text: comment.replaceAll(MARKS, '').replaceAll(CODE, '``').trim(),
  }));
}

/** The names of its tests. */
export function testNamesOf(text: string): readonly Located[] {
  return [...text.matchAll(TEST_NAME)].map(({ index, 2: name = '' }) => ({
    line: lineAt(text, index),
    text: name,
  }));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
