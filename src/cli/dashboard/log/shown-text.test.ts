import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CUT_MARK, MAX_LINE_LENGTH } from '../../../dashboard/messages/log.ts';
import { shownText } from './log-stream.ts';

it.each([
  ['plain', 'step 1', false, 'step 1'],
  ['of HTML and escapes', '<b>\u001b[31m', false, '<b>\u001b[31m'],
  ['that was cut before', 'abc', true, `abc${CUT_MARK}`],
  ['of the greatest length', 'a'.repeat(MAX_LINE_LENGTH), false, 'a'.repeat(MAX_LINE_LENGTH)],
])('a line %s', (_, text, isCut, expected) => {
  expect(shownText(Buffer.from(text), isCut)).toBe(expected);
});

it('any bytes become a text that is not too long', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9000 }), fc.boolean(), (bytes, isCut) => {
      const text = shownText(Buffer.from(bytes), isCut);
      expect(text.length).toBeLessThanOrEqual(MAX_LINE_LENGTH);
      expect(Buffer.from(text).toString()).toBe(text);
    }),
  );
});

it('no character is cut in two', () => {
  for (const before of ['', 'a']) {
    const text = shownText(Buffer.from(before + '😀'.repeat(MAX_LINE_LENGTH)), false);
    expect(Buffer.from(text).toString()).toBe(text);
    expect(text.endsWith(CUT_MARK)).toBe(true);
  }
});
