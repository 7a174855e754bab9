/** Parses, formats and matches label selectors. */
import { formatFieldErrors, invalidValue } from '../field-error.ts';
import type { LabelSelector, StringMap } from '../meta.ts';
import { labelValueErrors, qualifiedNameErrors } from '../name-rules.ts';
import { quote } from '../quote.ts';
import type { ApiStatusError, FieldError } from '../status.ts';
import { badRequest } from '../status-errors.ts';
import { lexSelector, type SelectorToken } from './label-selector-lexer.ts';

/**
 * A selector, from text (`app=web,tier in (a, b),!canary`) or from an object, with the grammar and
 * the error texts of `k8s.io/apimachinery/pkg/labels`. Plain data.
 */
export type LabelRequirements = readonly LabelRequirement[];

/** All requirements of a selector must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** One for comparisons, one or more for `in` and `notin`, none for `exists` and `!`. Sorted. */
  readonly values: readonly string[];
}

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

/** Throws 400 `BadRequest` for an invalid text. The empty text selects everything. */
export function parseLabelSelector(text: string): LabelRequirements {
  return new SelectorParser(lexSelector(text)).parse().toSorted(byKey);
}

/**
 * A selector object. As in the API, an absent one selects nothing and an empty one everything.
 * Throws 400 `BadRequest` for an invalid object.
 */
export function labelRequirementsOf(selector: LabelSelector | undefined): LabelRequirements {
  if (selector === undefined) return NOTHING;
  const labels = Object.entries(selector.matchLabels ?? {});
  const expressions = selector.matchExpressions ?? [];
  return [
    ...labels.map(([key, value]) => requirement(key, '=', [value])),
    ...expressions.map(({ key, operator, values = [] }) =>
      requirement(key, operatorOf(operator), values),
    ),
  ].toSorted(byKey);
}

/** Selects no object at all. */
const NOTHING: LabelRequirements = [{ key: '', operator: 'in', values: [] }];

export function matchesLabels(selector: LabelRequirements, labels: StringMap = {}): boolean {
  return selector.every((requirement) => {
    const { key, operator, values } = requirement;
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined
      ? operator === '!=' || operator === 'notin' || operator === '!'
      : holds(operator, values, value);
  });
}

/** The text that parses to this selector. */
export function formatLabelSelector(selector: LabelRequirements): string {
  return selector.map(formatRequirement).join(',');
}

function holds(operator: LabelOperator, values: readonly string[], value: string): boolean {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return values.includes(value);
    case '!=':
    case 'notin':
      return !values.includes(value);
    case 'exists':
      return true;
    case '!':
      return false;
    case '>':
    case '<': {
      const [actual, limit] = [int64(value), int64(values[0] ?? '')];
      if (actual === undefined || limit === undefined) return false;
      return operator === '>' ? actual > limit : actual < limit;
    }
    default:
      return operator satisfies never;
  }
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${values.join(',')})`;
  return `${key}${operator}${values[0] ?? ''}`;
}

/** A valid requirement with sorted values, each once. */
function requirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  const errors = requirementErrors(key, operator, values);
  if (errors.length > 0) throw badRequest(formatFieldErrors(errors));
  return { key, operator, values: [...new Set(values)].toSorted() };
}

function requirementErrors(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const wrongKey = qualifiedNameErrors(key);
  if (wrongKey.length > 0) errors.push(invalidValue('key', key, wrongKey.join('; ')));
  const wrongCount = countError(operator, values.length);
  if (wrongCount !== undefined) errors.push(invalidValue('values', values, wrongCount));
  values.forEach((value, at) => {
    if ((operator === '>' || operator === '<') && int64(value) === undefined) {
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(invalidValue(`values[${at}]`, value, why));
    }
    const wrong = labelValueErrors(value);
    if (wrong.length > 0)
      errors.push(invalidValue(`values[${at}][${key}]`, value, wrong.join('; ')));
  });
  return errors;
}

function countError(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count > 0 ? undefined : "for 'in', 'notin' operators, values set can't be empty";
    case 'exists':
    case '!':
      return count === 0 ? undefined : 'values set must be empty for exists and does not exist';
    case '=':
    case '==':
    case '!=':
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
    case '>':
    case '<':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return operator satisfies never;
  }
}

function operatorOf(operator: string): LabelOperator {
  switch (operator) {
    case 'In':
      return 'in';
    case 'NotIn':
      return 'notin';
    case 'Exists':
      return 'exists';
    case 'DoesNotExist':
      return '!';
    default:
      throw badRequest(`${quote(operator)} is not a valid label selector operator`);
  }
}

/** A decimal number that fits in 64 bits. */
function int64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function byKey(a: LabelRequirement, b: LabelRequirement): number {
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}

class SelectorParser {
  readonly #tokens: readonly SelectorToken[];
  #at = 0;

  constructor(tokens: readonly SelectorToken[]) {
    this.#tokens = tokens;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return requirements;
    for (;;) {
      const first = this.#peek();
      if (!isName(first) && first.kind !== '!') {
        const where =
          requirements.length > 0 ? "identifier after ','" : "!, identifier, or 'end of string'";
        throw unexpected(first, where);
      }
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next.kind === 'end') return requirements;
      if (next.kind !== ',') throw unexpected(next, "',' or 'end of string'");
    }
  }

  #requirement(): LabelRequirement {
    try {
      const isNegated = this.#accept('!');
      const name = this.#next();
      if (!isName(name)) throw unexpected(name, 'identifier');
      const wrong = qualifiedNameErrors(name.text);
      // The server names no field here.
      if (wrong.length > 0) {
        throw badRequest(formatFieldErrors([invalidValue('<nil>', name.text, wrong.join('; '))]));
      }
      if (isNegated) return requirement(name.text, '!', []);
      const next = this.#peek();
      if (next.kind === ',' || next.kind === 'end') return requirement(name.text, 'exists', []);
      return this.#comparison(name.text);
    } catch (error) {
      throw badRequest(`unable to parse requirement: ${(error as ApiStatusError).message}`, error);
    }
  }

  #comparison(key: string): LabelRequirement {
    const { kind, text } = this.#next();
    if (kind === 'in' || kind === 'notin') return requirement(key, kind, this.#values());
    if (kind === '=' || kind === '==' || kind === '!=' || kind === '>' || kind === '<') {
      return requirement(key, kind, [this.#value()]);
    }
    throw badRequest(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  /** One value; a comma or the end means the empty value. */
  #value(): string {
    const next = this.#peek();
    if (next.kind === ',' || next.kind === 'end') return '';
    this.#at++;
    if (!isName(next)) throw unexpected(next, 'identifier');
    return next.text;
  }

  /** `(a, b)`; nothing between commas or parentheses means the empty value. */
  #values(): readonly string[] {
    const open = this.#next();
    if (open.kind !== '(') throw badRequest(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      const next = this.#peek();
      if (isName(next)) values.push(this.#next().text);
      else if (next.kind === ',' || next.kind === ')') values.push('');
      else throw unexpected(next, "',', ')' or identifier");
      const separator = this.#next();
      if (separator.kind === ')') return values;
      if (separator.kind !== ',') throw unexpected(separator, "',' or ')'");
    }
  }

  #peek(): SelectorToken {
    return this.#tokens[this.#at] ?? END;
  }

  #next(): SelectorToken {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #accept(kind: SelectorToken['kind']): boolean {
    if (this.#peek().kind !== kind) return false;
    this.#at++;
    return true;
  }
}

const END: SelectorToken = { kind: 'end', text: '' };

/** Words of operators are names too, where a name is expected. */
function isName(token: SelectorToken): boolean {
  return token.kind === 'name' || token.kind === 'in' || token.kind === 'notin';
}

function unexpected(token: SelectorToken, expected: string): ApiStatusError {
  return badRequest(`found '${token.text}', expected: ${expected}`);
}
