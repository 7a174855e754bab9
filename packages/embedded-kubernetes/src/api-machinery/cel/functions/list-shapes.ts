/** Lists made of lists (`cel-go/ext/lists`): `sort`, `slice`, `flatten`, `distinct`, `lists.range`. */
import { type Budget, COST_EXCEEDED } from '../budget.ts';
import { compare, includes, paidOrder } from '../equality.ts';
import { CHARACTER_COST } from '../limits.ts';
import { A, INT, LIST, listParameter, type Overload, overload } from '../overload.ts';
import { INT_TYPE, listOf, optionalOf } from '../type.ts';
import {
  CelError,
  CelList,
  type CelResult,
  type CelValue,
  NO_SUCH_OVERLOAD,
  NONE,
  Optional,
} from '../value.ts';

const SAME_LIST = listOf(A);
const NESTED = listParameter(SAME_LIST);

/** The cost of one look at every item. */
const PASS = { cost: ([size = 0]: readonly number[]) => 1 + size };
const SORT = {
  cost: ([size = 0]: readonly number[], [item = 0]: readonly number[]) =>
    1 + size * Math.log2(size + 2) * (1 + item * CHARACTER_COST),
};
const PAIRS = { cost: ([size = 0]: readonly number[]) => 1 + size * size };
/** The size of a range is not known from its argument, so a range pays as it grows. */
const MAX_RANGE = 1_000_000n;

export const LIST_SHAPE_FUNCTIONS: readonly Overload[] = [
  overload('.sort', [LIST], SAME_LIST, ([list], budget) => sorted(list, budget), SORT),
  overload('.reverse', [LIST], SAME_LIST, ([list]) => reversed(list), PASS),
  overload('.distinct', [LIST], SAME_LIST, ([list], budget) => distinct(list, budget), PAIRS),
  overload(
    '.slice',
    [LIST, INT, INT],
    SAME_LIST,
    ([list, from, to]) => slice(list, from, to),
    PASS,
  ),
  overload('.flatten', [NESTED], SAME_LIST, ([list], budget) => flattened(list, 1n, budget)),
  overload('.flatten', [LIST, INT], listOf({ kind: 'dyn' }), ([list, depth], budget) =>
    flattened(list, depth, budget),
  ),
  overload('.first', [LIST], optionalOf(A), ([list]) => end(list, 0)),
  overload('.last', [LIST], optionalOf(A), ([list]) => end(list, list.size - 1)),
  overload('lists.range', [INT], listOf(INT_TYPE), ([size], budget) => range(size, budget), {
    resultSize: () => Number(MAX_RANGE),
  }),
];

/** The items, or the first error among them. */
function itemsOf(list: CelList): readonly CelValue[] | CelError {
  const items: CelValue[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    items.push(item);
  }
  return items;
}

function sorted(list: CelList, budget: Budget): CelResult {
  const items = itemsOf(list);
  if (items instanceof CelError) return items;
  const [first] = items;
  const isOrdered = items.every((item) => compare(item, first ?? null) !== undefined);
  if (!isOrdered) return NO_SUCH_OVERLOAD;
  // If the budget is spent, the comparison is skipped; the result is not used then.
  const order = (a: CelValue, b: CelValue): number => {
    const found = paidOrder(a, b, budget);
    return typeof found === 'number' ? found : 0;
  };
  const result = CelList.of([...items].sort(order));
  return budget.isExceeded ? COST_EXCEEDED : result;
}

function reversed(list: CelList): CelResult {
  const items = itemsOf(list);
  return items instanceof CelError ? items : CelList.of([...items].reverse());
}

function distinct(list: CelList, budget: Budget): CelResult {
  const items = itemsOf(list);
  if (items instanceof CelError) return items;
  const kept: CelValue[] = [];
  for (const item of items) {
    const isKnown = includes(CelList.of(kept), item, budget);
    if (isKnown instanceof CelError) return isKnown;
    if (isKnown !== true) kept.push(item);
  }
  return CelList.of(kept);
}

function slice(list: CelList, from: bigint, to: bigint): CelResult {
  const call = `cannot slice(${from}, ${to})`;
  if (from < 0n || to < 0n) return new CelError(`${call}, negative indexes not supported`);
  if (from > to) {
    return new CelError(`${call}, start index must be less than or equal to end index`);
  }
  if (to > BigInt(list.size)) return new CelError(`${call}, list is length ${list.size}`);
  const items: CelResult[] = [];
  for (let index = Number(from); index < Number(to); index++) items.push(list.at(index));
  return CelList.of(items);
}

function flattened(list: CelList, depth: bigint, budget: Budget): CelResult {
  if (depth < 0n) return new CelError('level must be non-negative');
  const items: CelValue[] = [];
  for (let index = 0; index < list.size; index++) {
    if (!budget.spend(1)) return COST_EXCEEDED;
    const item = list.at(index);
    if (item instanceof CelError) return item;
    const inner =
      item instanceof CelList && depth > 0n ? flattened(item, depth - 1n, budget) : item;
    if (inner instanceof CelError) return inner;
    const parts = inner instanceof CelList && depth > 0n ? itemsOf(inner) : [inner];
    if (parts instanceof CelError) return parts;
    if (!budget.spend(parts.length)) return COST_EXCEEDED;
    for (const part of parts) items.push(part);
  }
  return CelList.of(items);
}

function end(list: CelList, index: number): CelResult {
  const item = index < 0 || index >= list.size ? undefined : list.at(index);
  if (item === undefined) return NONE;
  return item instanceof CelError ? item : new Optional(item);
}

function range(size: bigint, budget: Budget): CelResult {
  if (size <= 0n) return CelList.of([]);
  if (size > MAX_RANGE || !budget.spend(Number(size))) return COST_EXCEEDED;
  return CelList.of(Array.from({ length: Number(size) }, (_, index) => BigInt(index)));
}
