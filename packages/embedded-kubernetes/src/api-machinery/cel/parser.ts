/**
 * The grammar of CEL (`cel-spec`, langdef). Recursion is bounded by `MAX_NESTING`; chains of
 * operators are loops, bounded by `MAX_DEPTH`.
 */
import { assert } from '@lockstep/kube/assert.ts';
import { type Token, tokenize } from './lexer.ts';
import { MAX_DEPTH, MAX_EXPRESSION_CHARACTERS, MAX_NESTING } from './limits.ts';
import {
  type CelIssue,
  type EntrySyntax,
  type ItemSyntax,
  type Syntax,
  SyntaxFault,
  syntaxError,
} from './syntax.ts';

/** Parses `source`, or returns why it is not an expression. */
export function parseExpression(source: string): Syntax | CelIssue {
  if (source.length > MAX_EXPRESSION_CHARACTERS) {
    const size = Array.from(source).length;
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_EXPRESSION_CHARACTERS}`;
    return { at: 0, message };
  }
  try {
    const syntax = new Parser(tokenize(source)).parse();
    if (!isDeeper(syntax, MAX_DEPTH)) return syntax;
    return { at: 0, message: `expression recursion limit exceeded: ${MAX_DEPTH}` };
  } catch (error) {
    if (error instanceof SyntaxFault) return { at: error.at, message: error.message };
    throw error;
  }
}

function isDeeper(syntax: Syntax, limit: number): boolean {
  if (limit === 0) return true;
  return partsOf(syntax).some((part) => isDeeper(part, limit - 1));
}

function partsOf(syntax: Syntax): readonly Syntax[] {
  switch (syntax.kind) {
    case 'Literal':
    case 'Name':
      return [];
    case 'Select':
      return [syntax.operand];
    case 'Call':
      return syntax.receiver === undefined ? syntax.args : [syntax.receiver, ...syntax.args];
    case 'List':
      return syntax.items.map(({ value }) => value);
    case 'Map':
      return syntax.entries.flatMap(({ key, value }) => [key, value]);
    case 'And':
    case 'Or':
      return syntax.operands;
  }
}

const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Binary operators by precedence, the weakest first; `&&`, `||` and `?:` are weaker still. */
const BINARY: readonly ReadonlyMap<string, string>[] = [
  new Map([
    ['==', '_==_'],
    ['!=', '_!=_'],
    ['<', '_<_'],
    ['<=', '_<=_'],
    ['>', '_>_'],
    ['>=', '_>=_'],
    ['in', '@in'],
  ]),
  new Map([
    ['+', '_+_'],
    ['-', '_-_'],
  ]),
  new Map([
    ['*', '_*_'],
    ['/', '_/_'],
    ['%', '_%_'],
  ]),
];

/** The tokens that may begin an operand, in cel-go's order. */
const OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Syntax {
    const whole = this.#expression();
    const rest = this.#peek();
    if (rest.kind !== 'End') throw unexpected(rest, '<EOF>');
    return whole;
  }

  #peek(): Token {
    const token = this.#tokens[Math.min(this.#next, this.#tokens.length - 1)];
    assert(token !== undefined, 'the last token is an End');
    return token;
  }

  /** Takes the next token if it is this symbol. */
  #take(symbol: string): Token | undefined {
    const token = this.#peek();
    if (token.kind !== 'Symbol' || token.text !== symbol) return undefined;
    this.#next++;
    return token;
  }

  #expect(symbol: string): Token {
    const token = this.#take(symbol);
    if (token !== undefined) return token;
    const { at, text } = this.#peek();
    throw syntaxError(at, `missing '${symbol}' at '${text}'`);
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > MAX_NESTING) {
      const message = `expression recursion limit exceeded: ${MAX_NESTING}`;
      throw new SyntaxFault(this.#peek().at, message);
    }
    const result = parse();
    this.#depth--;
    return result;
  }

  #expression(): Syntax {
    return this.#nested(() => {
      const test = this.#logical('Or');
      const question = this.#take('?');
      if (question === undefined) return test;
      const chosen = this.#logical('Or');
      this.#expect(':');
      return call('_?_:_', question.at, [test, chosen, this.#expression()]);
    });
  }

  #logical(kind: 'And' | 'Or'): Syntax {
    const operand = () => (kind === 'Or' ? this.#logical('And') : this.#binary(0));
    const operands = [operand()];
    let at: number | undefined;
    for (;;) {
      const token = this.#take(kind === 'Or' ? '||' : '&&');
      if (token === undefined) break;
      at ??= token.at;
      operands.push(operand());
    }
    const [first] = operands;
    return at === undefined && first !== undefined ? first : { kind, at: at ?? 0, operands };
  }

  #binary(level: number): Syntax {
    const operators = BINARY[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const token = this.#peek();
      const name = token.kind === 'Symbol' ? operators.get(token.text) : undefined;
      if (name === undefined) return left;
      this.#next++;
      left = call(name, token.at, [left, this.#binary(level + 1)]);
    }
  }

  #unary(): Syntax {
    const sign = this.#take('!') ?? this.#take('-');
    if (sign === undefined) return this.#postfix();
    if (sign.text === '-') {
      const number = this.#negativeLiteral();
      if (number !== undefined) return this.#postfix(number);
    }
    return this.#nested(() => call(sign.text === '!' ? '!_' : '-_', sign.at, [this.#unary()]));
  }

  /** `-1` is one literal: the least int has no positive counterpart. */
  #negativeLiteral(): Syntax | undefined {
    const token = this.#peek();
    if (token.kind !== 'Literal') return undefined;
    const { value } = token;
    if (typeof value !== 'bigint' && typeof value !== 'number') return undefined;
    this.#next++;
    return { kind: 'Literal', at: token.at, value: -value };
  }

  #postfix(start?: Syntax): Syntax {
    let operand = start ?? this.#primary();
    for (;;) {
      const dot = this.#take('.');
      const bracket = dot === undefined ? this.#take('[') : undefined;
      if (dot !== undefined) operand = this.#member(operand, dot.at);
      else if (bracket !== undefined) operand = this.#index(operand, bracket.at);
      else return operand;
    }
  }

  #member(operand: Syntax, at: number): Syntax {
    const isOptional = this.#take('?') !== undefined;
    const token = this.#peek();
    if (token.kind !== 'Name') throw unexpected(token, 'IDENTIFIER');
    this.#next++;
    const open = isOptional ? undefined : this.#take('(');
    if (open === undefined) return { kind: 'Select', at, operand, field: token.text, isOptional };
    const args = this.#list(')', () => this.#expression());
    return { kind: 'Call', at: open.at, name: token.text, receiver: operand, args };
  }

  #index(operand: Syntax, at: number): Syntax {
    const isOptional = this.#take('?') !== undefined;
    const index = this.#expression();
    this.#expect(']');
    return call(isOptional ? '_[?_]' : '_[_]', at, [operand, index]);
  }

  #primary(): Syntax {
    const token = this.#peek();
    const { at } = token;
    if (token.kind === 'Literal') {
      this.#next++;
      return { kind: 'Literal', at, value: intLiteral(token) };
    }
    if (this.#take('(') !== undefined) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#take('[') !== undefined) {
      return { kind: 'List', at, items: this.#list(']', () => this.#item()) };
    }
    if (this.#take('{') !== undefined) {
      return { kind: 'Map', at, entries: this.#list('}', () => this.#entry()) };
    }
    this.#take('.');
    return this.#name();
  }

  #name(): Syntax {
    const token = this.#peek();
    const { at, text } = token;
    if (token.kind !== 'Name') throw unexpected(token, OPERAND);
    this.#next++;
    const open = this.#take('(');
    if (open !== undefined) {
      const args = this.#list(')', () => this.#expression());
      return { kind: 'Call', at: open.at, name: text, receiver: undefined, args };
    }
    if (RESERVED.has(text)) throw new SyntaxFault(at, `reserved identifier: ${text}`);
    return { kind: 'Name', at, name: text };
  }

  #item(): ItemSyntax {
    const isOptional = this.#take('?') !== undefined;
    return { value: this.#expression(), isOptional };
  }

  #entry(): EntrySyntax {
    const isOptional = this.#take('?') !== undefined;
    const key = this.#expression();
    this.#expect(':');
    return { key, value: this.#expression(), isOptional };
  }

  /** Parses items between commas up to `close`; a trailing comma is allowed. */
  #list<T>(close: string, parse: () => T): readonly T[] {
    const items: T[] = [];
    while (this.#take(close) === undefined) {
      items.push(parse());
      if (this.#take(',') !== undefined) continue;
      this.#expect(close);
      break;
    }
    return items;
  }
}

function call(name: string, at: number, args: readonly Syntax[]): Syntax {
  return { kind: 'Call', at, name, receiver: undefined, args };
}

const MAX_INT = 2n ** 63n - 1n;

function intLiteral({ at, value }: Extract<Token, { kind: 'Literal' }>) {
  if (typeof value === 'bigint' && value > MAX_INT)
    throw new SyntaxFault(at, 'invalid int literal');
  return value;
}

function unexpected(token: Token, expected: string): SyntaxFault {
  return syntaxError(token.at, `mismatched input '${token.text}' expecting ${expected}`);
}
