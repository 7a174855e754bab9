/**
 * The Common Expression Language as Kubernetes uses it, in rules of CustomResourceDefinitions and
 * conditions of webhooks. An expression is checked once against the types of its variables, and
 * then evaluated any number of times, each time within a budget.
 */
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { Budget } from './budget.ts';
import { check } from './checker.ts';
import { type CostEstimate, estimateCost } from './cost.ts';
import { runnable } from './evaluator.ts';
import { fromJson } from './json-value.ts';
import { MAX_EVALUATION_COST } from './limits.ts';
import { parseExpression } from './parser.ts';
import { schemaType } from './schema-type.ts';
import { describeIssues } from './syntax.ts';
import { type CelType, DYN_TYPE, optionalOf, typeText } from './type.ts';
import { CelError, type CelResult, NONE, Optional } from './value.ts';

/**
 * What is known of a variable: nothing, its schema, or that it may be absent. An absent one has the
 * binding `undefined`, and the expression sees an optional. Bindings are JSON.
 */
export type CelVariable = 'dyn' | JsonSchema | { readonly optionalOf: JsonSchema };

export type CelVariables = Readonly<Record<string, CelVariable>>;

export type Compilation =
  | { readonly kind: 'Expression'; readonly expression: CelExpression }
  | { readonly kind: 'Invalid'; readonly message: string };

export type Evaluation = { readonly cost: number } & (
  | {
      readonly kind: 'Value';
      /** Ints are `bigint`, doubles `number`, lists and maps the classes of `value.ts`. */
      readonly value: unknown;
    }
  | { readonly kind: 'Error'; readonly message: string }
);

export interface CelExpression {
  /** The type of the result: `bool`, `string`, `list(int)`, or `dyn` if it is open. */
  readonly resultType: string;
  /** The variables that it reads. */
  readonly uses: ReadonlySet<string>;
  /** The most that one evaluation can cost, by the sizes that the schemas allow. */
  readonly estimatedCost: number;
  /** `limit` has the unit of `MAX_EVALUATION_COST`, which is the default. */
  evaluate(bindings: Readonly<Record<string, unknown>>, limit?: number): Evaluation;
}

/** `message` is cel-go's: one `ERROR: <input>:LINE:COLUMN: ...` with an excerpt for each issue. */
export function compileExpression(source: string, variables: CelVariables): Compilation {
  const invalid = (message: string): Compilation => ({ kind: 'Invalid', message });
  const parsed = parseExpression(source);
  if (!('kind' in parsed)) return invalid(describeIssues(source, [parsed]));
  const declared = Object.entries(variables);
  const types = declared.map(([name, variable]) => [name, variableType(variable)] as const);
  const { checked, issues, slots, uses } = check(parsed, types);
  if (issues.length > 0) return invalid(describeIssues(source, issues));
  const run = runnable(checked);
  const { cost }: CostEstimate = estimateCost(checked);
  const evaluate: CelExpression['evaluate'] = (bindings, limit = MAX_EVALUATION_COST) => {
    const values: CelResult[] = Array<CelResult>(slots).fill(null);
    for (const [slot, [name, variable]] of declared.entries()) {
      if (uses.has(name)) values[slot] = bindingOf(bindings, name, variable);
    }
    const budget = new Budget(limit);
    const value = run({ slots: values, budget });
    return value instanceof CelError
      ? { kind: 'Error', message: value.message, cost: budget.spent }
      : { kind: 'Value', value, cost: budget.spent };
  };
  const resultType = typeText(checked.type);
  return { kind: 'Expression', expression: { resultType, uses, estimatedCost: cost, evaluate } };
}

function variableType(variable: CelVariable): CelType {
  if (variable === 'dyn') return DYN_TYPE;
  if (isOptionalVariable(variable)) return optionalOf(schemaType(variable.optionalOf) ?? DYN_TYPE);
  return schemaType(variable) ?? DYN_TYPE;
}

function isOptionalVariable(
  variable: Exclude<CelVariable, 'dyn'>,
): variable is { readonly optionalOf: JsonSchema } {
  return 'optionalOf' in variable;
}

function bindingOf(
  bindings: Readonly<Record<string, unknown>>,
  name: string,
  variable: CelVariable,
): CelResult {
  const json = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
  if (variable !== 'dyn' && isOptionalVariable(variable)) {
    if (json === undefined) return NONE;
    const value = fromJson(json, variable.optionalOf);
    return value instanceof CelError ? value : new Optional(value);
  }
  if (json === undefined) return new CelError(`no such attribute(s): ${name}`);
  return fromJson(json, variable === 'dyn' ? undefined : variable);
}
