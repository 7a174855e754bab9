/**
 * Limits of one expression. Kubernetes has the same limits (`k8s.io/apiserver/pkg/apis/cel` and the
 * parser of cel-go), so a real API server refuses the same rules. A unit of cost is about one step of
 * evaluation: a variable read, a field selected, a function called, ten characters looked at.
 */

/** The limit of cel-go's parser. */
export const MAX_EXPRESSION_CHARACTERS = 100_000;

/** Nesting of parentheses, calls and literals, as in cel-go. It bounds the parser's recursion. */
export const MAX_NESTING = 250;

/**
 * A chain such as `a + b + c` nests to the left without parentheses. This bounds its depth, and so
 * the recursion of everything after the parser.
 */
export const MAX_DEPTH = 1_000;

/** The most that one evaluation may cost. */
export const MAX_EVALUATION_COST = 1_000_000;

/** The most that all rules of one object may cost together. */
export const MAX_OBJECT_COST = 10_000_000;

/**
 * The most that one rule may cost in the worst case, over all the values that it is evaluated for.
 */
export const MAX_ESTIMATED_RULE_COST = 10_000_000;

/** The most that all rules of one schema may cost together, in the worst case. */
export const MAX_ESTIMATED_SCHEMA_COST = 100_000_000;

/** The largest body that an API server accepts, so no value can be larger. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** Looking at one character costs a tenth of a step. */
export const CHARACTER_COST = 0.1;
