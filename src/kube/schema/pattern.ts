/**
 * Patterns of schemas, in RE2 syntax as the API server takes them. RE2JS matches in linear time,
 * so no schema and no value can stall the server. A pattern is compiled when it is first needed
 * and lives as long as the schema that holds it.
 */
import { RE2JS } from 're2js';

const COMPILED = new WeakMap<object, RE2JS | 'malformed'>();

/** Whether `value` holds a match of `pattern`, which belongs to `schema`. */
export function matchesPattern(
  schema: object,
  pattern: string,
  value: string,
): 'matches' | 'differs' | 'malformed' {
  let compiled = COMPILED.get(schema);
  if (compiled === undefined) {
    compiled = compilePattern(pattern) ?? 'malformed';
    COMPILED.set(schema, compiled);
  }
  if (compiled === 'malformed') return 'malformed';
  return compiled.test(value) ? 'matches' : 'differs';
}

/** Undefined if `pattern` is no regular expression of RE2. */
export function compilePattern(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    // The compiler reports every defect of the pattern by throwing, and nothing else.
    return undefined;
  }
}
