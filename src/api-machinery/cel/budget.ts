/**
 * What one evaluation may still cost. Whoever loops or builds something pays first, so that no
 * expression and no value can hold up the server. A spent budget stays spent: the error that it
 * causes cannot be absorbed by `||`.
 */
import { CelError } from './value.ts';

export const COST_EXCEEDED: CelError = new CelError(
  'operation cancelled: actual cost limit exceeded',
);

export class Budget {
  readonly #limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get spent(): number {
    return this.#spent;
  }

  get isExceeded(): boolean {
    return this.#spent > this.#limit;
  }

  /** False if that was too much. */
  spend(cost: number): boolean {
    this.#spent += cost;
    return this.#spent <= this.#limit;
  }
}
