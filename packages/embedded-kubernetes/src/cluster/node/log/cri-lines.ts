/**
 * Lines of a container's log as the CRI writes them: `<RFC3339Nano> <stream> <P|F> <bytes>`. `P`
 * marks a part of a line that continues, or one that never ended. The process's bytes stay as they
 * are, in any encoding.
 */
export type LogStream = 'stdout' | 'stderr';

export interface CriLine {
  readonly timestamp: string;
  readonly stream: LogStream;
  readonly isPartial: boolean;
  readonly content: Uint8Array;
}

/** Longer lines are split, as in containerd. */
export const MAX_LINE_BYTES = 16 * 1024;
const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);

/** Cuts two streams of bytes into lines. It keeps at most one unfinished line of each. */
export class CriEncoder {
  readonly #rest: Record<LogStream, Buffer> = { stdout: EMPTY, stderr: EMPTY };

  /** The lines that `chunk` completes; `wallMs` is when it arrived. */
  encode(stream: LogStream, chunk: Uint8Array, wallMs: number): Uint8Array {
    const stamp = stampOf(wallMs);
    const data = Buffer.concat([this.#rest[stream], chunk]);
    const pieces: Uint8Array[] = [];
    let start = 0;
    for (;;) {
      const end = data.indexOf(NEWLINE, start);
      const length = (end < 0 ? data.length : end) - start;
      if (length > MAX_LINE_BYTES) {
        pieces.push(...line(stamp, stream, 'P', data.subarray(start, start + MAX_LINE_BYTES)));
        start += MAX_LINE_BYTES;
      } else if (end < 0) {
        break;
      } else {
        pieces.push(...line(stamp, stream, 'F', data.subarray(start, end)));
        start = end + 1;
      }
    }
    this.#rest[stream] = Buffer.from(data.subarray(start));
    return Buffer.concat(pieces);
  }

  /** What is left of both streams when the process has ended. */
  end(wallMs: number): Uint8Array {
    const stamp = stampOf(wallMs);
    const streams: readonly LogStream[] = ['stdout', 'stderr'];
    const pieces = streams
      .filter((stream) => this.#rest[stream].length > 0)
      .flatMap((stream) => line(stamp, stream, 'P', this.#rest[stream]));
    this.#rest.stdout = EMPTY;
    this.#rest.stderr = EMPTY;
    return Buffer.concat(pieces);
  }
}

/** Undefined for bytes that are not such a line. `bytes` is without the newline. */
export function parseCriLine(bytes: Uint8Array): CriLine | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = buffer.indexOf(' ');
  const second = buffer.indexOf(' ', first + 1);
  const third = buffer.indexOf(' ', second + 1);
  if (first < 0 || second < 0 || third < 0) return undefined;
  const stream = buffer.toString('latin1', first + 1, second);
  const tag = buffer.toString('latin1', second + 1, third);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  if (tag !== 'P' && tag !== 'F') return undefined;
  return {
    timestamp: buffer.toString('latin1', 0, first),
    stream,
    isPartial: tag === 'P',
    content: buffer.subarray(third + 1),
  };
}

function line(
  stamp: string,
  stream: LogStream,
  tag: 'P' | 'F',
  content: Uint8Array,
): readonly Uint8Array[] {
  return [Buffer.from(`${stamp} ${stream} ${tag} `), content, NEWLINE_BYTES];
}

const NEWLINE_BYTES = Buffer.from('\n');

/** RFC3339Nano; the clock knows milliseconds. */
function stampOf(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000000Z');
}
