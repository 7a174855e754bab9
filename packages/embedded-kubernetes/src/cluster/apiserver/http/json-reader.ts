/** A JSON parser that reports what JSON.parse hides. */
import { MAX_JSON_DEPTH } from '@lockstep/kube/json/json-depth.ts';
import { setMember } from '@lockstep/kube/json/json-value.ts';

/**
 * The result of reading JSON as an API server does. Duplicate members are named, where JSON.parse
 * would silently keep the last; the last value counts here too. Nesting is bounded, and errors have
 * the words of Go's decoder, which users of Kubernetes know.
 */
export interface JsonText {
  readonly value: unknown;
  /** Paths of duplicate members, such as `metadata.labels.app`. */
  readonly duplicates: readonly string[];
}

/** The text is not JSON, or nested too deeply; the message says where. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

export function readJson(text: string): JsonText {
  const reader = new JsonReader(text);
  return { value: reader.readAll(), duplicates: reader.duplicates };
}

/** A hostile text may repeat thousands of members; naming some is enough to refuse it. */
const MAX_DUPLICATES = 32;

/** Characters that need no escape in a string: no quote, no backslash, no control character. */
const PLAIN_CHARACTERS = /[ !#-[\]-\uffff]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const UNICODE_ESCAPE = /u[0-9a-fA-F]{4}/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class JsonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  readonly #path: string[] = [];
  readonly duplicates: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): unknown {
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return value;
  }

  #value(): unknown {
    this.#skipSpace();
    const first = this.#text[this.#at];
    switch (first ?? '') {
      case '{':
        return this.#nested(() => this.#object());
      case '[':
        return this.#nested(() => this.#array());
      case '"':
        return this.#string();
      case 't':
        return this.#literal('true', true);
      case 'f':
        return this.#literal('false', false);
      case 'n':
        return this.#literal('null', null);
      default:
        return this.#number();
    }
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MAX_JSON_DEPTH) {
      throw new JsonSyntaxError(`exceeded max depth of ${MAX_JSON_DEPTH}`);
    }
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at++;
    this.#skipSpace();
    if (this.#accept('}')) return object;
    for (;;) {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') {
        throw this.#unexpected('looking for beginning of object key string');
      }
      const name = this.#string();
      this.#skipSpace();
      if (!this.#accept(':')) throw this.#unexpected('after object key');
      this.#path.push(this.#path.length === 0 ? name : `.${name}`);
      if (Object.hasOwn(object, name) && this.duplicates.length < MAX_DUPLICATES) {
        this.duplicates.push(this.#path.join(''));
      }
      setMember(object, name, this.#value());
      this.#path.pop();
      this.#skipSpace();
      if (this.#accept('}')) return object;
      if (!this.#accept(',')) throw this.#unexpected('after object key:value pair');
    }
  }

  #array(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#accept(']')) return items;
    for (;;) {
      this.#path.push(`[${items.length}]`);
      items.push(this.#value());
      this.#path.pop();
      this.#skipSpace();
      if (this.#accept(']')) return items;
      if (!this.#accept(',')) throw this.#unexpected('after array element');
    }
  }

  #string(): string {
    this.#at++;
    let value = '';
    for (;;) {
      const plain = this.#skip(PLAIN_CHARACTERS);
      value = value === '' ? plain : value + plain;
      if (this.#accept('"')) return value;
      if (!this.#accept('\\')) throw this.#unexpected('in string literal');
      value += this.#escape();
    }
  }

  #escape(): string {
    const character = this.#text[this.#at] ?? '';
    if (character === 'u') {
      const sequence = this.#skip(UNICODE_ESCAPE);
      if (sequence === '') throw this.#unexpected('in \\u hexadecimal character escape');
      return String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
    }
    const escaped = Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : undefined;
    if (escaped === undefined) throw this.#unexpected('in string escape code');
    this.#at++;
    return escaped;
  }

  #literal<T>(word: string, value: T): T {
    for (const expected of word) {
      if (!this.#accept(expected)) {
        throw this.#unexpected(`in literal ${word} (expecting '${expected}')`);
      }
    }
    return value;
  }

  #number(): number {
    const digits = this.#skip(NUMBER);
    if (digits === '') {
      const isSign = this.#accept('-');
      throw this.#unexpected(isSign ? 'in numeric literal' : 'looking for beginning of value');
    }
    return Number(digits);
  }

  #accept(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** Skips what a sticky expression matches here, and returns it; it may be empty. */
  #skip(expression: RegExp): string {
    const start = this.#at;
    expression.lastIndex = start;
    if (!expression.test(this.#text)) return '';
    this.#at = expression.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #unexpected(where: string): JsonSyntaxError {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return new JsonSyntaxError('unexpected end of JSON input');
    const character = String.fromCodePoint(point);
    const shown =
      point < 0x20 ? JSON.stringify(character).slice(1, -1) : character === "'" ? "\\'" : character;
    return new JsonSyntaxError(`invalid character '${shown}' ${where}`);
  }
}
