/** A checked expression: every node has its type, names are slots, macros are loops. */
import type { Overload } from './overload.ts';
import type { CelType } from './type.ts';
import type { CelValue } from './value.ts';

export type Checked = { readonly type: CelType } & (
  | { readonly kind: 'Literal'; readonly value: CelValue }
  | { readonly kind: 'Variable'; readonly slot: number }
  | SelectNode
  | {
      readonly kind: 'Index';
      readonly operand: Checked;
      readonly index: Checked;
      readonly isOptional: boolean;
    }
  | {
      readonly kind: 'Call';
      /** The overloads that may fit the values. */
      readonly overloads: readonly Overload[];
      readonly args: readonly Checked[];
    }
  | {
      readonly kind: 'Equal';
      readonly left: Checked;
      readonly right: Checked;
      readonly isNegated: boolean;
    }
  | { readonly kind: 'And' | 'Or'; readonly operands: readonly Checked[] }
  | {
      readonly kind: 'Conditional';
      readonly test: Checked;
      readonly chosen: Checked;
      readonly other: Checked;
    }
  | { readonly kind: 'List'; readonly items: readonly Item[] }
  | { readonly kind: 'Map'; readonly entries: readonly Entry[] }
  | {
      /** `optional.optMap(name, body)`; the body of `optFlatMap` is an optional itself. */
      readonly kind: 'OptionalMap';
      readonly slot: number;
      readonly operand: Checked;
      readonly body: Checked;
      readonly isFlat: boolean;
    }
  | LoopNode
);

export interface SelectNode {
  readonly kind: 'Select';
  readonly operand: Checked;
  readonly field: string;
  /** `a.b`, `a.?b`, `has(a.b)` */
  readonly mode: 'Value' | 'Optional' | 'Test';
}

export type LoopKind = 'All' | 'Exists' | 'ExistsOne' | 'List' | 'Map';

export interface LoopNode {
  readonly kind: 'Loop';
  readonly loop: LoopKind;
  readonly range: Checked;
  /** One: items of lists, keys of maps. Two: index or key, and item or value. */
  readonly slots: readonly number[];
  readonly filter: Checked | undefined;
  readonly body: Checked;
}

export interface Item {
  readonly value: Checked;
  readonly isOptional: boolean;
}

export interface Entry extends Item {
  readonly key: Checked;
}

/** The nodes that are evaluated once per evaluation of `node`, so not the body of a loop. */
export function operandsOf(node: Checked): readonly Checked[] {
  switch (node.kind) {
    case 'Literal':
    case 'Variable':
      return [];
    case 'Select':
    case 'OptionalMap':
      return [node.operand];
    case 'Index':
      return [node.operand, node.index];
    case 'Call':
      return node.args;
    case 'Equal':
      return [node.left, node.right];
    case 'And':
    case 'Or':
      return node.operands;
    case 'Conditional':
      return [node.test, node.chosen, node.other];
    case 'List':
      return node.items.map(({ value }) => value);
    case 'Map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'Loop':
      return [node.range];
  }
}
