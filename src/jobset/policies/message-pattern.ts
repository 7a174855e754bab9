import { PatternCache } from '../../kube/pattern-cache.ts';
import { patternWeight } from '../../kube/pattern-weight.ts';

/**
 * Patterns of failure-policy rules, in RE2 syntax: unanchored, matched in linear time, so that no pattern
 * and no message can stall the controller. Admission refuses patterns that are none or too heavy; one that
 * is here all the same, from before there was an admission, matches nothing.
 */
export function findsPattern(pattern: string, text: string): boolean {
  if (patternWeight(pattern) > MAX_PATTERNS_WEIGHT) return false;
  const compiled = COMPILED.compiled(pattern);
  return 'pattern' in compiled && compiled.pattern.test(text);
}

/** Why `pattern` is no regular expression of RE2; undefined if it is one. */
export function patternDefect(pattern: string): string | undefined {
  const compiled = COMPILED.compiled(pattern);
  return 'defect' in compiled ? compiled.defect : undefined;
}

/**
 * The most that all patterns of a JobSet may weigh: everybody who may create a JobSet may have us compile
 * them, which takes this many tens of microseconds at most.
 */
export const MAX_PATTERNS_WEIGHT = 5_000;

/** All that is kept takes some 40 MiB at most, and usually a hundredth of it. */
const COMPILED = new PatternCache(10_000);
