/**
 * Finds what keeps a configuration from being merged: fields that the schema does not know, and
 * values of the wrong type.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { isNamedField, isOpen, listElement, memberSchema } from './merge-type.ts';
import { fieldElement, type PathElement, showPathElement } from './path-element.ts';

/** One text for each problem, with its path before it: `.spec.foo: field not declared in schema`. */
export function configurationErrors(value: unknown, schema: JsonSchema): readonly string[] {
  const errors: string[] = [];
  check(value, schema, '', errors);
  return errors;
}

/** Joins the texts of several problems. */
export function joinedErrors(errors: readonly string[]): string {
  const [only = '', ...others] = errors;
  if (others.length === 0) return only;
  return ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
}

function check(
  value: unknown,
  schema: JsonSchema | undefined,
  path: string,
  errors: string[],
): void {
  if (value === null || schema === undefined) return;
  const problem = typeProblem(value, schema);
  if (problem !== undefined) errors.push(path === '' ? problem : `${path}: ${problem}`);
  else if (Array.isArray(value)) checkItems(value, schema, path, errors);
  else if (isJsonObject(value)) checkMembers(value, schema, path, errors);
}

function typeProblem(value: unknown, schema: JsonSchema): string | undefined {
  const shown = `&{${typeof value === 'string' ? value : JSON.stringify(value)}}`;
  switch (schema.type) {
    case 'object':
      return isJsonObject(value) ? undefined : `expected map, got ${shown}`;
    case 'array':
      return Array.isArray(value) ? undefined : `expected list, got ${shown}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got ${shown}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${shown}`;
    case 'integer':
    case 'number':
      return typeof value === 'number'
        ? undefined
        : `expected numeric (int or float), got ${goTypeName(value)}`;
    case undefined:
      return undefined;
    default:
      return schema.type satisfies never;
  }
}

/** The name that Go gives the type of a value decoded from JSON. */
function goTypeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Reports only the first unknown member, as the API server does. */
function checkMembers(
  object: JsonObject,
  schema: JsonSchema,
  path: string,
  errors: string[],
): void {
  if (schema.type !== 'object') return;
  for (const [name, member] of Object.entries(object)) {
    const below = path + showPathElement(fieldElement(name));
    if (!isNamedField(schema, name) && !isOpen(schema)) {
      errors.push(`${below}: field not declared in schema`);
      return;
    }
    check(member, memberSchema(schema, name), below, errors);
  }
}

function checkItems(
  items: readonly unknown[],
  schema: JsonSchema,
  path: string,
  errors: string[],
): void {
  const type = schema['x-kubernetes-list-type'];
  const isAssociative = type === 'map' || type === 'set';
  const seen = new Set<PathElement>();
  for (const [index, item] of items.entries()) {
    if (!isAssociative) {
      check(item, schema.items, `${path}[${index}]`, errors);
      continue;
    }
    const found = listElement(schema, item);
    if ('problem' in found) {
      errors.push(`${path}: element ${index}: ${found.problem}`);
      return;
    }
    const shown = showPathElement(found.element);
    if (seen.has(found.element)) errors.push(`${path}: duplicate entries for key ${shown}`);
    seen.add(found.element);
    check(item, schema.items, path + shown, errors);
  }
}
