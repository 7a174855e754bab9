import { badRequest } from '../status-errors.ts';

/**
 * Field selectors: `metadata.name=x,status.phase!=Running`. A `\` escapes a comma, an equals sign
 * or a backslash in a value (`k8s.io/apimachinery/pkg/fields`). The server of a resource decides
 * which fields can be used.
 */
export type FieldRequirements = readonly FieldRequirement[];

export interface FieldRequirement {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Throws 400 `BadRequest` for an invalid text. The empty text selects everything. */
export function parseFieldSelector(text: string): FieldRequirements {
  return splitTerms(text)
    .toSorted()
    .map((term) => requirementIn(term, text))
    .filter(({ field, value }) => field !== '' || value !== '');
}

/** `fieldOf` returns the value of a field, or the empty text for an absent one. */
export function matchesFields(
  selector: FieldRequirements,
  fieldOf: (field: string) => string | undefined,
): boolean {
  return selector.every(
    ({ field, isEqual, value }) => ((fieldOf(field) ?? '') === value) === isEqual,
  );
}

export function formatFieldSelector(selector: FieldRequirements): string {
  return selector
    .map(({ field, isEqual, value }) => `${field}${isEqual ? '=' : '!='}${escaped(value)}`)
    .join(',');
}

/** The value that the selector requires for `field`, if any. */
export function requiredValue(selector: FieldRequirements, field: string): string | undefined {
  return selector.find((term) => term.field === field && term.isEqual)?.value;
}

function requirementIn(term: string, selector: string): FieldRequirement {
  const operator = /!=|==|=/.exec(term);
  if (operator === null) {
    throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  }
  return {
    field: term.slice(0, operator.index),
    isEqual: operator[0] !== '!=',
    value: unescaped(term.slice(operator.index + operator[0].length)),
  };
}

/** Splits at commas without a backslash before them. */
function splitTerms(text: string): readonly string[] {
  return text.match(/(?:[^\\,]|\\[\s\S]|\\$)+/g) ?? [];
}

function unescaped(value: string): string {
  const bare = /(?:^|[^\\])(?:\\\\)*([,=])/.exec(value);
  if (bare !== null) {
    throw badRequest(`invalid field selector: unescaped character in value: ${bare[1]}`);
  }
  return value.replace(/\\([\s\S]?)/gu, (sequence, character: string) => {
    if (/^[\\,=]$/.test(character)) return character;
    throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`);
  });
}

function escaped(value: string): string {
  return value.replace(/[\\,=]/g, (character) => `\\${character}`);
}
