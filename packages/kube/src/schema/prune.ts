/**
 * Pruning: drops fields that the schema does not know and names them, so that the server can refuse
 * them (`fieldValidation=Strict`) or warn. Input is never changed; if nothing is dropped, the same
 * value comes back. Objects whose schema has `x-kubernetes-preserve-unknown-fields` keep unknown
 * fields, but known fields below are pruned.
 */
import { isJsonObject, type JsonObject, ownMember, setMember } from '../json/json-value.ts';
import type { JsonSchema } from './json-schema.ts';

export interface Pruned {
  readonly value: unknown;
  /** Paths such as `spec.replicatedJobs[0].foo`, in the order of the text. */
  readonly pruned: readonly string[];
}

export function prune(schema: JsonSchema, value: unknown): Pruned {
  const pruned: string[] = [];
  const kept = pruneValue(schema, value, '', pruned);
  return { value: kept, pruned };
}

function pruneValue(
  schema: JsonSchema | undefined,
  value: unknown,
  path: string,
  pruned: string[],
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!isJsonObject(value)) return pruneItems(schema, value, path, pruned);
  return pruneMembers(schema, value, path, pruned);
}

function pruneItems(
  schema: JsonSchema | undefined,
  value: object,
  path: string,
  pruned: string[],
): unknown {
  if (!Array.isArray(value)) return value;
  const items = schema?.items;
  if (items === undefined && schema?.['x-kubernetes-preserve-unknown-fields'] === true) {
    return value;
  }
  let copy: unknown[] | undefined;
  for (let index = 0; index < value.length; index += 1) {
    const item: unknown = value[index];
    const kept = pruneValue(items, item, `${path}[${index}]`, pruned);
    if (kept === item) continue;
    copy ??= [...value];
    copy[index] = kept;
  }
  return copy ?? value;
}

function pruneMembers(
  schema: JsonSchema | undefined,
  value: JsonObject,
  path: string,
  pruned: string[],
): JsonObject {
  const properties = schema?.properties;
  const additional = schema?.additionalProperties;
  const preserve = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    const known = properties === undefined ? undefined : ownMember(properties, key);
    const below = known ?? (typeof additional === 'object' ? additional : undefined);
    if (below === undefined && preserve) continue;
    const memberPath = path === '' ? key : `${path}.${key}`;
    if (below === undefined && additional !== true) {
      pruned.push(memberPath);
      copy ??= { ...value };
      delete copy[key];
      continue;
    }
    const kept = pruneValue(below, member, memberPath, pruned);
    if (kept === member) continue;
    copy ??= { ...value };
    setMember(copy, key, kept);
  }
  return copy ?? value;
}
