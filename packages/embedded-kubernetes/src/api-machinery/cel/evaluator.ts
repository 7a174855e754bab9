/**
 * Turns a checked expression into a function. Errors travel as values, because `&&`, `||`, `all`
 * and `exists` may absorb them. Only the error of a spent budget is never absorbed.
 */
import { COST_EXCEEDED } from './budget.ts';
import { type Checked, operandsOf, type SelectNode } from './checked.ts';
import { equal } from './equality.ts';
import { paid, type Run } from './frame.ts';
import { memberOf, unsupportedIndex } from './functions/operators.ts';
import { CHARACTER_COST } from './limits.ts';
import { runLoop } from './loop.ts';
import type { Overload } from './overload.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelResult,
  type CelValue,
  keyText,
  NO_SUCH_OVERLOAD,
  NONE,
  Optional,
  sizeOf,
} from './value.ts';

/** Names and literals cost nothing themselves; the function that takes them pays. */
export function runnable(node: Checked): Run {
  const run = runNode(node);
  if (isLeaf(node)) return run;
  const cost = 1 + operandsOf(node).filter(isLeaf).length;
  return (frame) => (frame.budget.spend(cost) ? run(frame) : COST_EXCEEDED);
}

function isLeaf({ kind }: Checked): boolean {
  return kind === 'Literal' || kind === 'Variable';
}

function runNode(node: Checked): Run {
  switch (node.kind) {
    case 'Literal':
      return () => node.value;
    case 'Variable':
      return ({ slots }) => slots[node.slot] ?? null;
    case 'Select':
      return runSelect(node);
    case 'Index':
      return runIndex(runnable(node.operand), runnable(node.index), node.isOptional);
    case 'Call':
      return runCall(node.overloads, node.args.map(runnable));
    case 'Equal':
      return runEqual(runnable(node.left), runnable(node.right), node.isNegated);
    case 'And':
      return runLogical(node.operands.map(runnable), false);
    case 'Or':
      return runLogical(node.operands.map(runnable), true);
    case 'Conditional':
      return runConditional(runnable(node.test), runnable(node.chosen), runnable(node.other));
    case 'List':
      return runList(node);
    case 'Map':
      return runMap(node);
    case 'OptionalMap':
      return runOptionalMap(node);
    case 'Loop': {
      const filter = node.filter === undefined ? undefined : runnable(node.filter);
      return runLoop({ ...node, range: runnable(node.range), filter, body: runnable(node.body) });
    }
  }
}

function runSelect({ operand: of, field, mode }: SelectNode): Run {
  const operand = runnable(of);
  const missing = new CelError(`no such key: ${field}`);
  return (frame) => {
    const whole = operand(frame);
    if (whole instanceof CelError) return whole;
    const isChained = whole instanceof Optional;
    const value = isChained ? whole.value : whole;
    if (value === undefined) return mode === 'Test' ? false : NONE;
    if (value instanceof CelList) return unsupportedIndex(field);
    const member = value instanceof CelMap ? paid(value.select(field), frame) : undefined;
    if (mode === 'Test') return member !== undefined;
    if (mode === 'Optional' || isChained) return optionally(member);
    return member === undefined ? missing : member;
  };
}

function optionally(member: CelResult | undefined): CelResult {
  if (member === undefined) return NONE;
  return member instanceof CelError ? member : new Optional(member);
}

function runIndex(operand: Run, index: Run, isOptional: boolean): Run {
  return (frame) => {
    const whole = operand(frame);
    if (whole instanceof CelError) return whole;
    const key = index(frame);
    if (key instanceof CelError) return key;
    const isChained = whole instanceof Optional;
    const value = isChained ? whole.value : whole;
    if (value === undefined) return NONE;
    const member = paid(memberOf(value, key), frame);
    if (isOptional || isChained) return optionally(member);
    if (member !== undefined) return member;
    return value instanceof CelList
      ? new CelError(`index out of bounds: ${keyShown(key)}`)
      : new CelError(`no such key: ${keyShown(key)}`);
  };
}

function keyShown(key: CelValue): string {
  return keyText(key)?.slice(1) ?? '';
}

function runCall(overloads: readonly Overload[], args: readonly Run[]): Run {
  return (frame) => {
    const values: CelValue[] = [];
    const sizes: number[] = [];
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof CelError) return value;
      const size = sizeOf(value);
      // Counting the members of a map looks at each one.
      if (value instanceof CelMap && !frame.budget.spend(size * CHARACTER_COST)) {
        return COST_EXCEEDED;
      }
      values.push(value);
      sizes.push(size);
    }
    for (const { call } of overloads) {
      const result = call(values, sizes, frame.budget);
      if (result !== undefined) return result;
    }
    return NO_SUCH_OVERLOAD;
  };
}

function runEqual(left: Run, right: Run, isNegated: boolean): Run {
  return (frame) => {
    const a = left(frame);
    if (a instanceof CelError) return a;
    const b = right(frame);
    if (b instanceof CelError) return b;
    const same = equal(a, b, frame.budget);
    return same instanceof CelError ? same : same !== isNegated;
  };
}

/** An operand with the value `decisive` decides, even if other operands fail. */
function runLogical(operands: readonly Run[], decisive: boolean): Run {
  return (frame) => {
    let failure: CelError | undefined;
    for (const operand of operands) {
      const value = operand(frame);
      if (value === decisive) return decisive;
      if (frame.budget.isExceeded) return COST_EXCEEDED;
      if (value instanceof CelError) failure ??= value;
      else if (typeof value !== 'boolean') failure ??= NO_SUCH_OVERLOAD;
    }
    return failure ?? !decisive;
  };
}

function runConditional(test: Run, chosen: Run, other: Run): Run {
  return (frame) => {
    const value = test(frame);
    if (value === true) return chosen(frame);
    if (value === false) return other(frame);
    return value instanceof CelError ? value : NO_SUCH_OVERLOAD;
  };
}

function runList({ items: nodes }: Extract<Checked, { kind: 'List' }>): Run {
  const items = nodes.map(({ value, isOptional }) => ({ run: runnable(value), isOptional }));
  return (frame) => {
    const values: CelValue[] = [];
    for (const { run, isOptional } of items) {
      const value = run(frame);
      if (value instanceof CelError) return value;
      if (!isOptional) values.push(value);
      else if (!(value instanceof Optional)) return NO_SUCH_OVERLOAD;
      else if (value.value !== undefined) values.push(value.value);
    }
    return CelList.of(values);
  };
}

function runMap({ entries: nodes }: Extract<Checked, { kind: 'Map' }>): Run {
  const entries = nodes.map(({ key, value, isOptional }) => ({
    key: runnable(key),
    value: runnable(value),
    isOptional,
  }));
  return (frame) => {
    const map = new Map<string, readonly [CelValue, CelValue]>();
    for (const { key: runKey, value: runValue, isOptional } of entries) {
      const key = runKey(frame);
      if (key instanceof CelError) return key;
      const value = runValue(frame);
      if (value instanceof CelError) return value;
      const text = keyText(key);
      if (text === undefined) return new CelError('unsupported key type');
      if (!isOptional) map.set(text, [key, value]);
      else if (!(value instanceof Optional)) return NO_SUCH_OVERLOAD;
      else if (value.value !== undefined) map.set(text, [key, value.value]);
    }
    return CelMap.of(map);
  };
}

function runOptionalMap(node: Extract<Checked, { kind: 'OptionalMap' }>): Run {
  const operand = runnable(node.operand);
  const body = runnable(node.body);
  return (frame) => {
    const optional = operand(frame);
    if (optional instanceof CelError) return optional;
    if (!(optional instanceof Optional)) return NO_SUCH_OVERLOAD;
    if (optional.value === undefined) return NONE;
    frame.slots[node.slot] = optional.value;
    const value = body(frame);
    if (value instanceof CelError) return value;
    if (!node.isFlat) return new Optional(value);
    return value instanceof Optional ? value : NO_SUCH_OVERLOAD;
  };
}
