/** Quantities of resources in expressions: `quantity('1Gi').isLessThan(quantity('2G'))`. */
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  QUANTITY_ERROR,
  quantityOf,
  subtractQuantities,
} from '@lockstep/kube/quantity.ts';
import { CHARACTER_COST } from '../limits.ts';
import { INT, type Overload, overload, QUANTITY, STRING } from '../overload.ts';
import { BOOL_TYPE, DOUBLE_TYPE, INT_TYPE } from '../type.ts';
import { CelError, QuantityValue } from '../value.ts';
import { int } from './operators.ts';

const PASS = {
  cost: ([size = 0]: readonly number[]) => 1 + size * CHARACTER_COST,
  resultSize: () => 1,
};

/** Quantities are counted in units of 10^-9. */
const UNIT = 1_000_000_000n;

export const QUANTITY_FUNCTIONS: readonly Overload[] = [
  overload('isQuantity', [STRING], BOOL_TYPE, ([text]) => parsed(text) !== undefined, PASS),
  overload(
    'quantity',
    [STRING],
    QUANTITY.type,
    ([text]) => {
      const quantity = parsed(text);
      return quantity === undefined ? new CelError(QUANTITY_ERROR) : new QuantityValue(quantity);
    },
    PASS,
  ),
  overload('sign', [QUANTITY], INT_TYPE, ([{ quantity }]) =>
    BigInt(compareQuantities(quantity, quantityOf(0, quantity.format))),
  ),
  overload('.isInteger', [QUANTITY], BOOL_TYPE, ([{ quantity }]) => quantity.nano % UNIT === 0n),
  overload('.asInteger', [QUANTITY], INT_TYPE, ([{ quantity }]) =>
    quantity.nano % UNIT === 0n
      ? int(quantity.nano / UNIT)
      : new CelError('cannot convert value to integer'),
  ),
  overload(
    '.asApproximateFloat',
    [QUANTITY],
    DOUBLE_TYPE,
    ([{ quantity }]) => Number(quantity.nano) / Number(UNIT),
  ),
  overload(
    '.isGreaterThan',
    [QUANTITY, QUANTITY],
    BOOL_TYPE,
    ([a, b]) => compareQuantities(a.quantity, b.quantity) > 0,
  ),
  overload(
    '.isLessThan',
    [QUANTITY, QUANTITY],
    BOOL_TYPE,
    ([a, b]) => compareQuantities(a.quantity, b.quantity) < 0,
  ),
  overload('.compareTo', [QUANTITY, QUANTITY], INT_TYPE, ([a, b]) =>
    BigInt(compareQuantities(a.quantity, b.quantity)),
  ),
  overload(
    '.add',
    [QUANTITY, QUANTITY],
    QUANTITY.type,
    ([a, b]) => new QuantityValue(addQuantities(a.quantity, b.quantity)),
  ),
  overload(
    '.add',
    [QUANTITY, INT],
    QUANTITY.type,
    ([a, b]) => new QuantityValue(addQuantities(a.quantity, quantityOf(b, a.quantity.format))),
  ),
  overload(
    '.sub',
    [QUANTITY, QUANTITY],
    QUANTITY.type,
    ([a, b]) => new QuantityValue(subtractQuantities(a.quantity, b.quantity)),
  ),
  overload(
    '.sub',
    [QUANTITY, INT],
    QUANTITY.type,
    ([a, b]) => new QuantityValue(subtractQuantities(a.quantity, quantityOf(b, a.quantity.format))),
  ),
];

/** A real quantity has fewer digits, and a longer one is slow to read. */
const MAX_QUANTITY_CHARACTERS = 128;

function parsed(text: string) {
  return text.length > MAX_QUANTITY_CHARACTERS ? undefined : parseQuantity(text);
}
