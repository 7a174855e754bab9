/** Splits logs of containers into lines, which may hold anything and be of any length. */

/** What is beyond is dropped, so that a worker's output cannot fill the memory. */
export const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

export interface RawLine {
  /** Without the newline. */
  readonly bytes: Buffer;
  /** The line was longer than `MAX_LINE_BYTES`. */
  readonly isCut: boolean;
}

/** The lines of a byte stream, including the rest after the last newline. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let isCut = false;
  const take = (part: Uint8Array): void => {
    const kept = part.subarray(0, MAX_LINE_BYTES - length);
    isCut ||= kept.length < part.length;
    length += kept.length;
    if (kept.length > 0) parts.push(kept);
  };
  const end = (): RawLine => {
    const line = { bytes: Buffer.concat(parts), isCut };
    parts = [];
    length = 0;
    isCut = false;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, at));
      yield end();
      from = at + 1;
    }
    take(chunk.subarray(from));
  }
  if (length > 0) yield end();
}
