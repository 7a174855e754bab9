/** Whether a JSON text has more than `limit` values. Does not build the values. */
export function hasMoreValuesThan(text: Uint8Array, limit: number): boolean {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (isInString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      values++;
      if (values > limit) return true;
    }
  }
  return false;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
