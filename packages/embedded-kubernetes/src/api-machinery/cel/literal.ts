/** Types of literals, and literals that a function cannot take. */
import { parseDuration } from './duration.ts';
import { isPattern } from './functions/regex.ts';
import type { CelIssue, Literal, Syntax } from './syntax.ts';
import { parseTimestamp } from './timestamp.ts';
import { BOOL_TYPE, type CelType, DOUBLE_TYPE, INT_TYPE, NULL_TYPE, UINT_TYPE } from './type.ts';
import { Uint } from './value.ts';

export function literalType(value: Literal): CelType {
  if (value === null) return NULL_TYPE;
  if (typeof value === 'boolean') return BOOL_TYPE;
  if (typeof value === 'bigint') return INT_TYPE;
  if (typeof value === 'number') return DOUBLE_TYPE;
  if (value instanceof Uint) return UINT_TYPE;
  const maxSize = value.length;
  return { kind: typeof value === 'string' ? 'string' : 'bytes', maxSize };
}

/** Problems of a literal as the first argument of the function, or method, of that name. */
export function literalIssues(name: string, argument: Syntax | undefined): readonly CelIssue[] {
  const check = CHECKS.get(name);
  if (check === undefined || argument?.kind !== 'Literal') return [];
  const { value, at } = argument;
  if (typeof value !== 'string' || check(value)) return [];
  return [{ at, message: `invalid ${name.replace('.', '')} argument` }];
}

const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['duration', (text) => parseDuration(text) !== undefined],
  ['timestamp', (text) => parseTimestamp(text) !== undefined],
  ['.matches', isPattern],
  ['.find', isPattern],
  ['.findAll', isPattern],
]);
