/**
 * Cuts the output of one of several processes into whole lines, each behind a prefix. A carriage
 * return ends a line too: progress bars use it, and lines of other processes follow.
 */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NEW_LINE = Buffer.from('\n');
/** A longer line goes out in pieces. */
const MAX_LINE_BYTES = 64 * 1024;

export class PrefixedLines {
  readonly #prefix: Buffer;
  /** The beginning of the unfinished line. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** The last byte was a carriage return. */
  #hasReturned = false;

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  /** Whether a line is unfinished. */
  get hasBegun(): boolean {
    return this.#begunBytes > 0;
  }

  /** The lines that the chunk completes. */
  add(chunk: Buffer): Buffer {
    const out: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      const isEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      const length = this.#begunBytes + at - from;
      if (!isEnd && length < MAX_LINE_BYTES) continue;
      const isSecondEnd = byte === LINE_FEED && this.#hasReturned && length === 0;
      this.#hasReturned = byte === CARRIAGE_RETURN;
      // A return at the beginning of a line, or the second end of one, makes no empty line.
      if (length > 0 || (byte === LINE_FEED && !isSecondEnd)) {
        this.#end(out, chunk.subarray(from, at));
      }
      from = isEnd ? at + 1 : at;
    }
    if (from < chunk.length) {
      // The caller may use the memory of a chunk again.
      this.#begun.push(Buffer.from(chunk.subarray(from)));
      this.#begunBytes += chunk.length - from;
      this.#hasReturned = false;
    }
    return Buffer.concat(out);
  }

  /** The unfinished line, as a line. */
  flush(): Buffer {
    const out: Buffer[] = [];
    if (this.hasBegun) this.#end(out, Buffer.alloc(0));
    return Buffer.concat(out);
  }

  #end(out: Buffer[], rest: Buffer): void {
    out.push(this.#prefix, ...this.#begun, rest, NEW_LINE);
    this.#begun = [];
    this.#begunBytes = 0;
  }
}
