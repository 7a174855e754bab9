/** What several pages follow together: made for the first of them, ended some time after the last. */
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { type EventStream, eventOf, HEARTBEAT } from './event-stream.ts';

/** Where the messages of a feed come from. */
export interface Source<Message> {
  /** All that a page needs at first. It agrees with what was published until now. */
  snapshot(): readonly Message[];
  stop(): Promise<void>;
}

export interface Publisher<Message> {
  readonly publish: (message: Message) => void;
  /** Lets all pages start again: their streams end, and they come back. */
  readonly startAnew: () => void;
}

export interface FeedOptions<Message> {
  readonly clock: Clock;
  readonly open: (publisher: Publisher<Message>) => Source<Message>;
  /** Called when nothing is followed any more. */
  readonly onClosed: () => void;
}

/** A reload of a page, and a look at another view, do not restart the source. */
const LINGER_MS = 60_000;
const HEARTBEAT_MS = 15_000;

export class Feed<Message> {
  readonly #options: FeedOptions<Message>;
  readonly #source: Source<Message>;
  readonly #streams = new Set<EventStream>();
  #timer: Timer;
  #isClosed = false;

  constructor(options: FeedOptions<Message>) {
    this.#options = options;
    this.#source = options.open({
      publish: (message) => {
        if (this.#streams.size === 0) return;
        const event = eventOf(message);
        for (const stream of this.#streams) stream.send(event);
      },
      startAnew: () => {
        for (const stream of this.#streams) stream.end();
      },
    });
    this.#timer = this.#linger();
  }

  get isWatched(): boolean {
    return this.#streams.size > 0;
  }

  join(stream: EventStream): void {
    this.#timer.cancel();
    for (const message of this.#source.snapshot()) stream.send(eventOf(message));
    this.#streams.add(stream);
    this.#beat();
  }

  leave(stream: EventStream): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return;
    this.#timer.cancel();
    this.#timer = this.#linger();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.cancel();
    for (const stream of this.#streams) stream.end();
    this.#timer.cancel();
    this.#options.onClosed();
    await this.#source.stop();
  }

  #linger(): Timer {
    return this.#options.clock.setTimer(LINGER_MS, () => void this.close());
  }

  #beat(): void {
    this.#timer.cancel();
    this.#timer = this.#options.clock.setTimer(HEARTBEAT_MS, () => {
      for (const stream of this.#streams) stream.send(HEARTBEAT);
      this.#beat();
    });
  }
}
