import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
  subtractQuantities,
} from './quantity.ts';

const SUFFIXES = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3', 'E2'];
const quantities = fc
  .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(999), fc.constantFrom(...SUFFIXES))
  .map(([whole, fraction, suffix]) => `${whole}.${fraction}${suffix}`);

describe('quantities', () => {
  it('of binary format keep their digits where no binary suffix fits', () => {
    const quantity = parseQuantity('466789687.5Ki');
    expect(quantity && formatQuantity(quantity)).toBe('477992640000');
  });

  it('keep their value when written and read', () => {
    fc.assert(
      fc.property(quantities, (text) => {
        const quantity = parseQuantity(text);
        if (quantity === undefined) throw new Error(`${text} was refused`);
        const canonical = formatQuantity(quantity);
        const again = parseQuantity(canonical);
        expect(again?.nano).toBe(quantity.nano);
        // A binary quantity that no binary suffix fits is written without one, and reads as decimal.
        if (again?.format === quantity.format) expect(formatQuantity(again)).toBe(canonical);
      }),
    );
  });

  it('add and subtract exactly', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        const [one, two] = [parseQuantity(a), parseQuantity(b)];
        if (one === undefined || two === undefined) throw new Error('refused');
        expect(compareQuantities(subtractQuantities(addQuantities(one, two), two), one)).toBe(0);
      }),
    );
  });

  it('are fast for any exponent', () => {
    expect(formatQuantity(parseQuantity('1e2000000000') ?? quantityOf(0, 'DecimalSI'))).toBe(
      '9223372036854775807',
    );
    expect(parseQuantity('1e-2000000000')?.nano).toBe(1n);
    expect(parseQuantity('1e99999999999')).toBeUndefined();
  });

  it('refuse or read any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseQuantity(text)));
  });
});
