/** Go's `%q`: how the API shows a string from outside in a message. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  let quoted = '';
  for (const character of text) quoted += escaped(character);
  return `"${quoted}"`;
}

/** A line as it is, except that control characters are escaped. */
export function printable(text: string): string {
  if (!/[^ -~]/.test(text)) return text;
  return Array.from(text, (one) => (PRINTABLE.test(one) ? one : escaped(one))).join('');
}

/** One word for a POSIX shell; most names and paths need no quotes. */
export function shellWord(text: string): string {
  return /^[\w./+:@%,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Printable ASCII without the quote and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Letters, marks, numbers, punctuation and symbols; the only separator is the ASCII space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Whether a character is shown as it is. */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

function escaped(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  // A lone surrogate is not a character in Go, which shows the replacement character instead.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (isPrintable(character)) return character;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
