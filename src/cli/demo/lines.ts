/** A longer line is cut into several, so that a worker's output cannot fill the memory. */
const LINE_BYTES_MAX = 64 * 1024;

const NEWLINE = 0x0a;

/** The lines of a byte stream, without their newlines, including the rest after the last one. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield decode(rest, chunk.subarray(from, at));
      rest = new Uint8Array();
      from = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    if (rest.length > LINE_BYTES_MAX) {
      yield decode(rest, new Uint8Array());
      rest = new Uint8Array();
    }
  }
  if (rest.length > 0) yield decode(rest, new Uint8Array());
}

function decode(start: Uint8Array, end: Uint8Array): string {
  return Buffer.concat([start, end]).toString('utf8');
}
