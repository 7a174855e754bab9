/** Removes fields from an object. */
import { isJsonObject, setMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { FieldSet } from './field-set.ts';
import { listElement, memberSchema, mergeTypeOf } from './merge-type.ts';
import { fieldElement } from './path-element.ts';

/**
 * A value without the given fields; null, as in Kubernetes, if nothing is left. Removing a field
 * removes everything below it, and removing anything below a value that is merged as a whole
 * removes all of that value.
 */
export function withoutFields(
  value: unknown,
  fields: FieldSet,
  schema: JsonSchema | undefined,
): unknown {
  if (fields.size === 0) return value;
  switch (mergeTypeOf(schema, value)) {
    case 'Leaf':
      return Array.isArray(value) || isJsonObject(value) ? null : value;
    case 'List':
      return Array.isArray(value) ? itemsWithout(value, fields, schema) : null;
    case 'Map':
      return isJsonObject(value) ? membersWithout(value, fields, schema) : null;
  }
}

function itemsWithout(
  items: readonly unknown[],
  fields: FieldSet,
  schema: JsonSchema | undefined,
): unknown {
  const kept: unknown[] = [];
  for (const item of items) {
    const found = listElement(schema, item);
    const node = 'problem' in found ? undefined : fields.get(found.element);
    if (node?.isMember === true) continue;
    kept.push(node === undefined ? item : withoutFields(item, node.below, schema?.items));
  }
  return kept.length > 0 ? kept : null;
}

function membersWithout(
  object: Readonly<Record<string, unknown>>,
  fields: FieldSet,
  schema: JsonSchema | undefined,
): unknown {
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(object)) {
    const node = fields.get(fieldElement(name));
    if (node?.isMember === true) continue;
    const rest =
      node === undefined ? member : withoutFields(member, node.below, memberSchema(schema, name));
    setMember(kept, name, rest);
  }
  return Object.keys(kept).length > 0 ? kept : null;
}
