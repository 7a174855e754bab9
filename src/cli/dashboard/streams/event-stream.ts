/** One stream of server-sent events to one page, which may read slowly, or not at all. */

/** What may wait for a page. A page that is further behind reconnects and gets everything. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export class EventStream implements AsyncIterable<Uint8Array> {
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #isOver = false;
  #wake: () => void = () => undefined;
  readonly #onDrained = new Set<() => void>();
  readonly #onEnd: () => void;

  /** `onEnd` is called once, when either side has ended the stream. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the stream instead if too much waits. */
  send(event: Uint8Array): void {
    if (this.#isOver) return;
    // The first events may be larger: they come when nothing waits.
    if (this.#bytes > MAX_WAITING_BYTES) {
      this.cut();
      return;
    }
    this.#waiting.push(event);
    this.#bytes += event.byteLength;
    this.#wake();
  }

  /** Resolves when the page has taken everything, or the stream is over. */
  async drained(): Promise<void> {
    if (this.#bytes === 0 || this.#isOver) return;
    await new Promise<void>((resolve) => this.#onDrained.add(resolve));
  }

  /** Ends the stream without the events that the page has not taken. */
  cut(): void {
    this.#waiting = [];
    this.end();
  }

  /** Ends the stream after the events that wait. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tellDrained();
    this.#wake();
    this.#onEnd();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      yield RETRY;
      for (;;) {
        const chunk = this.#waiting.shift();
        if (chunk !== undefined) {
          this.#bytes -= chunk.byteLength;
          yield chunk;
        } else if (this.#isOver) return;
        else {
          this.#tellDrained();
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.end();
    }
  }

  #tellDrained(): void {
    for (const resolve of this.#onDrained) resolve();
    this.#onDrained.clear();
  }
}

/** A page that lost its stream comes back so soon. */
const RETRY_MS = 1000;
const RETRY = Buffer.from(`retry: ${RETRY_MS}\n\n`);

/** Shows a page, and all between, that the stream is alive. */
export const HEARTBEAT: Uint8Array = Buffer.from(': alive\n\n');

/** JSON has no line breaks, so a message is one line of data. */
export function eventOf(message: unknown): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(message)}\n\n`);
}
