/** How much memory a JSON value takes, so that what tenants send can be kept within bounds. */

/** The header of an object, an array or a string on the heap. */
const HEADER_BYTES = 24;
/** A slot, and a number that does not fit into it. */
const SLOT_BYTES = 16;
/** V8 leaves room for four fields in an object that is parsed without any. */
const NO_FIELDS_BYTES = 32;
const BEYOND_LATIN_1 = /[^\0-\xff]/;

/**
 * About as many bytes as the value takes, and seldom fewer: names of fields are counted each time.
 * The length of its JSON would tell less, because an empty object takes thirty times its two characters.
 */
export function memoryWeight(value: unknown): number {
  let bytes = 0;
  // No recursion: the depth is up to the sender.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') bytes += textWeight(next);
    else if (Array.isArray(next)) {
      bytes += HEADER_BYTES + SLOT_BYTES * next.length;
      for (const item of next) open.push(item);
    } else if (typeof next === 'object' && next !== null) {
      const fields = Object.entries(next);
      bytes += HEADER_BYTES + (fields.length === 0 ? NO_FIELDS_BYTES : SLOT_BYTES * fields.length);
      for (const [key, member] of fields) {
        bytes += key.length;
        open.push(member);
      }
    }
  }
  return bytes;
}

function textWeight(text: string): number {
  return HEADER_BYTES + text.length * (BEYOND_LATIN_1.test(text) ? 2 : 1);
}
