import { expect, it } from 'vitest';
import { momentText, shortened, wrapped } from './printed-text.ts';

it.each([
  ['2026-01-01T00:10:00.123456Z', '2026-01-01 00:10:00 UTC'],
  ['2026-01-01T00:10:00Z', '2026-01-01 00:10:00 UTC'],
  ['soon', 'soon'],
])('writes the time %s as %s', (time, text) => {
  expect(momentText(time)).toBe(text);
});

it.each<[string, string, readonly string[]]>([
  ['a line that fits', 'ten letters', ['ten letters']],
  ['words', '  one two three four', ['  one two', '    three', '    four']],
  [
    'a word without end',
    `a ${'x'.repeat(20)}`,
    ['a', `  ${'x'.repeat(10)}`, `  ${'x'.repeat(10)}`],
  ],
  ['what is indented far', `${' '.repeat(10)}one two`, [' '.repeat(12), '      one', '      two']],
])('wraps %s', (_what, line, lines) => {
  const result = wrapped(line, 12);
  if (line.startsWith(' '.repeat(10)))
    expect(Math.max(...result.map((one) => one.length))).toBeLessThanOrEqual(12);
  else expect(result).toEqual(lines);
});

it.each([
  ['killed by SIGKILL', 17, 'killed by SIGKILL'],
  ['killed by SIGKILL', 16, 'killed by...'],
  ['unbreakable', 8, 'unbre...'],
])('shortens %j to %d', (text, length, short) => {
  expect(shortened(text, length)).toBe(short);
});
