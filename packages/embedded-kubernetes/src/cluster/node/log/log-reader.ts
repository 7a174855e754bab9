/**
 * Reads a container's log for a client: from where the query says, as the process wrote it, and on
 * as it grows if it is followed. Memory is bounded by one chunk and one line.
 */

import type { NodeFiles } from '../ports/node-files.ts';
import { type ContainerLog, type LogSegment, logSegments } from './container-log.ts';
import { type CriLine, parseCriLine } from './cri-lines.ts';
import type { LogQuery } from './log-query.ts';

export interface LogSource {
  readonly files: NodeFiles;
  readonly directory: string;
  readonly restart: number;
  /** The log while its container runs. */
  readonly live: ContainerLog | undefined;
}

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Ends with the log, or when `signal` aborts. */
export async function* readLog(
  source: LogSource,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const output = new LogOutput(query);
  const cursor = startOf(source, query.tailLines);
  const changes = new Changes(source.live, signal);
  let rest: Buffer = Buffer.alloc(0);
  try {
    while (!output.isFull && !signal.aborted) {
      // Asked before reading: a log that ends afterwards is read once more.
      const isLast = !query.follow || source.live === undefined || source.live.hasEnded;
      changes.forget();
      const chunk = nextChunk(source, cursor);
      if (chunk === undefined) {
        if (isLast) return;
        await changes.next();
        continue;
      }
      const data = Buffer.concat([rest, chunk]);
      const end = data.lastIndexOf(NEWLINE) + 1;
      rest = Buffer.from(data.subarray(end));
      const text = output.format(data.subarray(0, end));
      if (text.length > 0) yield text;
    }
  } finally {
    changes.stop();
  }
}

interface Cursor {
  index: number;
  offset: number;
}

function nextChunk(
  { files, directory, restart }: LogSource,
  cursor: Cursor,
): Uint8Array | undefined {
  const segments = logSegments(files, directory, restart);
  for (const segment of segments) {
    if (segment.index < cursor.index) continue;
    if (segment.index > cursor.index) {
      cursor.index = segment.index;
      cursor.offset = 0;
    }
    const chunk = files.readLog(segment.path, cursor.offset, CHUNK_BYTES);
    cursor.offset += chunk.length;
    if (chunk.length > 0) return chunk;
  }
  return undefined;
}

/** The beginning of the last `tailLines` lines, found from the end. */
function startOf(source: LogSource, tailLines: number | undefined): Cursor {
  const segments = logSegments(source.files, source.directory, source.restart);
  if (tailLines === undefined) return { index: 0, offset: 0 };
  // The newline that ends the last line does not count.
  let wanted = tailLines + 1;
  for (const segment of segments.toReversed()) {
    const found = newlineFromEnd(source.files, segment, wanted);
    if (found.offset !== undefined) return { index: segment.index, offset: found.offset };
    wanted = found.missing;
  }
  return { index: 0, offset: 0 };
}

/** The position after the newline number `wanted` from the end, or how many more are needed. */
function newlineFromEnd(
  files: NodeFiles,
  { path }: LogSegment,
  wanted: number,
): { readonly offset: number | undefined; readonly missing: number } {
  let missing = wanted;
  let start = files.logSize(path);
  while (start > 0) {
    const length = Math.min(CHUNK_BYTES, start);
    start -= length;
    const chunk = Buffer.from(files.readLog(path, start, length));
    for (let at = chunk.lastIndexOf(NEWLINE); at >= 0; ) {
      if (--missing === 0) return { offset: start + at + 1, missing: 0 };
      at = at === 0 ? -1 : chunk.lastIndexOf(NEWLINE, at - 1);
    }
  }
  return { offset: undefined, missing };
}

/** Turns lines of the log into the process's output, within the limits of the query. */
class LogOutput {
  readonly #query: LogQuery;
  #left: number;
  #isLineOpen = false;

  constructor(query: LogQuery) {
    this.#query = query;
    this.#left = query.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** `data` has only whole lines. */
  format(data: Buffer): Uint8Array {
    const pieces: Uint8Array[] = [];
    for (let start = 0; start < data.length; ) {
      const end = data.indexOf(NEWLINE, start);
      const line = parseCriLine(data.subarray(start, end));
      start = end + 1;
      if (line !== undefined && this.#isWanted(line)) pieces.push(...this.#textOf(line));
    }
    const text = Buffer.concat(pieces);
    const cut = text.length > this.#left ? text.subarray(0, this.#left) : text;
    this.#left -= cut.length;
    return cut;
  }

  #isWanted({ timestamp }: CriLine): boolean {
    const { sinceMs } = this.#query;
    return sinceMs === undefined || Date.parse(timestamp) >= sinceMs;
  }

  #textOf(line: CriLine): readonly Uint8Array[] {
    const isStamped = this.#query.timestamps && !this.#isLineOpen;
    this.#isLineOpen = line.isPartial;
    return [
      ...(isStamped ? [Buffer.from(`${line.timestamp} `)] : []),
      line.content,
      ...(line.isPartial ? [] : [Buffer.from('\n')]),
    ];
  }
}

/** Waits for changes of the log, without missing one in between. */
class Changes {
  #hasChanged = false;
  #wake: () => void = () => undefined;
  readonly #unsubscribe: () => void;
  readonly #signal: AbortSignal;
  readonly #onChange = (): void => {
    this.#hasChanged = true;
    this.#wake();
  };

  constructor(log: ContainerLog | undefined, signal: AbortSignal) {
    this.#unsubscribe = log?.subscribe(this.#onChange) ?? (() => undefined);
    this.#signal = signal;
    signal.addEventListener('abort', this.#onChange, { once: true });
  }

  forget(): void {
    this.#hasChanged = false;
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#hasChanged || this.#signal.aborted) resolve();
    });
  }

  stop(): void {
    this.#unsubscribe();
    this.#signal.removeEventListener('abort', this.#onChange);
  }
}
