/**
 * Checks the rules of a CustomResourceDefinition: they must be well-formed, compile, use old values
 * only where they can be found, and not be too expensive. Texts are the API server's. The estimate of
 * cost, with its precision, comes from `cel/cost.ts`.
 */

import {
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '@lockstep/kube/field-error.ts';
import type { JsonSchema, ValidationRule } from '@lockstep/kube/schema/json-schema.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { MAX_ESTIMATED_RULE_COST, MAX_ESTIMATED_SCHEMA_COST } from '../cel/limits.ts';
import { mostInRequest, resourceRuleSchema, schemaType } from '../cel/schema-type.ts';
import { ruleFieldPath } from './rule-field-path.ts';
import { type CompiledRule, compiledRules, isTransitionRule } from './validation-rule.ts';

/** Problems of the form of rules anywhere in the schema at `path`. */
export function ruleFormErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  walk(schema, { path, cardinality: 1, uncorrelatable: undefined }, (at, { path: of }) => {
    (at['x-kubernetes-validations'] ?? []).forEach((rule, index) => {
      errors.push(...formErrors(rule, at, `${of}.x-kubernetes-validations[${index}]`));
    });
  });
  return errors;
}

/** Problems of the expressions of rules, in a schema that is otherwise sound. */
export function ruleErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const costs: RuleCost[] = [];
  walk(schema, { path, cardinality: 1, uncorrelatable: undefined }, (at, place) => {
    if (at['x-kubernetes-validations'] === undefined) return;
    const field = `${place.path}.x-kubernetes-validations`;
    const of = at === schema ? resourceRuleSchema(at) : at;
    if (schemaType(of) === undefined) {
      const detail =
        'internal error: failed to retrieve type information for x-kubernetes-validations';
      errors.push({ type: 'InternalError', field, badValue: '', detail });
      return;
    }
    compiledRules(of).forEach((rule, index) => {
      errors.push(...contentErrors(rule, place, at, `${field}[${index}]`, costs));
    });
  });
  return [...errors, ...totalErrors(costs, path)];
}

interface SchemaPosition {
  readonly path: string;
  /** How many of these values an object can hold; undefined if nothing limits it. */
  readonly cardinality: number | undefined;
  /** The outermost schema whose values cannot be matched with old ones. */
  readonly uncorrelatable: string | undefined;
}

interface RuleCost {
  readonly field: string;
  readonly cost: number;
}

/** Visits parts before the whole, the order in which the server reports problems. */
function walk(
  schema: JsonSchema,
  place: SchemaPosition,
  visit: (schema: JsonSchema, place: SchemaPosition) => void,
): void {
  const { properties = {}, additionalProperties, items } = schema;
  const { path } = place;
  for (const [name, property] of Object.entries(properties)) {
    walk(property, { ...place, path: `${path}.properties[${name}]` }, visit);
  }
  if (typeof additionalProperties === 'object') {
    const cardinality = times(place.cardinality, schema.maxProperties);
    const below = { ...place, cardinality, path: `${path}.additionalProperties` };
    walk(additionalProperties, below, visit);
  }
  if (items !== undefined) {
    const isMap = schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = place.uncorrelatable ?? (isMap ? undefined : path);
    const cardinality = times(place.cardinality, schema.maxItems);
    walk(items, { path: `${path}.items`, cardinality, uncorrelatable }, visit);
  }
  visit(schema, place);
}

function times(cardinality: number | undefined, limit: number | undefined): number | undefined {
  return cardinality === undefined || limit === undefined ? undefined : cardinality * limit;
}

const REASONS: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

function formErrors(rule: ValidationRule, schema: JsonSchema, path: string): FieldError[] {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const errors: FieldError[] = [];
  const hasBreaks = (text: string): boolean => /[\r\n]/.test(text);
  if (rule.rule.trim() === '') {
    errors.push(required(`${path}.rule`, 'rule is not specified'));
  } else if (message !== '' && message.trim() === '') {
    errors.push(invalidValue(`${path}.message`, message, 'must be non-empty if specified'));
  } else if (hasBreaks(message.trim())) {
    errors.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'));
  } else if (hasBreaks(rule.rule.trim()) && message === '') {
    const detail = 'message must be specified if rule contains line breaks';
    errors.push(required(`${path}.message`, detail));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const detail = 'messageExpression must be non-empty if specified';
    errors.push(required(`${path}.messageExpression`, detail));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  }
  const field = `${path}.fieldPath`;
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(invalidValue(field, fieldPath, 'must be non-empty if specified'));
  }
  if (hasBreaks(fieldPath)) {
    errors.push(invalidValue(field, fieldPath, 'must not contain line breaks'));
  }
  if (ruleFieldPath(schema, fieldPath) === undefined) {
    errors.push(invalidValue(field, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function contentErrors(
  compiled: CompiledRule,
  place: SchemaPosition,
  schema: JsonSchema,
  path: string,
  costs: RuleCost[],
): FieldError[] {
  const { rule } = compiled;
  const errors: FieldError[] = [];
  if (compiled.kind === 'Invalid') {
    errors.push(invalidValue(`${path}.rule`, shownRule(rule), compiled.defect));
    return [...errors, ...optionalOldSelfErrors(rule, path)];
  }
  const { expression, message, messageDefect } = compiled;
  const cost = expression.estimatedCost * (place.cardinality ?? mostInRequest(schema));
  costs.push({ field: `${path}.rule`, cost });
  if (cost > MAX_ESTIMATED_RULE_COST) {
    const detail = costText('estimated rule cost', cost, MAX_ESTIMATED_RULE_COST);
    errors.push(forbiddenField(`${path}.rule`, detail));
  }
  const messageField = `${path}.messageExpression`;
  if (messageDefect !== undefined) {
    errors.push(invalidValue(messageField, shownRule(rule), messageDefect));
  }
  if (message !== undefined) {
    costs.push({ field: messageField, cost: message.estimatedCost });
    if (message.estimatedCost > MAX_ESTIMATED_RULE_COST) {
      const name = 'estimated messageExpression cost';
      const detail = costText(name, message.estimatedCost, MAX_ESTIMATED_RULE_COST);
      errors.push(forbiddenField(messageField, detail));
    }
  }
  if (isTransitionRule(expression)) {
    if (place.uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
      errors.push(invalidValue(`${path}.rule`, rule.rule, detail));
    }
  } else {
    errors.push(...optionalOldSelfErrors(rule, path));
  }
  return errors;
}

/** Problems of `optionalOldSelf` on a rule that does not use `oldSelf`. */
function optionalOldSelfErrors({ optionalOldSelf }: ValidationRule, path: string): FieldError[] {
  if (optionalOldSelf === undefined) return [];
  const detail = 'may not be set if oldSelf is not used in rule';
  return [invalidValue(`${path}.optionalOldSelf`, optionalOldSelf, detail)];
}

/** A rule as the server's message shows it: the Go structure. */
function shownRule(rule: ValidationRule): Readonly<Record<string, unknown>> {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

/** Rules below a hundredth of the limit are not named in the message. */
const LEAST_NAMED_COST = MAX_ESTIMATED_SCHEMA_COST / 100;
const MOST_NAMED = 4;

function totalErrors(costs: readonly RuleCost[], path: string): FieldError[] {
  const total = costs.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= MAX_ESTIMATED_SCHEMA_COST) return [];
  const named = costs
    .filter(({ cost }) => cost >= LEAST_NAMED_COST)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, MOST_NAMED);
  const detail =
    'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
  const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  return [
    ...named.map(({ field }) => forbiddenField(field, detail)),
    forbiddenField(path, costText(name, total, MAX_ESTIMATED_SCHEMA_COST)),
  ];
}

function costText(name: string, cost: number, limit: number): string {
  const excess = cost / limit;
  const factor =
    excess > 100 ? 'more than 100x' : `${excess < 1.5 ? excess.toFixed(6) : excess.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
