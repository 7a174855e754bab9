/**
 * What one evaluation may still cost. Every loop, and every function that builds a value, pays
 * first, so no expression and no value can hold up the server. A spent budget stays spent: `||`
 * cannot absorb its error.
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

  /** False if the budget does not suffice. */
  spend(cost: number): boolean {
    this.#spent += cost;
    return this.#spent <= this.#limit;
  }
}
