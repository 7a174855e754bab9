/** Texts of at most so many bytes as strings in JSON. */

/** The longest end of `text` that takes at most `limit` bytes in JSON, from a line's start if any. */
export function lastLines(text: string, limit: number): string {
  let kept = text;
  while (encodedBytes(kept) > limit) {
    const feed = kept.indexOf('\n');
    kept = feed === -1 || feed === kept.length - 1 ? cutFront(kept, limit) : kept.slice(feed + 1);
  }
  return kept;
}

/** The longest beginning of `text` that takes at most `limit` bytes in JSON. */
export function beginning(text: string, limit: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += encodedBytes(character);
    if (bytes > limit) break;
    kept += character;
  }
  return kept;
}

/** The bytes of `text` as a string in JSON, without quotes. */
export function encodedBytes(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).byteLength - 2;
}

function cutFront(text: string, limit: number): string {
  const characters = Array.from(text);
  let bytes = 0;
  let from = characters.length;
  while (from > 0) {
    bytes += encodedBytes(characters[from - 1] ?? '');
    if (bytes > limit) break;
    from--;
  }
  return characters.slice(from).join('');
}
