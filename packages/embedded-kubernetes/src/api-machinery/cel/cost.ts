/**
 * Estimates the most that an expression can cost, from the sizes that the schemas of its variables
 * allow. It follows the model of cel-go and Kubernetes. A step costs 1 and a character a tenth. A
 * loop costs its body times the largest length of its range. A value without a limit is as large as
 * a request can make it.
 *
 * It approximates in three ways. It keeps only upper bounds. A list or map that a function makes
 * counts as large as its largest argument. The few steps that cel-go spends on the result of a loop
 * are `LOOP_STEPS`. So it differs from a real API server by a small factor, but never by orders of
 * magnitude: both refuse nested loops over unlimited lists.
 */
import type { Checked, LoopKind } from './checked.ts';
import { CHARACTER_COST, MAX_REQUEST_BYTES } from './limits.ts';
import type { CelType } from './type.ts';

export interface CostEstimate {
  readonly cost: number;
  /** The size of the value in characters, bytes, items or members; 1 for anything else. */
  readonly size: number;
}

export function estimateCost(node: Checked): CostEstimate {
  switch (node.kind) {
    case 'Literal':
      return { cost: 0, size: sizeOfType(node.type) };
    case 'Variable':
      return { cost: 1, size: sizeOfType(node.type) };
    case 'Select':
      return { cost: 1 + costOf(node.operand), size: sizeOfType(node.type) };
    case 'Index':
      return { cost: 1 + costOf(node.operand, node.index), size: sizeOfType(node.type) };
    case 'Call':
      return estimateCall(node);
    case 'Equal': {
      const left = estimateCost(node.left);
      const right = estimateCost(node.right);
      const looked = Math.min(left.size, right.size) * CHARACTER_COST;
      return { cost: 1 + looked + left.cost + right.cost, size: 1 };
    }
    case 'And':
    case 'Or':
      return { cost: costOf(...node.operands), size: 1 };
    case 'Conditional':
      return estimateConditional(node);
    case 'List': {
      const parts = node.items.map(({ value }) => value);
      return { cost: LIST_COST + costOf(...parts), size: parts.length };
    }
    case 'Map': {
      const parts = node.entries.flatMap(({ key, value }) => [key, value]);
      return { cost: MAP_COST + costOf(...parts), size: node.entries.length };
    }
    case 'OptionalMap': {
      const bound = estimateCost(node.operand);
      const body = estimateCost(node.body);
      return { cost: 1 + bound.cost + body.cost, size: body.size };
    }
    case 'Loop':
      return estimateLoop(node);
  }
}

/** The value in cel-go. */
const LIST_COST = 10;
const MAP_COST = 30;
/** Each pass also tests whether to continue, and joins its result to the earlier ones. */
const LOOP_STEPS: Readonly<Record<LoopKind, number>> = {
  All: 3,
  Exists: 3,
  ExistsOne: 3,
  List: 3 + LIST_COST,
  Map: 3 + MAP_COST,
};

function costOf(...nodes: readonly Checked[]): number {
  return nodes.reduce((sum, node) => sum + estimateCost(node).cost, 0);
}

function estimateCall({ overloads, args }: Extract<Checked, { kind: 'Call' }>): CostEstimate {
  const parts = args.map(estimateCost);
  const sizes = parts.map(({ size }) => size);
  const before = parts.reduce((sum, { cost }) => sum + cost, 0);
  const items = args.map(({ type }) => (type.kind === 'list' ? sizeOfType(type.element) : 0));
  const costs = overloads.map(({ effort }) => effort.cost(sizes, items));
  const results = overloads.map(({ effort }) => effort.resultSize(sizes));
  return { cost: before + Math.max(...costs), size: Math.max(...results) };
}

function estimateConditional(node: Extract<Checked, { kind: 'Conditional' }>): CostEstimate {
  const chosen = estimateCost(node.chosen);
  const other = estimateCost(node.other);
  return {
    cost: costOf(node.test) + Math.max(chosen.cost, other.cost),
    size: Math.max(chosen.size, other.size),
  };
}

function estimateLoop(node: Extract<Checked, { kind: 'Loop' }>): CostEstimate {
  const range = estimateCost(node.range);
  const pass =
    LOOP_STEPS[node.loop] + costOf(node.body, ...(node.filter === undefined ? [] : [node.filter]));
  const isTest = node.type.kind === 'bool';
  return { cost: range.cost + 1 + range.size * pass, size: isTest ? 1 : range.size };
}

/** The largest value of a type. */
function sizeOfType(type: CelType): number {
  if (type.kind === 'optional') return sizeOfType(type.of);
  if (type.kind === 'dyn') return MAX_REQUEST_BYTES;
  const isSized =
    type.kind === 'string' || type.kind === 'bytes' || type.kind === 'list' || type.kind === 'map';
  return isSized ? (type.maxSize ?? MAX_REQUEST_BYTES) : 1;
}
