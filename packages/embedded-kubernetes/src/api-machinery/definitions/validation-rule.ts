/**
 * Compiles rules of structural schemas (`x-kubernetes-validations`) as expressions over `self` and
 * `oldSelf`. A schema's rules are compiled once and live as long as the schema.
 */

import type { JsonSchema, ValidationRule } from '@lockstep/kube/schema/json-schema.ts';
import { type CelExpression, compileExpression } from '../cel/expression.ts';
import { ruleFieldPath } from './rule-field-path.ts';

export type CompiledRule = {
  readonly rule: ValidationRule;
  /** Where a violation is shown, relative to the value; empty for the value itself. */
  readonly fieldPath: string;
} & (
  | {
      readonly kind: 'Rule';
      readonly expression: CelExpression;
      /** Makes the text of a violation; undefined if there is none, or an invalid one. */
      readonly message: CelExpression | undefined;
      readonly messageDefect: string | undefined;
    }
  | { readonly kind: 'Invalid'; readonly defect: string }
);

/**
 * The rules of `schema` itself, in order. For a whole resource, pass the result of
 * `resourceRuleSchema`.
 */
export function compiledRules(schema: JsonSchema): readonly CompiledRule[] {
  const known = COMPILED.get(schema);
  if (known !== undefined) return known;
  const rules = schema['x-kubernetes-validations'] ?? [];
  const compiled = rules.map((rule) => compileRule(rule, schema));
  COMPILED.set(schema, compiled);
  return compiled;
}

/** Transition rules say how a value may change; most of them need an old value. */
export function isTransitionRule({ uses }: CelExpression): boolean {
  return uses.has('oldSelf');
}

const COMPILED = new WeakMap<JsonSchema, readonly CompiledRule[]>();

function compileRule(rule: ValidationRule, schema: JsonSchema): CompiledRule {
  const fieldPath = ruleFieldPath(schema, rule.fieldPath ?? '') ?? '';
  const oldSelf = rule.optionalOldSelf === true ? { optionalOf: schema } : schema;
  const variables = { self: schema, oldSelf };
  const compiled = compileExpression(rule.rule, variables);
  if (compiled.kind === 'Invalid') {
    const defect = `compilation failed: ${compiled.message}`;
    return { kind: 'Invalid', rule, fieldPath, defect };
  }
  const { expression } = compiled;
  if (expression.resultType !== 'bool') {
    const defect = 'cel expression must evaluate to a bool';
    return { kind: 'Invalid', rule, fieldPath, defect };
  }
  const { messageExpression = '' } = rule;
  const message = compileMessage(messageExpression, variables);
  return { kind: 'Rule', rule, fieldPath, expression, ...message };
}

function compileMessage(
  source: string,
  variables: Parameters<typeof compileExpression>[1],
): {
  readonly message: CelExpression | undefined;
  readonly messageDefect: string | undefined;
} {
  const failed = (messageDefect: string) => ({ message: undefined, messageDefect });
  if (source.trim() === '') return { message: undefined, messageDefect: undefined };
  const compiled = compileExpression(source, variables);
  if (compiled.kind === 'Invalid') {
    return failed(`messageExpression compilation failed: ${compiled.message}`);
  }
  const { expression } = compiled;
  return expression.resultType === 'string'
    ? { message: expression, messageDefect: undefined }
    : failed('messageExpression must evaluate to a string');
}
