/** Patterns of failure-policy rules. */
import { PatternCache } from '@lockstep/kube/pattern-cache.ts';
import { patternWeight } from '@lockstep/kube/pattern-weight.ts';

/**
 * Patterns have RE2 syntax and are unanchored. Matching takes linear time, so that no pattern and no
 * message can stall the controller. Admission refuses patterns that are invalid or too heavy; an
 * older stored one matches nothing.
 */
export function findsPattern(pattern: string, text: string): boolean {
  if (patternWeight(pattern) > MAX_PATTERNS_WEIGHT) return false;
  const compiled = COMPILED.compiled(pattern);
  return 'pattern' in compiled && compiled.pattern.test(text);
}

/** Why `pattern` is not a regular expression of RE2; undefined if it is one. */
export function patternDefect(pattern: string): string | undefined {
  const compiled = COMPILED.compiled(pattern);
  return 'defect' in compiled ? compiled.defect : undefined;
}

/**
 * The most that all patterns of a JobSet may weigh: any user who may create a JobSet may have us
 * compile them, which takes at most this many tens of microseconds.
 */
export const MAX_PATTERNS_WEIGHT = 5_000;

/** The cache takes some 40 MiB at most, and usually a hundredth of it. */
const COMPILED = new PatternCache(10_000);
