/** A word or a symbol of a label selector. */
export interface SelectorToken {
  readonly kind: SelectorSymbol | 'in' | 'notin' | 'name' | 'end';
  /** As written. */
  readonly text: string;
}

type SelectorSymbol = (typeof SYMBOLS)[number];

/** Longest first, so that `==` is not read as two. */
const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'] as const;

/**
 * Splits a selector into tokens, the last of which is `end`. Never fails, because any text is a
 * name.
 */
export function lexSelector(text: string): readonly SelectorToken[] {
  const tokens: SelectorToken[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (WHITE_SPACE.test(character)) {
      at++;
      continue;
    }
    const symbol = SYMBOLS.find((candidate) => text.startsWith(candidate, at));
    const token = symbol === undefined ? wordAt(text, at) : { kind: symbol, text: symbol };
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

const WHITE_SPACE = /[ \t\r\n]/;
const WORD_END = /[ \t\r\n=!(),<>]/;

function wordAt(text: string, start: number): SelectorToken {
  let end = start;
  while (end < text.length && !WORD_END.test(text.charAt(end))) end++;
  const word = text.slice(start, end);
  return { kind: word === 'in' || word === 'notin' ? word : 'name', text: word };
}
