/** How `$(NAME)` is replaced in commands, arguments and variables. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand } from './expansion.ts';

const VARIABLES = new Map([
  ['A', 'one'],
  ['B', '$(A)'],
  ['EMPTY', ''],
]);

describe('$(NAME)', () => {
  it.each([
    ['$(A)', 'one'],
    ['x$(A)y$(A)', 'xoneyone'],
    ['$(B)', '$(A)'],
    ['$(EMPTY)', ''],
    ['$(NONE)', '$(NONE)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$one'],
    ['$A', '$A'],
    ['$', '$'],
    ['$$', '$'],
    ['$(A', '$(A'],
    ['$(', '$('],
    ['$()', '$()'],
    ['a$(A)$', 'aone$'],
  ])('%s becomes %s', (text, expected) => {
    expect(expand(text, VARIABLES)).toBe(expected);
  });

  it('leaves text without a dollar as it is, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '(', ')', 'A', 'x') }), (text) => {
        const expanded = expand(text, VARIABLES);
        if (!text.includes('$')) expect(expanded).toBe(text);
      }),
    );
  });

  it('gives any text back when its dollars are doubled', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(expand(text.replaceAll('$', '$$$$'), VARIABLES)).toBe(text);
      }),
    );
  });
});
