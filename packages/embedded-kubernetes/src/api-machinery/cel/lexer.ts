/** Splits the source of an expression into tokens. Linear in its length, without recursion. */
import { type Literal, SyntaxFault, syntaxError } from './syntax.ts';
import { Uint } from './value.ts';

export type Token =
  | { readonly kind: 'Symbol'; readonly at: number; readonly text: string }
  | { readonly kind: 'Name'; readonly at: number; readonly text: string }
  | {
      readonly kind: 'Literal';
      readonly at: number;
      readonly text: string;
      readonly value: Literal;
    }
  | { readonly kind: 'End'; readonly at: number; readonly text: string };

/** The tokens of `source`, the last one an `End`. Throws a `SyntaxFault`. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at = skipBlank(source, at);
    if (at >= source.length) break;
    const [token, end] = readToken(source, at);
    tokens.push(token);
    at = end;
  }
  tokens.push({ kind: 'End', at: source.length, text: '<EOF>' });
  return tokens;
}

type Read = readonly [token: Token, end: number];

const BLANK = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y;
const NAME = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const STRING_START = /(?:[rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;
const DOUBLE = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const INTEGER = /(0x[0-9a-fA-F]+|\d+)([uU]?)/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function skipBlank(source: string, at: number): number {
  return at + (matchAt(BLANK, source, at)?.[0].length ?? 0);
}

function readToken(source: string, at: number): Read {
  const opening = matchAt(STRING_START, source, at);
  if (opening !== null) return readString(source, at, opening[0]);
  const name = matchAt(NAME, source, at)?.[0];
  if (name !== undefined) return [wordToken(at, name), at + name.length];
  const double = matchAt(DOUBLE, source, at)?.[0];
  if (double !== undefined) {
    const value = Number(double);
    if (!Number.isFinite(value)) throw new SyntaxFault(at, 'invalid double literal');
    return [{ kind: 'Literal', at, text: double, value }, at + double.length];
  }
  const integer = matchAt(INTEGER, source, at);
  if (integer !== null) return readInteger(at, integer);
  const symbol = matchAt(SYMBOL, source, at)?.[0];
  if (symbol !== undefined) return [{ kind: 'Symbol', at, text: symbol }, at + symbol.length];
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  throw syntaxError(at, `token recognition error at: '${character}'`);
}

function wordToken(at: number, text: string): Token {
  switch (text) {
    case 'true':
      return { kind: 'Literal', at, text, value: true };
    case 'false':
      return { kind: 'Literal', at, text, value: false };
    case 'null':
      return { kind: 'Literal', at, text, value: null };
    case 'in':
      return { kind: 'Symbol', at, text };
    default:
      return { kind: 'Name', at, text };
  }
}

/** Texts with more digits are out of range anyway, and reading them takes more than linear time. */
const MAX_DIGITS = 40;
const MAX_UINT = 2n ** 64n - 1n;
/** One more than the largest int, because a minus sign may stand before the literal. */
const MAX_INT_LITERAL = 2n ** 63n;

function readInteger(at: number, match: RegExpExecArray): Read {
  const [text, digits = '', suffix = ''] = match;
  const value = digits.length > MAX_DIGITS ? MAX_UINT + 1n : BigInt(digits);
  const end = at + text.length;
  if (suffix !== '') {
    if (value > MAX_UINT) throw new SyntaxFault(at, 'invalid uint literal');
    return [{ kind: 'Literal', at, text, value: new Uint(value) }, end];
  }
  if (value > MAX_INT_LITERAL) throw new SyntaxFault(at, 'invalid int literal');
  return [{ kind: 'Literal', at, text, value }, end];
}

function readString(source: string, at: number, opening: string): Read {
  const delimiter = opening.replace(/^[rRbB]+/, '');
  const prefix = opening.slice(0, opening.length - delimiter.length).toLowerCase();
  const isRaw = prefix.includes('r');
  const start = at + opening.length;
  let end = start;
  while (!source.startsWith(delimiter, end)) {
    const isBroken = delimiter.length === 1 && /[\r\n]/.test(source[end] ?? '');
    if (end >= source.length || isBroken) {
      throw syntaxError(at, `token recognition error at: '${source.slice(at, end)}'`);
    }
    end += !isRaw && source[end] === '\\' ? 2 : 1;
  }
  const inner = source.slice(start, end);
  const text = source.slice(at, end + delimiter.length);
  const isBytes = prefix.includes('b');
  const value = isBytes ? bytesOf(inner, isRaw, at) : isRaw ? inner : unescaped(inner, at);
  return [{ kind: 'Literal', at, text, value }, at + text.length];
}

const ESCAPE =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]?))/g;

/** What one letter after a backslash means. */
export const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function unescaped(text: string, at: number): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    ESCAPE,
    (whole, short?: string, hex?: string, u4?: string, u8?: string, octal?: string) => {
      if (short !== undefined) return SHORT_ESCAPES[short] ?? short;
      const digits = hex ?? u4 ?? u8;
      if (digits === undefined && octal === undefined) {
        throw syntaxError(at, `invalid escape sequence '${whole}'`);
      }
      const code =
        octal === undefined ? Number.parseInt(digits ?? '', 16) : Number.parseInt(octal, 8);
      if (code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) {
        throw syntaxError(at, `invalid unicode code point '${whole}'`);
      }
      return String.fromCodePoint(code);
    },
  );
}

/** In bytes literals, `\x` and octal escapes are bytes; everything else is encoded as UTF-8. */
function bytesOf(text: string, isRaw: boolean, at: number): Uint8Array {
  const encoder = new TextEncoder();
  if (isRaw) return encoder.encode(text);
  const bytes: number[] = [];
  for (const part of text.split(/(\\(?:[xX][0-9a-fA-F]{2}|[0-3][0-7]{2}|\\))/)) {
    const byte = /^\\(?:[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2}))$/.exec(part);
    if (byte === null) bytes.push(...encoder.encode(unescaped(part, at)));
    else bytes.push(Number.parseInt(byte[1] ?? byte[2] ?? '', byte[1] === undefined ? 8 : 16));
  }
  return Uint8Array.from(bytes);
}
