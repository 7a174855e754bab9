/**
 * Puts the effects of concurrent writes in the order of their revisions. Storage may answer writes
 * in any order, but readers and watchers must see revision N before N + 1, in all collections at
 * once. Every revision must go through `commit`, so the server must be the only writer of its
 * storage.
 */
export class CommitSequence {
  #applied: number;
  readonly #waiting = new Map<number, () => void>();

  constructor(revision: number) {
    this.#applied = revision;
  }

  /** Every write up to this revision is visible. */
  get revision(): number {
    return this.#applied;
  }

  /** Calls `apply` as soon as all earlier revisions are applied, which is mostly at once. */
  commit(revision: number, apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(revision, () => {
        try {
          apply();
          resolve();
        } catch (cause) {
          reject(new Error(`revision ${revision} could not be applied`, { cause }));
        }
      });
      this.#drain();
    });
  }

  #drain(): void {
    for (;;) {
      const next = this.#waiting.get(this.#applied + 1);
      if (next === undefined) return;
      this.#waiting.delete(++this.#applied);
      next();
    }
  }
}
