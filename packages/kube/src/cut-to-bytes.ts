/**
 * Cuts `text` to at most `limit` bytes of UTF-8, with an ellipsis at the cut and no character
 * split.
 */
export function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return bytes.toString();
  let end = limit - 3;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}...`;
}
