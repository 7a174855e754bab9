import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shown, shownLines } from './shown-text.ts';

it.each([
  ['plain <b>text</b>', 'plain <b>text</b>'],
  ['a\u202eb\u0007c\nd', 'a\\u202eb\\ac\\nd'],
  ['zero\u200bwidth', 'zero\\u200bwidth'],
  ['Grüße, 世界', 'Grüße, 世界'],
])('%j is shown as %j', (text, seen) => {
  expect(shown(text)).toBe(seen);
});

it('counts what it cuts off, and leaves no half of a character', () => {
  expect(shown('abcdef', 4)).toBe('abcd… (2 more characters)');
  expect(shown('abc🙂def', 4)).toBe('abc… (4 more characters)');
});

it('keeps lines', () => {
  expect(shownLines('a\u001b\nb\n')).toBe('a\\x1b\nb\n');
  expect(shownLines('a\nbcd', 3)).toBe('a\nb… (2 more characters)');
});

it('stays short for a long text', () => {
  expect(shown('A'.repeat(1 << 20), 100).length).toBeLessThan(150);
});

it('leaves nothing that turns or hides a text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(shown(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(shownLines(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
