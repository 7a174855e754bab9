/**
 * How functions of expressions are declared: parameters, result, implementation and cost. The
 * checker resolves a call by the types, the evaluator by the values.
 */
import { type Budget, COST_EXCEEDED } from './budget.ts';
import type { CelType } from './type.ts';
import * as types from './type.ts';
import {
  CelList,
  CelMap,
  type CelResult,
  type CelValue,
  CidrValue,
  Duration,
  FormatValue,
  IpValue,
  Optional,
  QuantityValue,
  Timestamp,
  Uint,
  UrlValue,
} from './value.ts';

export interface Overload {
  /** The name in a call: `size`, or `.size` for the method. */
  readonly name: string;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** Undefined if the values do not fit. Otherwise the call is paid for by their `sizes`. */
  readonly call: (
    args: readonly CelValue[],
    sizes: readonly number[],
    budget: Budget,
  ) => CelResult | undefined;
  readonly effort: Effort;
}

/** Functions of the sizes of the arguments: the real ones, or the largest possible ones. */
export interface Effort {
  /**
   * `items` are the largest sizes of the arguments' items, for the estimate. They are 0 in an
   * evaluation, where each function that looks into items pays as it goes.
   */
  readonly cost: (sizes: readonly number[], items: readonly number[]) => number;
  /** How large the result can be. */
  readonly resultSize: (sizes: readonly number[]) => number;
}

export interface Parameter<T> {
  readonly type: CelType;
  readonly is: (value: CelValue) => value is T & CelValue;
}

export function parameter<T extends CelValue>(
  type: CelType,
  is: (value: CelValue) => value is T,
): Parameter<T> {
  return { type, is };
}

type ParametersOf<P extends readonly unknown[]> = { readonly [K in keyof P]: Parameter<P[K]> };

/** Declares a function, or, with a name such as `.size`, a method of its first parameter. */
export function overload<P extends readonly CelValue[]>(
  name: string,
  params: readonly [...ParametersOf<P>],
  result: CelType,
  apply: (args: P, budget: Budget) => CelResult,
  effort: Partial<Effort> = {},
): Overload {
  const complete: Effort = { cost: () => 1, resultSize: largest, ...effort };
  return {
    name,
    params: params.map(({ type }) => type),
    result,
    call: (args, sizes, budget) => {
      if (!areOf<P>(params, args)) return undefined;
      // The node of the call has paid for one step.
      const isPaid = budget.spend(complete.cost(sizes, NO_ITEMS) - 1);
      return isPaid ? apply(args, budget) : COST_EXCEEDED;
    },
    effort: complete,
  };
}

const NO_ITEMS: readonly number[] = [];

function areOf<P extends readonly CelValue[]>(
  params: readonly Parameter<unknown>[],
  args: readonly CelValue[],
): args is P {
  for (let index = 0; index < params.length; index++) {
    if (params[index]?.is(args[index] ?? null) !== true) return false;
  }
  return true;
}

function largest(sizes: readonly number[]): number {
  return Math.max(1, ...sizes);
}

export const ANY: Parameter<CelValue> = parameter(
  types.DYN_TYPE,
  (_value): _value is CelValue => true,
);
export const BOOL: Parameter<boolean> = parameter(
  types.BOOL_TYPE,
  (value) => typeof value === 'boolean',
);
export const INT: Parameter<bigint> = parameter(
  types.INT_TYPE,
  (value) => typeof value === 'bigint',
);
export const UINT: Parameter<Uint> = parameter(types.UINT_TYPE, (value) => value instanceof Uint);
export const DOUBLE: Parameter<number> = parameter(
  types.DOUBLE_TYPE,
  (value) => typeof value === 'number',
);
export const STRING: Parameter<string> = parameter(
  types.STRING_TYPE,
  (value) => typeof value === 'string',
);
export const BYTES: Parameter<Uint8Array> = parameter(
  types.BYTES_TYPE,
  (value) => value instanceof Uint8Array,
);
export const TIMESTAMP: Parameter<Timestamp> = parameter(
  types.TIMESTAMP_TYPE,
  (value) => value instanceof Timestamp,
);
export const DURATION: Parameter<Duration> = parameter(
  types.DURATION_TYPE,
  (value) => value instanceof Duration,
);

export const A: CelType = { kind: 'parameter', name: 'A' };
const B: CelType = { kind: 'parameter', name: 'B' };

/** Any value, of the same type wherever it occurs in a signature. */
export const SAME: Parameter<CelValue> = parameter(A, (_value): _value is CelValue => true);
export const LIST: Parameter<CelList> = listParameter(A);
export const STRINGS: Parameter<CelList> = listParameter(types.STRING_TYPE);
export const MAP: Parameter<CelMap> = parameter(
  types.mapOf(A, B),
  (value) => value instanceof CelMap,
);
export const OPTIONAL: Parameter<Optional> = parameter(
  types.optionalOf(A),
  (value) => value instanceof Optional,
);

export function listParameter(element: CelType): Parameter<CelList> {
  return parameter(types.listOf(element), (value) => value instanceof CelList);
}

export const QUANTITY: Parameter<QuantityValue> = parameter(
  { kind: 'opaque', name: 'kubernetes.Quantity' },
  (value) => value instanceof QuantityValue,
);
export const URL_VALUE: Parameter<UrlValue> = parameter(
  { kind: 'opaque', name: 'kubernetes.URL' },
  (value) => value instanceof UrlValue,
);
export const IP: Parameter<IpValue> = parameter(
  { kind: 'opaque', name: 'net.IP' },
  (value) => value instanceof IpValue,
);
export const CIDR: Parameter<CidrValue> = parameter(
  { kind: 'opaque', name: 'net.CIDR' },
  (value) => value instanceof CidrValue,
);
export const FORMAT: Parameter<FormatValue> = parameter(
  { kind: 'opaque', name: 'kubernetes.NamedFormat' },
  (value) => value instanceof FormatValue,
);
