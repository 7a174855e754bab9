/** Numbers for values, so that a state is a short row of numbers and equal parts are stored once. */

/** More distinct parts than any group that can be explored has; each takes memory. */
const MAX_VALUES = 1 << 22;

/** Values are equal if their JSON is. */
export class Interned<T> {
  readonly #ids = new Map<string, number>();
  readonly #values: T[] = [];

  idOf(value: T): number {
    const key = JSON.stringify(value);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#values.length;
    if (id >= MAX_VALUES) throw new Error(`more than ${MAX_VALUES} different parts of states`);
    this.#ids.set(key, id);
    this.#values.push(value);
    return id;
  }

  valueOf(id: number): T {
    const value = this.#values[id];
    if (value === undefined) throw new Error(`no value has the number ${id}`);
    return value;
  }
}
