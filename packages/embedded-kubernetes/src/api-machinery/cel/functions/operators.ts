/** Arithmetic, comparison, and selection from lists and maps. Ints have 64 bits and never wrap. */
import { durationOf } from '../duration.ts';
import { compare, includes } from '../equality.ts';
import { CHARACTER_COST } from '../limits.ts';
import {
  A,
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  LIST,
  MAP,
  type Overload,
  overload,
  type Parameter,
  SAME,
  STRING,
  TIMESTAMP,
  UINT,
} from '../overload.ts';
import { timestampOf } from '../timestamp.ts';
import { BOOL_TYPE, type CelType, DYN_TYPE, listOf } from '../type.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelResult,
  type CelValue,
  typeNameOf,
  Uint,
} from '../value.ts';

type Arithmetic = (a: bigint, b: bigint) => bigint | CelError;

const DIVISION: Arithmetic = (a, b) => (b === 0n ? new CelError('division by zero') : a / b);
const REMAINDER: Arithmetic = (a, b) => (b === 0n ? new CelError('modulus by zero') : a % b);

/** Each operator on whole numbers and, if it exists there, on doubles. */
const ARITHMETIC: readonly (readonly [string, Arithmetic, ((a: number, b: number) => number)?])[] =
  [
    ['_+_', (a, b) => a + b, (a, b) => a + b],
    ['_-_', (a, b) => a - b, (a, b) => a - b],
    ['_*_', (a, b) => a * b, (a, b) => a * b],
    ['_/_', DIVISION, (a, b) => a / b],
    ['_%_', REMAINDER],
  ];

function arithmetic(): readonly Overload[] {
  return ARITHMETIC.flatMap(([name, whole, double]) => [
    overload(name, [INT, INT], INT.type, ([a, b]) => int(whole(a, b))),
    overload(name, [UINT, UINT], UINT.type, ([a, b]) => uint(whole(a.value, b.value))),
    ...(double === undefined
      ? []
      : [overload(name, [DOUBLE, DOUBLE], DOUBLE.type, ([a, b]) => double(a, b))]),
  ]);
}

/** An int, or an error if it has more than 64 bits. */
export function int(value: bigint | CelError): CelResult {
  if (value instanceof CelError) return value;
  const isInRange = value >= -(2n ** 63n) && value < 2n ** 63n;
  return isInRange ? value : new CelError('integer overflow');
}

export function uint(value: bigint | CelError): CelResult {
  if (value instanceof CelError) return value;
  const isInRange = value >= 0n && value < 2n ** 64n;
  return isInRange ? new Uint(value) : new CelError('unsigned integer overflow');
}

const NUMBERS: readonly Parameter<CelValue>[] = [INT, UINT, DOUBLE];
const ORDERED: readonly Parameter<CelValue>[] = [BOOL, STRING, BYTES, TIMESTAMP, DURATION];

/** Numbers are ordered across their types, everything else within its own. */
const ORDERED_PAIRS: readonly (readonly [Parameter<CelValue>, Parameter<CelValue>])[] = [
  ...NUMBERS.flatMap((a) => NUMBERS.map((b) => [a, b] as const)),
  ...ORDERED.map((one) => [one, one] as const),
];

const COMPARISONS: readonly (readonly [string, (order: number) => boolean])[] = [
  ['_<_', (order) => order < 0],
  ['_<=_', (order) => order <= 0],
  ['_>_', (order) => order > 0],
  ['_>=_', (order) => order >= 0],
];

function comparisons(): readonly Overload[] {
  return COMPARISONS.flatMap(([name, holds]) =>
    ORDERED_PAIRS.map(([left, right]) =>
      overload(
        name,
        [left, right],
        BOOL_TYPE,
        ([a, b]) => {
          const order = compare(a, b);
          return order === undefined ? new CelError('NaN values cannot be ordered') : holds(order);
        },
        { cost: ([a = 1, b = 1]) => 1 + Math.min(a, b) * CHARACTER_COST },
      ),
    ),
  );
}

/** Joining copies both. */
const JOIN = {
  cost: ([a = 0, b = 0]: readonly number[]) => 1 + (a + b) * CHARACTER_COST,
  resultSize: ([a = 0, b = 0]: readonly number[]) => a + b,
};

/** Copies both lists: reading through a chain of lists would cost more than was paid for it. */
function appendLists(a: CelList, b: CelList): CelList {
  const items: CelResult[] = [];
  for (let index = 0; index < a.size; index++) items.push(a.at(index));
  for (let index = 0; index < b.size; index++) items.push(b.at(index));
  return CelList.of(items);
}

const LISTS: CelType = listOf(A);

const ADDITIONS: readonly Overload[] = [
  overload('_+_', [LIST, LIST], LISTS, ([a, b]) => appendLists(a, b), {
    ...JOIN,
    cost: ([a = 0, b = 0]) => 1 + a + b,
  }),
  overload('_+_', [STRING, STRING], STRING.type, ([a, b]) => a + b, JOIN),
  overload('_+_', [BYTES, BYTES], BYTES.type, ([a, b]) => Buffer.concat([a, b]), JOIN),
  overload('_+_', [TIMESTAMP, DURATION], TIMESTAMP.type, ([a, b]) =>
    timestampOf(a.nanoseconds + b.nanoseconds),
  ),
  overload('_+_', [DURATION, TIMESTAMP], TIMESTAMP.type, ([a, b]) =>
    timestampOf(a.nanoseconds + b.nanoseconds),
  ),
  overload('_+_', [DURATION, DURATION], DURATION.type, ([a, b]) =>
    durationOf(a.nanoseconds + b.nanoseconds),
  ),
  overload('_-_', [TIMESTAMP, TIMESTAMP], DURATION.type, ([a, b]) =>
    durationOf(a.nanoseconds - b.nanoseconds),
  ),
  overload('_-_', [TIMESTAMP, DURATION], TIMESTAMP.type, ([a, b]) =>
    timestampOf(a.nanoseconds - b.nanoseconds),
  ),
  overload('_-_', [DURATION, DURATION], DURATION.type, ([a, b]) =>
    durationOf(a.nanoseconds - b.nanoseconds),
  ),
];

const SIGNS: readonly Overload[] = [
  overload('!_', [BOOL], BOOL.type, ([a]) => !a),
  overload('-_', [INT], INT.type, ([a]) => int(-a)),
  overload('-_', [DOUBLE], DOUBLE.type, ([a]) => -a),
  overload('-_', [DURATION], DURATION.type, ([a]) => durationOf(-a.nanoseconds)),
];

/** The member of a list or a map; undefined if there is none. */
export function memberOf(container: CelValue, key: CelValue): CelResult | undefined {
  if (container instanceof CelMap) return container.get(key);
  if (!(container instanceof CelList)) return undefined;
  const index = key instanceof Uint ? key.value : key;
  const at = typeof index === 'bigint' ? Number(index) : index;
  if (typeof at !== 'number') return unsupportedIndex(key);
  if (!Number.isInteger(at)) return new CelError(`unsupported index value ${at} in list`);
  return at >= 0 && at < container.size ? container.at(at) : undefined;
}

export function unsupportedIndex(key: CelValue): CelError {
  return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
}

const MEMBERSHIP: readonly Overload[] = [
  overload(
    '@in',
    [SAME, LIST],
    BOOL_TYPE,
    ([value, list], budget) => includes(list, value, budget),
    {
      cost: ([, size = 0]) => 1 + size,
    },
  ),
  overload('@in', [SAME, MAP], BOOL_TYPE, ([key, map]) => map.get(key) !== undefined),
];

/** Operators that are functions of their operands, so not `&&`, `?:`, `==` and selection. */
export const OPERATORS: readonly Overload[] = [
  ...arithmetic(),
  ...ADDITIONS,
  ...SIGNS,
  ...comparisons(),
  ...MEMBERSHIP,
  overload('dyn', [ANY], DYN_TYPE, ([value]) => value),
];
