/** Keeps track of answers that do not end by themselves, so that a closing server can end them. */
export class OpenStreams {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls `end` when the server closes, unless the result was called before. */
  add(end: () => void): () => void {
    if (this.#isClosed) end();
    else this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end();
    this.#ends.clear();
  }
}
