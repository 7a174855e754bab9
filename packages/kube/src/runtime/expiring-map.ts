import type { Clock } from './ports/clock.ts';

/** A map whose entries expire. When it is full, the oldest entry is dropped. */
export class ExpiringMap<V> {
  readonly #clock: Clock;
  readonly #maxSize: number;
  /** Oldest first. */
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>();

  constructor(clock: Clock, maxSize: number) {
    this.#clock = clock;
    this.#maxSize = maxSize;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#clock.monotonic() < entry.untilMs) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, lifetimeMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs: this.#clock.monotonic() + lifetimeMs });
    if (this.#entries.size <= this.#maxSize) return;
    for (const first of this.#entries.keys()) {
      this.#entries.delete(first);
      break;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
