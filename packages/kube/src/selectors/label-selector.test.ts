import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LabelSelector, LabelSelectorRequirement } from '../meta.ts';
import { ApiStatusError } from '../status.ts';
import {
  formatLabelSelector,
  labelRequirementsOf,
  matchesLabels,
  parseLabelSelector,
} from './label-selector.ts';

describe('labelRequirementsOf', () => {
  it('selects nothing for no selector and everything for an empty one', () => {
    expect(matchesLabels(labelRequirementsOf(undefined), { a: 'b' })).toBe(false);
    expect(matchesLabels(labelRequirementsOf({}), {})).toBe(true);
  });

  it('joins labels and expressions', () => {
    const selector = labelRequirementsOf({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['b', 'a'] },
        { key: 'canary', operator: 'DoesNotExist' },
      ],
    });
    expect(formatLabelSelector(selector)).toBe('app=web,!canary,tier notin (a,b)');
    expect(matchesLabels(selector, { app: 'web' })).toBe(true);
    expect(matchesLabels(selector, { app: 'web', tier: 'a' })).toBe(false);
  });

  it.each<[string, LabelSelectorRequirement, RegExp]>([
    ['no values', { key: 'a', operator: 'In' }, /values set can't be empty/],
    ['values for Exists', { key: 'a', operator: 'Exists', values: ['b'] }, /must be empty/],
    ['a bad key', { key: '-', operator: 'Exists' }, /^key: Invalid value: "-": name part/],
    ['a bad value', { key: 'a', operator: 'In', values: ['-'] }, /^values\[0\]\[a\]: Invalid/],
    [
      'an unknown operator',
      { key: 'a', operator: 'Like' as 'In', values: ['b'] },
      /"Like" is not a valid label selector operator/,
    ],
  ])('refuses %s', (_, expression, message) => {
    const selector: LabelSelector = { matchExpressions: [expression] };
    expect(() => labelRequirementsOf(selector)).toThrow(message);
  });
});

describe('parseLabelSelector', () => {
  it('sees only labels of the object itself', () => {
    expect(matchesLabels(parseLabelSelector('constructor'), {})).toBe(false);
    expect(matchesLabels(parseLabelSelector('!toString'), {})).toBe(true);
  });

  it('answers any text with a selector that it can write, or with a BadRequest', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '=',
      '==',
      '!=',
      '!',
      ' in ',
      'notin',
      '(',
      ')',
      ',',
      ' ',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(part).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, fc.dictionary(fc.constantFrom('a', 'b'), fc.string()), (given, labels) => {
        try {
          const selector = parseLabelSelector(given);
          const again = parseLabelSelector(formatLabelSelector(selector));
          expect(again).toEqual(selector);
          expect(matchesLabels(again, labels)).toBe(matchesLabels(selector, labels));
        } catch (error) {
          if (!(error instanceof ApiStatusError)) throw error;
          expect(error.reason).toBe('BadRequest');
        }
      }),
    );
  });
});
