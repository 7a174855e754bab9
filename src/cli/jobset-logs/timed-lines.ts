/** Lines of a container's log with their times, and which of them were seen before. */
import { readLines } from '../log-lines.ts';

export interface TimedLine {
  /**
   * When the container wrote it, UTC with nine digits behind the second, so that texts compare as times
   * do. Empty if the server sent none.
   */
  readonly stamp: string;
  /** The greatest stamp so far: a merge in its order keeps the order of the lines of one log. */
  readonly time: string;
  readonly text: Buffer;
  readonly isCut: boolean;
}

/** The lines of a log that was asked for with `timestamps`. */
export async function* timedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TimedLine> {
  let stamp = '';
  let time = '';
  for await (const { bytes, isCut } of readLines(chunks)) {
    const end = bytes.subarray(0, LONGEST_STAMP + 1).indexOf(SPACE);
    const found = end < 0 ? undefined : stampOf(bytes.toString('latin1', 0, end));
    // The node itself may say something, without a time.
    stamp = found ?? stamp;
    if (stamp > time) time = stamp;
    yield { stamp, time, text: found === undefined ? bytes : bytes.subarray(end + 1), isCut };
  }
}

/** The time in RFC 3339 as a stamp; undefined for another text. */
export function stampOf(text: string): string | undefined {
  const [, local = '', fraction = '', zone = ''] = RFC_3339.exec(text) ?? [];
  if (local === '') return undefined;
  const ms = Date.parse(local + zone);
  return Number.isNaN(ms) ? undefined : `${secondOf(ms)}.${fraction.padEnd(9, '0')}Z`;
}

/** `ms` is wall time. */
export function stampAt(ms: number): string {
  return `${secondOf(ms)}.${String(Math.floor(ms) % 1000).padStart(3, '0')}000000Z`;
}

/** The stamp before which no line can be missing any more once a log has a line of this one. */
export function overlapBefore(stamp: string): string {
  return stamp === '' ? '' : stampAt(Date.parse(stamp) - OVERLAP_MS);
}

function secondOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, -'.000Z'.length);
}

const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
const LONGEST_STAMP = '2026-01-01T00:00:00.000000000+00:00'.length;
const SPACE = 0x20;

/** How long before its newest line a log is asked for again: two writers may swap lines. */
const OVERLAP_MS = 1000;
/** With the second that servers round down to. */
const KEPT_MS = OVERLAP_MS + 2000;
/** Stamps kept of one log. What is older than these counts as seen. */
const MAX_STAMPS = 65_536;

/**
 * Tells new lines from lines that were read before, when a log is asked for again from the time of its
 * last line. Several lines may have one stamp, so it counts them.
 */
export class LineCursor {
  readonly #seen = new Map<string, number>();
  #newest = '';
  /** All lines up to this stamp were seen. */
  #forgotten = '';
  /** Earlier lines were never asked for. */
  #first = '';
  #expected = new Map<string, number>();

  /** From when the log has to be read again; undefined: from its beginning. */
  get since(): string | undefined {
    if (this.#newest === '') return undefined;
    return `${secondOf(Date.parse(this.#newest) - OVERLAP_MS)}Z`;
  }

  /** To be called before the log is read again. */
  reopen(): void {
    this.#expected = new Map(this.#seen);
  }

  /** To be called after a read that left out what was earlier, with its first line. */
  beginsAt(stamp: string): void {
    if (stamp > this.#first) this.#first = stamp;
  }

  /** The next line of the log, with this stamp, does not count: the log is read on from there. */
  passed(stamp: string): void {
    if (stamp > this.#newest) this.#newest = stamp;
  }

  /** Whether the next line of the log, with this stamp, was not read before. */
  isNew(stamp: string): boolean {
    const left = this.#expected.get(stamp) ?? 0;
    if (left > 0) {
      this.#expected.set(stamp, left - 1);
      return false;
    }
    if (stamp !== '' && (stamp <= this.#forgotten || stamp < this.#first)) return false;
    this.#seen.set(stamp, (this.#seen.get(stamp) ?? 0) + 1);
    if (stamp > this.#newest) this.#newest = stamp;
    if (this.#seen.size > MAX_STAMPS) this.#forget();
    return true;
  }

  #forget(): void {
    const oldest = stampAt(Date.parse(this.#newest) - KEPT_MS);
    const sorted = [...this.#seen.keys()].sort();
    // Half of them at least, so that this is done seldom.
    for (const [i, stamp] of sorted.entries()) {
      if (i >= MAX_STAMPS / 2 && stamp >= oldest) break;
      this.#seen.delete(stamp);
      this.#forgotten = stamp;
    }
  }
}
