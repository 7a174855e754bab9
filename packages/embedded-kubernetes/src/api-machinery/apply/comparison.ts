/**
 * Compares two versions of an object: which of the fields that can be owned were added, changed or
 * removed.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { listElement, type MergeType, memberSchema, mergeTypeOf } from './merge-type.ts';
import { fieldElement, type PathElement } from './path-element.ts';

/** No field is in more than one set. If the object itself came or went, all its fields did too. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

/** `old` and `now` are values of the same schema. */
export function compareFields(
  old: unknown,
  now: unknown,
  schema: JsonSchema | undefined,
): Comparison {
  const found: Found = {
    removed: new FieldSetBuilder(),
    modified: new FieldSetBuilder(),
    added: new FieldSetBuilder(),
  };
  compare(old, now, schema, [], found);
  return {
    removed: found.removed.build(),
    modified: found.modified.build(),
    added: found.added.build(),
  };
}

interface Found {
  readonly removed: FieldSetBuilder;
  readonly modified: FieldSetBuilder;
  readonly added: FieldSetBuilder;
}

type Path = readonly PathElement[];

/** Undefined stands for absent; at least one of the two is present. */
function compare(
  old: unknown,
  now: unknown,
  schema: JsonSchema | undefined,
  path: Path,
  found: Found,
): void {
  if (old === now) return;
  const oldType = old === undefined ? undefined : mergeTypeOf(schema, old);
  const type = now === undefined ? oldType : mergeTypeOf(schema, now);
  if (type === undefined) return;
  if (oldType !== undefined && oldType !== type) compareAs(oldType, old, now, schema, path, found);
  compareAs(type, old, now, schema, path, found);
  if (old === undefined) found.added.add(path);
  else if (now === undefined) found.removed.add(path);
}

function compareAs(
  type: MergeType,
  old: unknown,
  now: unknown,
  schema: JsonSchema | undefined,
  path: Path,
  found: Found,
): void {
  if (type === 'Leaf' || (isEmptyAs(type, old) && isEmptyAs(type, now))) {
    compareLeaves(old, now, path, found);
  } else if (type === 'List') {
    compareLists(listOf(old), listOf(now), schema, path, found);
  } else {
    const [before, after] = [objectOf(old), objectOf(now)];
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const below = [...path, fieldElement(name)];
      const [a, b] = [ownMember(before, name), ownMember(after, name)];
      compare(a, b, memberSchema(schema, name), below, found);
    }
  }
}

function compareLeaves(old: unknown, now: unknown, path: Path, found: Found): void {
  if (old === undefined || now === undefined || deepEqual(old, now)) return;
  found.modified.add(path);
}

/** Elements that occur twice are compared as one value. */
function compareLists(
  old: readonly unknown[],
  now: readonly unknown[],
  schema: JsonSchema | undefined,
  path: Path,
  found: Found,
): void {
  const [before, after] = [byElement(old, schema), byElement(now, schema)];
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    const [a = [], b = []] = [before.get(element), after.get(element)];
    const below = [...path, element];
    if (a.length <= 1 && b.length <= 1) compare(a[0], b[0], schema?.items, below, found);
    else if (a.length > 1 && b.length > 1) {
      if (!deepEqual(a, b)) found.modified.add(below);
    } else if (a.length > 1) {
      if (b.length > 0) compare(undefined, b[0], schema?.items, below, found);
      found.removed.add(below);
    } else {
      if (a.length > 0) compare(a[0], undefined, schema?.items, below, found);
      found.added.add(below);
    }
  }
}

function byElement(
  items: readonly unknown[],
  schema: JsonSchema | undefined,
): ReadonlyMap<PathElement, readonly unknown[]> {
  const elements = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const found = listElement(schema, item);
    if ('problem' in found) continue;
    const same = elements.get(found.element);
    if (same === undefined) elements.set(found.element, [item]);
    else same.push(item);
  }
  return elements;
}

function isEmptyAs(type: 'List' | 'Map', value: unknown): boolean {
  return type === 'List' ? listOf(value).length === 0 : Object.keys(objectOf(value)).length === 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
