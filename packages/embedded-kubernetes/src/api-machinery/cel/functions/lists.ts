/** Functions of lists (`isSorted`, `sum`, `min`, `max`, `indexOf`), and sets. */
import { type Budget, COST_EXCEEDED } from '../budget.ts';
import { equal, includes, paidOrder } from '../equality.ts';
import { CHARACTER_COST } from '../limits.ts';
import {
  A,
  DOUBLE,
  DURATION,
  INT,
  LIST,
  listParameter,
  type Overload,
  overload,
  type Parameter,
  SAME,
  UINT,
} from '../overload.ts';
import { BOOL_TYPE, INT_TYPE } from '../type.ts';
import {
  CelError,
  type CelList,
  type CelResult,
  type CelValue,
  Duration,
  NO_SUCH_OVERLOAD,
  Uint,
} from '../value.ts';
import { OPERATORS } from './operators.ts';

/** The cost of one look at every item. */
const PASS = {
  cost: ([size = 0]: readonly number[], [item = 0]: readonly number[]) =>
    1 + size * (1 + item * CHARACTER_COST),
  resultSize: () => 1,
};
/** Every item of one list may be compared with every item of the other. */
const PRODUCT = {
  cost: ([a = 0, b = 0]: readonly number[]) => 1 + a * b,
  resultSize: () => 1,
};

const ORDER: readonly Overload[] = [
  overload('.isSorted', [LIST], BOOL_TYPE, ([list], budget) => isSorted(list, budget), PASS),
  overload('.min', [LIST], A, ([list], budget) => extreme(list, -1, budget), PASS),
  overload('.max', [LIST], A, ([list], budget) => extreme(list, 1, budget), PASS),
];

const POSITIONS: readonly Overload[] = [
  overload(
    '.indexOf',
    [LIST, SAME],
    INT_TYPE,
    ([list, value], budget) => position(list, value, budget, indexesUp(list.size)),
    PASS,
  ),
  overload(
    '.lastIndexOf',
    [LIST, SAME],
    INT_TYPE,
    ([list, value], budget) => position(list, value, budget, indexesUp(list.size).reverse()),
    PASS,
  ),
];

const SUMS: readonly Overload[] = [
  [INT, 0n] as const,
  [UINT, new Uint(0n)] as const,
  [DOUBLE, 0] as const,
  [DURATION, new Duration(0n)] as const,
].map(([of, zero]: readonly [Parameter<CelValue>, CelValue]) =>
  overload(
    '.sum',
    [listParameter(of.type)],
    of.type,
    ([list], budget) => sum(list, zero, budget),
    PASS,
  ),
);

const SETS: readonly Overload[] = [
  overload(
    'sets.contains',
    [LIST, LIST],
    BOOL_TYPE,
    ([list, part], budget) => containsAll(list, part, budget),
    PRODUCT,
  ),
  overload(
    'sets.equivalent',
    [LIST, LIST],
    BOOL_TYPE,
    ([a, b], budget) => {
      const there = containsAll(a, b, budget);
      return there === true ? containsAll(b, a, budget) : there;
    },
    PRODUCT,
  ),
  overload(
    'sets.intersects',
    [LIST, LIST],
    BOOL_TYPE,
    ([a, b], budget) => intersects(a, b, budget),
    PRODUCT,
  ),
];

export const LIST_FUNCTIONS: readonly Overload[] = [...ORDER, ...POSITIONS, ...SUMS, ...SETS];

function indexesUp(size: number): number[] {
  return Array.from({ length: size }, (_, index) => index);
}

function isSorted(list: CelList, budget: Budget): CelResult {
  for (let index = 1; index < list.size; index++) {
    const before = list.at(index - 1);
    const item = list.at(index);
    if (before instanceof CelError) return before;
    if (item instanceof CelError) return item;
    const order = paidOrder(before, item, budget);
    if (order instanceof CelError) return order;
    if (order === undefined) return NO_SUCH_OVERLOAD;
    if (order > 0) return false;
  }
  return true;
}

function extreme(list: CelList, wanted: -1 | 1, budget: Budget): CelResult {
  let best =
    list.size === 0
      ? new CelError(`${wanted < 0 ? 'min' : 'max'} called on empty list`)
      : list.at(0);
  for (let index = 1; index < list.size && !(best instanceof CelError); index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    const order = paidOrder(item, best, budget);
    if (order instanceof CelError) return order;
    if (order === undefined) return NO_SUCH_OVERLOAD;
    if (Math.sign(order) === wanted) best = item;
  }
  return best;
}

/** Numbers and durations have no sizes. */
const ONE_EACH: readonly number[] = [1, 1];

const ADDITIONS = OPERATORS.filter(({ name }) => name === '_+_');

function sum(list: CelList, zero: CelValue, budget: Budget): CelResult {
  let total: CelResult = zero;
  for (let index = 0; index < list.size && !(total instanceof CelError); index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    const operands: readonly CelValue[] = [total, item];
    let next: CelResult | undefined;
    for (const addition of ADDITIONS) next ??= addition.call(operands, ONE_EACH, budget);
    total = next ?? NO_SUCH_OVERLOAD;
  }
  return total;
}

function position(
  list: CelList,
  value: CelValue,
  budget: Budget,
  indexes: readonly number[],
): CelResult {
  for (const index of indexes) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    const same = equal(item, value, budget);
    if (same instanceof CelError) return same;
    if (same) return BigInt(index);
  }
  return -1n;
}

function containsAll(list: CelList, part: CelList, budget: Budget): CelResult {
  for (let index = 0; index < part.size; index++) {
    const found = isAt(part, index, list, budget);
    if (found !== true) return found;
  }
  return true;
}

function intersects(a: CelList, b: CelList, budget: Budget): CelResult {
  for (let index = 0; index < a.size; index++) {
    const found = isAt(a, index, b, budget);
    if (found !== false) return found;
  }
  return false;
}

/** Whether the item of `from` at `index` is in `list` too. */
function isAt(from: CelList, index: number, list: CelList, budget: Budget): CelResult {
  const item = from.at(index);
  if (item instanceof CelError) return item;
  return budget.spend(1) ? includes(list, item, budget) : COST_EXCEEDED;
}
