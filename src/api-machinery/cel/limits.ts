/**
 * What one expression may be and do. Kubernetes has the same limits (`k8s.io/apiserver/pkg/apis/cel`
 * and the parser of cel-go), so a rule that is refused here would be refused by a real API server.
 * A unit of cost is about one step of evaluation: a variable read, a field selected, a function
 * called, ten characters looked at.
 */

/** The parser of cel-go reads no more. */
export const MAX_EXPRESSION_CHARACTERS = 100_000;

/** Nesting of parentheses, calls and literals, as cel-go has it. It bounds the parser's recursion. */
export const MAX_NESTING = 250;

/**
 * A chain such as `a + b + c` nests to the left without parentheses. This bounds the depth of the
 * whole, and so the recursion of everything after the parser.
 */
export const MAX_DEPTH = 1_000;

/** One evaluation ends when it has cost more. */
export const MAX_EVALUATION_COST = 1_000_000;

/** All rules of one object together. */
export const MAX_OBJECT_COST = 10_000_000;

/** What one rule may cost in the worst case, over all the values that it is evaluated for. */
export const MAX_ESTIMATED_RULE_COST = 10_000_000;

/** The same for all rules of one schema together. */
export const MAX_ESTIMATED_SCHEMA_COST = 100_000_000;

/** What an API server accepts as a body: no value in it can be larger. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** Looking at one character costs a tenth of a step. */
export const CHARACTER_COST = 0.1;
