import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../status.ts';
import {
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredValue,
} from './field-selector.ts';

describe('parseFieldSelector', () => {
  it.each([
    ['', { a: '1' }, true],
    ['a=1', { a: '1' }, true],
    ['a==1,b!=2', { a: '1', b: '3' }, true],
    ['a==1,b!=2', { a: '1', b: '2' }, false],
    ['a!=1', {}, true],
    ['a=', {}, true],
    ['a=x\\,y\\=z\\\\', { a: 'x,y=z\\' }, true],
    [',a=1,', { a: '1' }, true],
  ])('%j selects %j: %j', (text, fields: Readonly<Record<string, string>>, expected) => {
    expect(matchesFields(parseFieldSelector(text), (field) => fields[field])).toBe(expected);
  });

  it.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: ='],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  it('reads back selectors with any values', () => {
    const term = fc.record({
      field: fc.constantFrom('metadata.name', 'status.phase'),
      isEqual: fc.boolean(),
      value: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(term), (selector) => {
        const parsed = parseFieldSelector(formatFieldSelector(selector));
        expect(new Set(parsed)).toEqual(new Set(selector));
      }),
    );
  });

  it('answers any text with a selector or a BadRequest', () => {
    const part = fc.constantFrom('a', '=', '!=', '\\', ',', 'b');
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join('')),
        (text) => {
          try {
            parseFieldSelector(text);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiStatusError);
          }
        },
      ),
    );
  });

  it('tells the value that a field must have', () => {
    const selector = parseFieldSelector('spec.nodeName=n1,status.phase!=Failed');
    expect(requiredValue(selector, 'spec.nodeName')).toBe('n1');
    expect(requiredValue(selector, 'status.phase')).toBeUndefined();
  });
});
