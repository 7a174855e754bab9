/** The fields that the applier of a configuration owns from then on. */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { type FieldNode, type FieldSet, FieldSetBuilder } from './field-set.ts';
import { isNamedField, listElement, memberSchema, mergeTypeOf } from './merge-type.ts';
import { fieldElement, fieldName, type PathElement } from './path-element.ts';

/**
 * The owned fields: every value that is merged as a whole, each element of a list, each entry of a
 * map, and each empty object. An object that only contains other fields is not a field itself.
 */
export function fieldsOf(value: unknown, schema: JsonSchema | undefined): FieldSet {
  const builder = new FieldSetBuilder();
  collect(value, schema, [], builder);
  return builder.build();
}

type Path = readonly PathElement[];

function collect(
  value: unknown,
  schema: JsonSchema | undefined,
  path: Path,
  builder: FieldSetBuilder,
): void {
  switch (mergeTypeOf(schema, value)) {
    case 'Leaf':
      builder.add(path);
      break;
    case 'List':
      if (Array.isArray(value)) collectItems(value, schema, path, builder);
      break;
    case 'Map':
      if (!isJsonObject(value)) break;
      for (const [name, member] of Object.entries(value)) {
        const below = [...path, fieldElement(name)];
        collect(member, memberSchema(schema, name), below, builder);
        if (isEmpty(member) || !isNamedField(schema, name)) builder.add(below);
      }
      break;
  }
}

/** An element that occurs twice is owned as one field, without the fields below it. */
function collectItems(
  items: readonly unknown[],
  schema: JsonSchema | undefined,
  path: Path,
  builder: FieldSetBuilder,
): void {
  const byElement = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const found = listElement(schema, item);
    if ('problem' in found) continue;
    byElement.set(found.element, [...(byElement.get(found.element) ?? []), item]);
  }
  for (const [element, [item, ...others]] of byElement) {
    const below = [...path, element];
    builder.add(below);
    if (others.length === 0) collect(item, schema?.items, below, builder);
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

/** Adds all named fields through which the paths of the set lead. */
export function withNamedFields(set: FieldSet, schema: JsonSchema | undefined): FieldSet {
  const result = new Map<PathElement, FieldNode>();
  for (const [element, { isMember, below }] of set) {
    const name = fieldName(element);
    const inside = name === undefined ? schema?.items : memberSchema(schema, name);
    const isNamed = name !== undefined && isNamedField(schema, name);
    result.set(element, {
      isMember: isMember || isNamed,
      below: withNamedFields(below, inside),
    });
  }
  return result;
}
