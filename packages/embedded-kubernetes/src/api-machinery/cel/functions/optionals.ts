/** CEL's functions on optional values: `optional.of(x)`, `.or(y)`, `.orValue(y)`. */
import { A, OPTIONAL, type Overload, overload, SAME } from '../overload.ts';
import { BOOL_TYPE, optionalOf } from '../type.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelValue,
  NONE,
  Optional,
  sizeOf,
  Uint,
} from '../value.ts';

export const OPTIONAL_FUNCTIONS: readonly Overload[] = [
  overload('optional.of', [SAME], optionalOf(A), ([value]) => new Optional(value)),
  overload('optional.ofNonZeroValue', [SAME], optionalOf(A), ([value]) =>
    isZero(value) ? NONE : new Optional(value),
  ),
  overload('optional.none', [], optionalOf(A), () => NONE),
  overload('.hasValue', [OPTIONAL], BOOL_TYPE, ([{ value }]) => value !== undefined),
  overload('.value', [OPTIONAL], A, ([{ value }]) =>
    value === undefined ? new CelError('optional.none() dereference') : value,
  ),
  overload('.or', [OPTIONAL, OPTIONAL], optionalOf(A), ([a, b]) => (a.value === undefined ? b : a)),
  overload('.orValue', [OPTIONAL, SAME], A, ([{ value }, other]) =>
    value === undefined ? other : value,
  ),
];

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true;
  if (value instanceof Uint) return value.value === 0n;
  const hasSize =
    value instanceof CelList || value instanceof CelMap || value instanceof Uint8Array;
  return hasSize && sizeOf(value) === 0;
}
