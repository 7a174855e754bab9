/** The syntax tree of an expression, which the parser makes and the checker reads. */
import type { Uint } from './value.ts';

/** `at` is where errors about a node are shown: an offset into the source, in UTF-16 units. */
export type Syntax =
  | { readonly kind: 'Literal'; readonly at: number; readonly value: Literal }
  | { readonly kind: 'Name'; readonly at: number; readonly name: string }
  | {
      readonly kind: 'Select';
      readonly at: number;
      readonly operand: Syntax;
      readonly field: string;
      /** `a.?b` */
      readonly isOptional: boolean;
    }
  | CallSyntax
  | { readonly kind: 'List'; readonly at: number; readonly items: readonly ItemSyntax[] }
  | { readonly kind: 'Map'; readonly at: number; readonly entries: readonly EntrySyntax[] }
  | {
      /** A whole chain of `&&` or `||` is one node, so that a long chain is not deep. */
      readonly kind: 'And' | 'Or';
      readonly at: number;
      readonly operands: readonly Syntax[];
    };

export type Literal = null | boolean | bigint | number | string | Uint8Array | Uint;

/** A function, a method (with a receiver), a macro, or an operator such as `_+_`. */
export interface CallSyntax {
  readonly kind: 'Call';
  readonly at: number;
  readonly name: string;
  readonly receiver: Syntax | undefined;
  readonly args: readonly Syntax[];
}

export interface ItemSyntax {
  readonly value: Syntax;
  /** `[?a]`: left out if the optional is empty. */
  readonly isOptional: boolean;
}

export interface EntrySyntax extends ItemSyntax {
  readonly key: Syntax;
}

/** Why a source is not a valid expression, and where. */
export interface CelIssue {
  readonly at: number;
  readonly message: string;
}

/** Thrown by lexer and parser, caught by `parseExpression`. */
export class SyntaxFault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** An error of the grammar, as opposed to one of types or names. */
export function syntaxError(at: number, message: string): SyntaxFault {
  return new SyntaxFault(at, `Syntax error: ${message}`);
}

/** Issues as cel-go shows them, each with its line and a mark below it. */
export function describeIssues(source: string, issues: readonly CelIssue[]): string {
  return issues.map((issue) => describeIssue(source, issue)).join('\n');
}

/** The part of a line that messages show. */
const MAX_SHOWN_CHARACTERS = 1_000;

function describeIssue(source: string, { at, message }: CelIssue): string {
  const before = source.slice(0, at);
  const line = before.split('\n').length;
  const lineStart = before.lastIndexOf('\n') + 1;
  const column = Array.from(before.slice(lineStart)).length;
  const place = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  const lineEnd = source.indexOf('\n', at);
  const shown = source.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
  if (shown.length > MAX_SHOWN_CHARACTERS) return place;
  return `${place}\n | ${shown}\n | ${'.'.repeat(column)}^`;
}
