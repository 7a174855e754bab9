/** Strategic merge patch, as the API server applies it to built-in kinds. */
import { isDeeperThan, MAX_JSON_DEPTH } from '../json/json-depth.ts';
import { isJsonObject, type JsonObject, ownMember, setMember } from '../json/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { badRequest } from '../status-errors.ts';
import { cleaned, DELETE_FROM_LIST, DIRECTIVE, ELEMENT_ORDER, RETAIN_KEYS } from './directives.ts';
import { deleteFromList, type ListStrategy, mergeLists, orderList } from './list-merge.ts';

/**
 * It is a merge patch in which the schema says which lists are merged, and by which key
 * (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`); directives in the patch say the
 * rest. `original` stays as it is; the result may share parts with both. Throws 400 `BadRequest`
 * for an invalid patch, 422 `Invalid` for one that does not fit the object.
 */
export function applyStrategicMergePatch(
  original: JsonObject,
  patch: JsonObject,
  schema: JsonSchema,
): JsonObject {
  if (isDeeperThan(patch, MAX_JSON_DEPTH)) {
    throw badRequest(`the patch is deeper than ${MAX_JSON_DEPTH} levels`);
  }
  return mergeObjects(original, patch, schema);
}

function mergeObjects(
  original: JsonObject,
  patch: JsonObject,
  schema: JsonSchema | undefined,
): JsonObject {
  const directive = ownMember(patch, DIRECTIVE);
  if (directive === 'replace') return withoutDirective(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined) {
    throw badRequest(`unknown patch type: ${text(directive)} in map: ${text(patch)}`);
  }
  const result: Record<string, unknown> = { ...retained(original, patch) };
  const isOrdered = new Set<string>();
  for (const [key, order] of Object.entries(patch)) {
    const field = fieldOf(key, ELEMENT_ORDER, 'setElementOrder');
    if (field === undefined) continue;
    isOrdered.add(field);
    mergeInOrder(result, field, ownMember(patch, field), order, schemaOf(schema, field));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (isOrdered.has(key) || isDirective(key)) continue;
    mergeMember(result, key, value, schemaOf(schema, key));
  }
  for (const [key, values] of Object.entries(patch)) {
    const field = fieldOf(key, DELETE_FROM_LIST, 'primitive');
    const list = field === undefined ? undefined : ownMember(result, field);
    if (field === undefined || !Array.isArray(list)) continue;
    if (!Array.isArray(values)) throw badFormat('primitive');
    setMember(result, field, deleteFromList(list, values));
  }
  return result;
}

function mergeMember(
  result: Record<string, unknown>,
  key: string,
  value: unknown,
  schema: JsonSchema | undefined,
): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const current = ownMember(result, key);
  if (Array.isArray(current) && Array.isArray(value)) {
    const strategy = listStrategyOf(key, schema);
    const list = strategy === undefined ? cleaned(value) : mergeLists(current, value, strategy);
    setMember(result, key, list);
  } else if (isJsonObject(current) && isJsonObject(value) && !strategiesOf(schema).has('replace')) {
    setMember(result, key, mergeObjects(current, value, schema));
  } else {
    const replacement = cleaned(value);
    if (replacement === undefined) delete result[key];
    else setMember(result, key, replacement);
  }
}

/** Merges a list whose patch names the order of all elements that the client knows. */
function mergeInOrder(
  result: Record<string, unknown>,
  key: string,
  patch: unknown,
  order: unknown,
  schema: JsonSchema | undefined,
): void {
  const current = ownMember(result, key);
  if (!Array.isArray(order)) throw badFormat('setElementOrder');
  if (patch === null) delete result[key];
  if (patch === null || (patch === undefined && current === undefined)) return;
  if (current !== undefined && !Array.isArray(current)) throw expectedList(key, current);
  if (patch !== undefined && !Array.isArray(patch)) throw expectedList(key, patch);
  const strategy = listStrategyOf(key, schema);
  if (strategy === undefined) {
    if (patch !== undefined) setMember(result, key, cleaned(patch));
    return;
  }
  const merged = patch === undefined ? (current ?? []) : mergeLists(current ?? [], patch, strategy);
  setMember(result, key, orderList(merged, current ?? [], patch ?? [], order, strategy));
}

/** Keeps only the listed members of the original, if the patch has such a list. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const list = ownMember(patch, RETAIN_KEYS);
  if (list === undefined) return original;
  if (!Array.isArray(list)) throw badFormat('retainKeys');
  const keys = new Set<unknown>(list);
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !isDirective(key) && !keys.has(key)) throw badFormat('retainKeys');
  }
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(original)) {
    if (keys.has(key)) setMember(result, key, value);
  }
  return result;
}

function withoutDirective(patch: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...patch };
  delete result[DIRECTIVE];
  const replacement = cleaned(result);
  return isJsonObject(replacement) ? replacement : {};
}

function isDirective(key: string): boolean {
  return (
    key === DIRECTIVE ||
    key === RETAIN_KEYS ||
    key.startsWith(ELEMENT_ORDER) ||
    key.startsWith(DELETE_FROM_LIST)
  );
}

/** The field of a directive such as `$setElementOrder/containers`. */
function fieldOf(key: string, prefix: string, name: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  if (key[prefix.length] !== '/') throw badFormat(name);
  return key.slice(prefix.length + 1);
}

function schemaOf(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const property = ownMember(schema.properties ?? {}, key);
  if (property !== undefined) return property;
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** `merge`, `replace`, `retainKeys`, or several, such as `merge,retainKeys`. */
function strategiesOf(schema: JsonSchema | undefined): ReadonlySet<string> {
  return new Set((schema?.['x-kubernetes-patch-strategy'] ?? '').split(','));
}

/** How a list is merged; undefined if it is replaced as a whole. */
function listStrategyOf(field: string, schema: JsonSchema | undefined): ListStrategy | undefined {
  if (schema === undefined || !strategiesOf(schema).has('merge')) return undefined;
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  return {
    field,
    mergeKey,
    merge: (original, patch) => mergeObjects(original, patch, schema.items),
  };
}

function badFormat(directive: string): Error {
  const what = directive === 'retainKeys' ? directive : `${directive} list`;
  return badRequest(`invalid patch format of ${what}`);
}

function expectedList(field: string, value: unknown): Error {
  return badRequest(`${field}: expected a list, but received ${text(value)}`);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}
