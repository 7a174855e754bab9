/**
 * Patterns of schemas, in RE2 syntax as the API server takes them. RE2JS matches in linear time,
 * so no schema and no value can stall the server. A pattern is compiled when it is first needed
 * and lives as long as the schema that holds it.
 */
import { RE2JS } from 're2js';

type Compiled = { readonly pattern: RE2JS } | { readonly defect: string };

const COMPILED = new WeakMap<object, Compiled>();

/** Whether `value` holds a match of `pattern`, which belongs to `schema`. */
export function matchesPattern(
  schema: object,
  pattern: string,
  value: string,
): 'matches' | 'differs' | 'malformed' {
  let compiled = COMPILED.get(schema);
  if (compiled === undefined) {
    compiled = compile(pattern);
    COMPILED.set(schema, compiled);
  }
  if ('defect' in compiled) return 'malformed';
  return compiled.pattern.test(value) ? 'matches' : 'differs';
}

/** Why `pattern` is no regular expression of RE2; undefined if it is one. */
export function patternDefect(pattern: string): string | undefined {
  const compiled = compile(pattern);
  return 'defect' in compiled ? compiled.defect : undefined;
}

function compile(pattern: string): Compiled {
  try {
    return { pattern: RE2JS.compile(pattern) };
  } catch (error) {
    return { defect: error instanceof Error ? error.message : String(error) };
  }
}
