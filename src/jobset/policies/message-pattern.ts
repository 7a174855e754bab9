import { RE2JS } from 're2js';

/**
 * Patterns of failure-policy rules, in RE2 syntax (spec 4.11): unanchored, matched in linear time,
 * so that no pattern and no message can stall the controller. Admission refuses patterns that are
 * none; one that is here all the same, from before there was an admission, matches nothing.
 */
export function findsPattern(pattern: string, text: string): boolean {
  return compiled(pattern)?.test(text) ?? false;
}

/** Compiled patterns that are kept: far more than the JobSets of a cluster have in use. */
const COMPILED_LIMIT = 1000;

/** Oldest first. Undefined: the pattern is none. */
const COMPILED = new Map<string, RE2JS | undefined>();

function compiled(pattern: string): RE2JS | undefined {
  if (COMPILED.has(pattern)) return COMPILED.get(pattern);
  if (COMPILED.size >= COMPILED_LIMIT) {
    for (const oldest of COMPILED.keys()) {
      COMPILED.delete(oldest);
      break;
    }
  }
  const made = compile(pattern);
  COMPILED.set(pattern, made);
  return made;
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}
