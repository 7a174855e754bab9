/**
 * Evaluates the rules of a schema over an object that is otherwise valid. Rules about a value come
 * before rules about its parts. Texts and paths are the same as in the API server
 * (`apiextensions-apiserver/pkg/apiserver/schema/cel`), version 1.36.
 *
 * Old and new values are matched by name in objects and maps, and by key in lists of type map;
 * items of other lists have no old value. As on the server, an unchanged value is not judged again,
 * except by rules about change. The server warns of the problems that it lets pass so; we do not.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject, type JsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema, ValidationRule } from '@lockstep/kube/schema/json-schema.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { Budget } from '../cel/budget.ts';
import { MAX_OBJECT_COST } from '../cel/limits.ts';
import { resourceRuleSchema } from '../cel/schema-type.ts';
import { type CompiledRule, compiledRules, isTransitionRule } from './validation-rule.ts';

/** The rules of a schema and of all schemas below it. Parts without rules are left out. */
export interface RuleTree {
  readonly schema: JsonSchema;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly values: RuleTree | undefined;
  readonly items: RuleTree | undefined;
}

/** The rules of a resource with that schema; undefined if there are none. */
export function ruleTree(schema: JsonSchema): RuleTree | undefined {
  return treeOf(schema, resourceRuleSchema(schema));
}

/** The violations of the rules by `object`; `old` is the object that it replaces, if any. */
export function violations(tree: RuleTree, object: JsonObject, old?: JsonObject): FieldError[] {
  const run: Run = { errors: [], budget: new Budget(MAX_OBJECT_COST), isOver: false };
  visit(tree, { value: object, old, isUnchanged: false }, '', run);
  return run.errors;
}

interface Run {
  readonly errors: FieldError[];
  readonly budget: Budget;
  /** When true, no further rule is evaluated. */
  isOver: boolean;
}

/** A value, its old value, and whether something around it is known to be unchanged. */
interface Correlated {
  readonly value: unknown;
  readonly old: unknown;
  readonly isUnchanged: boolean;
}

function treeOf(schema: JsonSchema, ruleSchema: JsonSchema): RuleTree | undefined {
  const { properties = {}, additionalProperties, items } = schema;
  const below = new Map<string, RuleTree>();
  for (const [name, property] of Object.entries(properties)) {
    const tree = treeOf(property, property);
    if (tree !== undefined) below.set(name, tree);
  }
  const values =
    typeof additionalProperties === 'object'
      ? treeOf(additionalProperties, additionalProperties)
      : undefined;
  const itemTree = items === undefined ? undefined : treeOf(items, items);
  const rules = compiledRules(ruleSchema);
  const isEmpty = rules.length + below.size === 0 && values === undefined && itemTree === undefined;
  return isEmpty
    ? undefined
    : { schema: ruleSchema, rules, properties: below, values, items: itemTree };
}

function visit(tree: RuleTree, at: Correlated, path: string, run: Run): void {
  const { value } = at;
  // The rules of a value that may be null run at its parent.
  if (value === null || value === undefined || run.isOver) return;
  const isUnchanged =
    at.isUnchanged || (tree.rules.length > 0 && at.old !== undefined && deepEqual(value, at.old));
  const known = { ...at, isUnchanged };
  for (const rule of tree.rules) {
    judge(rule, tree.schema, known, path, run);
    if (run.isOver) return;
  }
  if (Array.isArray(value)) visitItems(tree, value, known, path, run);
  else if (isJsonObject(value)) visitMembers(tree, value, known, path, run);
}

function visitMembers(
  tree: RuleTree,
  value: JsonObject,
  { old, isUnchanged }: Correlated,
  path: string,
  run: Run,
): void {
  const oldMembers = isJsonObject(old) ? old : {};
  for (const name of Object.keys(value)) {
    const below = tree.properties.get(name) ?? tree.values;
    if (below === undefined) continue;
    const isField = tree.properties.has(name);
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const member = { value: value[name], old: ownMember(oldMembers, name), isUnchanged };
    visit(below, member, isField ? fieldPath : `${path}[${name}]`, run);
  }
}

function visitItems(
  { schema, items }: RuleTree,
  value: readonly unknown[],
  { old, isUnchanged }: Correlated,
  path: string,
  run: Run,
): void {
  if (items === undefined) return;
  const keys =
    schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined;
  const oldItems = new Map<string, unknown>();
  if (keys !== undefined && Array.isArray(old)) {
    for (const item of old) oldItems.set(keyOf(item, keys), item);
  }
  value.forEach((item, index) => {
    const before = keys === undefined ? undefined : oldItems.get(keyOf(item, keys));
    visit(items, { value: item, old: before, isUnchanged }, `${path}[${index}]`, run);
  });
}

function keyOf(item: unknown, keys: readonly string[]): string {
  const members = isJsonObject(item) ? item : {};
  return JSON.stringify(keys.map((key) => ownMember(members, key) ?? null));
}

function judge(
  compiled: CompiledRule,
  schema: JsonSchema,
  { value, old, isUnchanged }: Correlated,
  path: string,
  run: Run,
): void {
  const { rule, fieldPath } = compiled;
  const shown = shownPath(path, '');
  const complain = (detail: string, field = shown): void => {
    run.errors.push({ type: 'FieldValueInvalid', field, badValue: schema.type ?? '', detail });
  };
  if (compiled.kind === 'Invalid') {
    complain(`rule compile error: ${compiled.defect}`);
    return;
  }
  const isTransition = isTransitionRule(compiled.expression);
  if (isTransition && old === undefined && rule.optionalOldSelf !== true) return;
  if (!isTransition && isUnchanged) return;
  const bindings = { self: value, oldSelf: old };
  const result = compiled.expression.evaluate(bindings);
  if (!run.budget.spend(result.cost)) {
    run.isOver = true;
    complain(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    );
    return;
  }
  if (result.kind === 'Error') {
    run.isOver = result.message.startsWith('operation cancelled');
    complain(errorDetail(result.message, rule));
    return;
  }
  if (result.value === true) return;
  const detail = messageOf(compiled, bindings, run) ?? defaultMessage(rule);
  run.errors.push(violation(rule, schema, value, shownPath(path, fieldPath), detail));
}

/** The root of an object has no name. */
function shownPath(path: string, below: string): string {
  if (below === '') return path === '' ? '<nil>' : path;
  return path === '' ? below : `${path}.${below}`;
}

function violation(
  rule: ValidationRule,
  schema: JsonSchema,
  value: unknown,
  field: string,
  detail: string,
): FieldError {
  const isLarge = schema.type === 'object' || schema.type === 'array';
  const badValue = isLarge ? undefined : value;
  const { reason } = rule;
  if (reason === 'FieldValueForbidden' || reason === 'FieldValueRequired') {
    return { type: reason, field, badValue: '', detail };
  }
  if (reason === 'FieldValueDuplicate') return { type: reason, field, badValue, detail: '' };
  return { type: 'FieldValueInvalid', field, badValue, detail };
}

function errorDetail(message: string, rule: ValidationRule): string {
  const name = nameOf(rule);
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
  }
  if (message.startsWith('operation cancelled')) {
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
  }
  return `${message} evaluating rule: ${name}`;
}

function nameOf({ rule, message = '' }: ValidationRule): string {
  return (message === '' ? rule : message).trim();
}

function defaultMessage(rule: ValidationRule): string {
  const { message = '' } = rule;
  return message === '' ? `failed rule: ${nameOf(rule)}` : message.trim();
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/** Undefined if there is no expression, if it fails, or if its result cannot be shown. */
function messageOf(
  { message }: Extract<CompiledRule, { kind: 'Rule' }>,
  bindings: Readonly<Record<string, unknown>>,
  run: Run,
): string | undefined {
  if (message === undefined) return undefined;
  const result = message.evaluate(bindings);
  run.isOver ||= !run.budget.spend(result.cost);
  if (result.kind === 'Error' || typeof result.value !== 'string') return undefined;
  const text = result.value.trim();
  const isShort = Buffer.byteLength(text) <= MAX_MESSAGE_BYTES;
  return text !== '' && isShort && !text.includes('\n') ? text : undefined;
}
