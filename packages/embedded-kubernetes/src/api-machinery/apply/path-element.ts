/**
 * One step of a field path in the notation of `FieldsV1`: `f:NAME` is a member of an object,
 * `k:{...}` a list element by its keys, `v:VALUE` an element of a set, `i:INDEX` an element by its
 * position. The text is canonical: two steps are equal if and only if their texts are.
 */

import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import { quote } from '@lockstep/kube/quote.ts';

export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** Fields in any order. */
export function keyElement(fields: Readonly<Record<string, unknown>>): PathElement {
  return `k:${keyText(fields)}`;
}

export function valueElement(value: unknown): PathElement {
  return `v:${jsonText(value)}`;
}

/** The step that a member of `FieldsV1` names; undefined for an unknown or malformed one. */
export function parsePathElement(text: string): PathElement | undefined {
  const content = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'k:': {
      const fields = parsedJson(content);
      const isKey = isJsonObject(fields) && Object.values(fields).every(isScalar);
      return isKey ? keyElement(fields) : undefined;
    }
    case 'v:': {
      const value = parsedJson(content);
      return isScalar(value) ? valueElement(value) : undefined;
    }
    case 'i:':
      return /^-?\d+$/.test(content) ? text : undefined;
    default:
      return undefined;
  }
}

/** The member that a step leads to; undefined for other steps. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/** The step as messages show it: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function showPathElement(element: PathElement): string {
  const content = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${content}`;
    case 'k:': {
      const fields = parsedJson(content);
      const shown = Object.entries(isJsonObject(fields) ? fields : {}).map(
        ([name, value]) => `${name}=${showValue(value)}`,
      );
      return `[${shown.join(',')}]`;
    }
    case 'v:':
      return `[=${showValue(parsedJson(content))}]`;
    default:
      return `[${content}]`;
  }
}

/** Members come first, then keys, values and indexes, each in their own order. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  const [kind, other] = [a.slice(0, 2), b.slice(0, 2)];
  if (kind !== other) return ORDER.indexOf(kind) - ORDER.indexOf(other);
  if (kind === 'f:') return compareTexts(a, b);
  const [x, y] = [parsedJson(a.slice(2)), parsedJson(b.slice(2))];
  return kind === 'k:' && isJsonObject(x) && isJsonObject(y)
    ? compareKeys(Object.entries(x), Object.entries(y))
    : compareValues(x, y);
}

const ORDER: readonly string[] = ['f:', 'k:', 'v:', 'i:'];

type Fields = readonly (readonly [name: string, value: unknown])[];

function compareKeys(a: Fields, b: Fields): number {
  for (const [at, [name, value]] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    const order = compareTexts(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers come before texts, texts before booleans. */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === typeof b) return compareTexts(String(a), String(b));
  return TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b);
}

const TYPES: readonly string[] = ['number', 'string', 'boolean', 'object'];

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function keyText(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields).toSorted();
  const members = names.map((name) => `${jsonText(name)}:${jsonText(fields[name])}`);
  return `{${members.join(',')}}`;
}

/** Writes JSON as Go does, which escapes what could be taken for an HTML tag. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}

/** Only scalars can identify elements. */
function isScalar(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || value === null);
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? quote(value) : String(value);
}
