/** Merges the lines of many logs in the order of time. */
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';

/** Times are texts that compare as the times do. */
export interface Timed {
  readonly time: string;
}

/** Each source is in order, and read only as fast as the merged lines are taken. */
export async function* mergeByTime<T extends Timed>(
  sources: readonly AsyncIterable<T>[],
): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  try {
    const first = await Promise.all(iterators.map(async (each) => each.next()));
    let heads = first.flatMap(({ done, value }, i) =>
      done === true ? [] : [{ line: value, from: iterators[i] }],
    );
    for (let least = earliest(heads); least !== undefined; least = earliest(heads)) {
      const taken = least;
      yield taken.line;
      const next = await taken.from?.next();
      if (next === undefined || next.done === true) heads = heads.filter((one) => one !== taken);
      else taken.line = next.value;
    }
  } finally {
    await Promise.all(iterators.map(async (each) => each.return?.()));
  }
}

function earliest<T extends Timed>(
  heads: readonly { line: T; from: AsyncIterator<T> | undefined }[],
): { line: T; from: AsyncIterator<T> | undefined } | undefined {
  return heads.reduce<(typeof heads)[number] | undefined>(
    (least, head) => (least === undefined || head.line.time < least.line.time ? head : least),
    undefined,
  );
}

/** In the order of time; lines of one time keep their order. */
export function sortedByTime<T extends Timed>(lines: readonly T[]): readonly T[] {
  return lines.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

/** How long a line waits for earlier ones of other members. */
export const HOLD_MS = 200;
/** Lines that wait; with more, all are written at once. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface LiveMergeOptions<T> {
  readonly clock: Clock;
  readonly write: (lines: readonly T[]) => Promise<void>;
  readonly sizeOf: (line: T) => number;
}

interface Waiting<T> {
  readonly time: string;
  readonly line: T;
  readonly arrivedMs: number;
}

/** Puts lines in order as they arrive: each waits a moment for earlier ones. */
export class LiveMerge<T extends Timed> {
  readonly #options: LiveMergeOptions<T>;
  #waiting: Waiting<T>[] = [];
  #bytes = 0;
  #timer: Timer | undefined;
  #hasFailed = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: LiveMergeOptions<T>) {
    this.#options = options;
  }

  /** Resolves when the next line may come. Rejects if lines cannot be written. */
  async add(line: T): Promise<void> {
    this.#waiting.push({ time: line.time, line, arrivedMs: this.#options.clock.monotonic() });
    this.#bytes += this.#options.sizeOf(line);
    if (this.#bytes > MAX_WAITING_BYTES) return this.flush();
    if (this.#hasFailed) return this.#writing;
    this.#timer ??= this.#options.clock.setTimer(HOLD_MS, () => this.#tick());
  }

  /** Writes all that waits. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    return this.#emit(() => true);
  }

  #tick(): void {
    this.#timer = undefined;
    const due = this.#options.clock.monotonic() - HOLD_MS;
    const old = this.#waiting.filter(({ arrivedMs }) => arrivedMs <= due);
    const upTo = sortedByTime(old).at(-1)?.time ?? '';
    // The next call of `add` or `flush` rejects with a failure to write.
    this.#emit(({ time }) => time <= upTo).catch(() => {
      this.#hasFailed = true;
    });
    if (this.#waiting.length > 0) {
      this.#timer = this.#options.clock.setTimer(HOLD_MS, () => this.#tick());
    }
  }

  #emit(isDue: (one: Waiting<T>) => boolean): Promise<void> {
    const lines = sortedByTime(this.#waiting.filter(isDue)).map(({ line }) => line);
    this.#waiting = this.#waiting.filter((one) => !isDue(one));
    this.#bytes = this.#waiting.reduce((sum, { line }) => sum + this.#options.sizeOf(line), 0);
    this.#writing = this.#writing.then(() => this.#options.write(lines));
    return this.#writing;
  }
}
