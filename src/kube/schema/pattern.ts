/**
 * Patterns of schemas, in RE2 syntax as the API server takes them. RE2JS matches in linear time,
 * so no schema and no value can stall the server. A pattern is compiled when it is first needed
 * and lives as long as the schema that holds it.
 */
import { type CompiledPattern, compilePattern } from '../pattern-cache.ts';

const COMPILED = new WeakMap<object, CompiledPattern>();

/** Whether `value` holds a match of `pattern`, which belongs to `schema`. */
export function matchesPattern(
  schema: object,
  pattern: string,
  value: string,
): 'matches' | 'differs' | 'malformed' {
  let compiled = COMPILED.get(schema);
  if (compiled === undefined) {
    compiled = compilePattern(pattern);
    COMPILED.set(schema, compiled);
  }
  if ('defect' in compiled) return 'malformed';
  return compiled.pattern.test(value) ? 'matches' : 'differs';
}
