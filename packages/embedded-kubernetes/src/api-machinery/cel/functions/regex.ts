/**
 * Regular expressions in the syntax of RE2, matched in linear time. A literal pattern is compiled
 * once for its expression; others go through a small cache.
 */

import { PatternCache } from '@lockstep/kube/pattern-cache.ts';
import type { RE2JS } from 're2js';
import { type Budget, COST_EXCEEDED } from '../budget.ts';
import { CHARACTER_COST } from '../limits.ts';
import { INT, type Overload, overload, STRING } from '../overload.ts';
import { BOOL_TYPE, listOf, STRING_TYPE } from '../type.ts';
import { CelError, CelList, type CelResult } from '../value.ts';

/** The cost of running a pattern, which is a program, over every character. */
const MATCHING = {
  cost: ([text = 0, pattern = 0]: readonly number[]) =>
    1 + (1 + text) * CHARACTER_COST * (1 + pattern * PATTERN_COST) + pattern,
  resultSize: ([text = 0]: readonly number[]) => text,
};
/** The value in cel-go. */
const PATTERN_COST = 0.25;

export const REGEX_FUNCTIONS: readonly Overload[] = [
  ...['matches', '.matches'].map((name) =>
    overload(
      name,
      [STRING, STRING],
      BOOL_TYPE,
      ([text, pattern], budget) => matches(text, pattern, budget),
      {
        ...MATCHING,
        resultSize: () => 1,
      },
    ),
  ),
  overload(
    '.find',
    [STRING, STRING],
    STRING_TYPE,
    ([text, pattern], budget) => find(text, pattern, budget),
    MATCHING,
  ),
  overload(
    '.findAll',
    [STRING, STRING],
    listOf(STRING_TYPE),
    ([text, pattern], budget) => findAll(text, pattern, -1n, budget),
    MATCHING,
  ),
  overload(
    '.findAll',
    [STRING, STRING, INT],
    listOf(STRING_TYPE),
    ([text, pattern, limit], budget) => findAll(text, pattern, limit, budget),
    MATCHING,
  ),
];

/** Whether `text` is a valid RE2 pattern. */
export function isPattern(text: string): boolean {
  return !(compiledPattern(text) instanceof CelError);
}

/** The cache is bounded in instructions. A heavier pattern is compiled each time. */
const CACHE = new PatternCache(20_000);

function compiledPattern(pattern: string): RE2JS | CelError {
  const compiled = CACHE.compiled(pattern);
  return 'pattern' in compiled ? compiled.pattern : new CelError(compiled.defect);
}

/**
 * The pattern, if its program can run over `text` within the budget. Repetitions make a program
 * longer than its pattern, which the cost of the call does not include.
 */
function runnable(text: string, pattern: string, budget: Budget): RE2JS | CelError {
  const compiled = compiledPattern(pattern);
  if (compiled instanceof CelError) return compiled;
  const excess = Math.max(0, compiled.programSize() - pattern.length);
  const cost = text.length * CHARACTER_COST * excess * PATTERN_COST;
  return budget.spend(cost) ? compiled : COST_EXCEEDED;
}

function matches(text: string, pattern: string, budget: Budget): CelResult {
  const compiled = runnable(text, pattern, budget);
  return compiled instanceof CelError ? compiled : compiled.test(text);
}

function find(text: string, pattern: string, budget: Budget): CelResult {
  const compiled = runnable(text, pattern, budget);
  if (compiled instanceof CelError) return compiled;
  const matcher = compiled.matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

/** Pays for each match, which may look at all that follows it. */
function findAll(text: string, pattern: string, limit: bigint, budget: Budget): CelResult {
  const compiled = runnable(text, pattern, budget);
  if (compiled instanceof CelError) return compiled;
  const matcher = compiled.matcher(text);
  const found: string[] = [];
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) {
    found.push(matcher.group() ?? '');
    if (!budget.spend((text.length - matcher.start()) * CHARACTER_COST)) return COST_EXCEEDED;
  }
  return CelList.of(found);
}
