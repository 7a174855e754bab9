import { expect, it } from 'vitest';
import { lastLines } from './last-words.ts';

it('keeps lines, spaces and the end, and shows control characters', () => {
  expect(lastLines('Traceback:\n\tboom\r\n\u0007\u001b[31m<b>\u202e\n')).toEqual([
    'Traceback:',
    '    boom',
    '\\a\\x1b[31m<b>\\u202e',
  ]);
  const many = lastLines(Array.from({ length: 1000 }, (_, i) => `line ${i}`).join('\n'));
  expect([many.length, many[0], many.at(-1)]).toEqual([401, '… 600 lines before', 'line 999']);
});

it('cuts lines that are too long to read', () => {
  const [line = ''] = lastLines('\u202e'.repeat(1_048_576));
  expect(line.length).toBeLessThan(7000);
  expect(line).toMatch(/more characters\)$/);
});
