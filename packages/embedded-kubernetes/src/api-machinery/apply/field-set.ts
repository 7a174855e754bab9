/**
 * Sets of an object's fields, as trees; ownership is recorded in them. A field's membership does not
 * depend on the fields below it. Sets are immutable and contain no empty subsets, so a set without
 * nodes is the empty set.
 */
import { isJsonObject, type JsonObject, setMember } from '@lockstep/kube/json/json-value.ts';
import {
  comparePathElements,
  type PathElement,
  parsePathElement,
  showPathElement,
} from './path-element.ts';

export type FieldSet = ReadonlyMap<PathElement, FieldNode>;

export interface FieldNode {
  readonly isMember: boolean;
  readonly below: FieldSet;
}

export const NO_FIELDS: FieldSet = new Map();

/** Collects the fields of a set. */
export class FieldSetBuilder {
  readonly #nodes = new Map<PathElement, { isMember: boolean; below: FieldSetBuilder }>();

  /** Ignores the empty path: the whole object is in no set. */
  add(path: readonly PathElement[]): void {
    const [first, ...rest] = path;
    if (first === undefined) return;
    const node = this.#node(first);
    if (rest.length === 0) node.isMember = true;
    else node.below.add(rest);
  }

  build(): FieldSet {
    const set = new Map<PathElement, FieldNode>();
    for (const [element, { isMember, below }] of this.#nodes) {
      keep(set, element, isMember, below.build());
    }
    return set;
  }

  #node(element: PathElement): { isMember: boolean; below: FieldSetBuilder } {
    const known = this.#nodes.get(element);
    if (known !== undefined) return known;
    const node = { isMember: false, below: new FieldSetBuilder() };
    this.#nodes.set(element, node);
    return node;
  }
}

export function fieldSet(...paths: readonly (readonly PathElement[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.add(path);
  return builder.build();
}

export function isEmptySet(set: FieldSet): boolean {
  return set.size === 0;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0 || a === b) return b;
  if (b.size === 0) return a;
  const result = new Map(a);
  for (const [element, node] of b) {
    const other = a.get(element);
    const both = other && {
      isMember: other.isMember || node.isMember,
      below: union(other.below, node.below),
    };
    result.set(element, both ?? node);
  }
  return result;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const result = new Map<PathElement, FieldNode>();
  for (const [element, { isMember, below }] of a) {
    const other = b.get(element);
    if (other === undefined) continue;
    keep(result, element, isMember && other.isMember, intersection(below, other.below));
  }
  return result;
}

/** The fields of `a` that are not in `b`. A field below one of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a;
  const result = new Map<PathElement, FieldNode>();
  for (const [element, node] of a) {
    const other = b.get(element);
    if (other === undefined) result.set(element, node);
    else {
      const isMember = node.isMember && !other.isMember;
      keep(result, element, isMember, difference(node.below, other.below));
    }
  }
  return result;
}

/** The fields of `a` that are neither in `b` nor below a field of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a;
  const result = new Map<PathElement, FieldNode>();
  for (const [element, node] of a) {
    const other = b.get(element);
    if (other === undefined) result.set(element, node);
    else if (!other.isMember) {
      keep(result, element, node.isMember, recursiveDifference(node.below, other.below));
    }
  }
  return result;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a.size !== b.size) return false;
  for (const [element, node] of a) {
    const other = b.get(element);
    if (other?.isMember !== node.isMember || !equalSets(node.below, other.below)) return false;
  }
  return true;
}

/** All paths in the form of messages, such as `.spec.containers[name="x"].image`, in order. */
export function shownPaths(set: FieldSet): readonly string[] {
  const paths: string[] = [];
  showBelow(set, '', paths);
  return paths;
}

function showBelow(set: FieldSet, prefix: string, paths: string[]): void {
  const nodes = ordered(set);
  for (const [element, { isMember }] of nodes) {
    if (isMember) paths.push(prefix + showPathElement(element));
  }
  for (const [element, { below }] of nodes) {
    showBelow(below, prefix + showPathElement(element), paths);
  }
}

/** Encodes the set as it stands in `managedFields`. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const [element, { isMember, below }] of ordered(set)) {
    const inside = toFieldsV1(below);
    setMember(fields, element, isMember && below.size > 0 ? { '.': {}, ...inside } : inside);
  }
  return fields;
}

/** The inverse of `toFieldsV1`. Leaves out steps that make no sense. */
export function fromFieldsV1(fields: unknown): FieldSet {
  const set = new Map<PathElement, FieldNode>();
  if (!isJsonObject(fields)) return set;
  for (const [text, inside] of Object.entries(fields)) {
    const element = parsePathElement(text);
    if (element === undefined) continue;
    const below = fromFieldsV1(inside);
    const isMember = below.size === 0 || (isJsonObject(inside) && Object.hasOwn(inside, '.'));
    set.set(element, { isMember, below });
  }
  return set;
}

function ordered(set: FieldSet): readonly (readonly [PathElement, FieldNode])[] {
  return [...set].sort(([a], [b]) => comparePathElements(a, b));
}

function keep(
  set: Map<PathElement, FieldNode>,
  element: PathElement,
  isMember: boolean,
  below: FieldSet,
): void {
  if (isMember || below.size > 0) set.set(element, { isMember, below });
}
