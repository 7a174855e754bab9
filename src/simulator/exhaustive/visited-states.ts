/** A set of states in the order in which they were added. Each is a row of as many whole numbers. */

const FIRST_ROWS = 1 << 12;
/** Rows for each place of the hash table. */
const MAX_LOAD = 0.5;
const EMPTY = -1;

export class VisitedStates {
  readonly #width: number;
  #rows: Int32Array;
  #parents: Int32Array;
  /** Open addressing: the index of a row, or `EMPTY`. */
  #table: Int32Array;
  #size = 0;

  constructor(width: number) {
    this.#width = width;
    this.#rows = new Int32Array(FIRST_ROWS * width);
    this.#parents = new Int32Array(FIRST_ROWS);
    this.#table = new Int32Array(FIRST_ROWS / MAX_LOAD).fill(EMPTY);
  }

  get size(): number {
    return this.#size;
  }

  /** Its index, from 0. `parent` is the index of the state from which it was first reached. */
  add(state: readonly number[], parent: number): number {
    const place = this.#placeOf(state);
    const known = this.#table[place] ?? EMPTY;
    if (known !== EMPTY) return known;
    const index = this.#size++;
    this.#rows.set(state, index * this.#width);
    this.#parents[index] = parent;
    this.#table[place] = index;
    if (this.#size === this.#parents.length) this.#grow();
    return index;
  }

  at(index: number): readonly number[] {
    const start = index * this.#width;
    return [...this.#rows.subarray(start, start + this.#width)];
  }

  /** The indexes of the states that lead to this one, from the first to itself. */
  pathTo(index: number): readonly number[] {
    const path = [index];
    let at = index;
    while (at > 0) {
      at = this.#parents[at] ?? 0;
      path.push(at);
    }
    return path.reverse();
  }

  /** The place of this state in the table, or the free one where it belongs. */
  #placeOf(state: readonly number[]): number {
    const mask = this.#table.length - 1;
    let place = hashOf(state) & mask;
    for (
      let row = this.#table[place] ?? EMPTY;
      row !== EMPTY && !this.#isAt(row, state);
      row = this.#table[place] ?? EMPTY
    ) {
      place = (place + 1) & mask;
    }
    return place;
  }

  #isAt(index: number, state: readonly number[]): boolean {
    const start = index * this.#width;
    for (let i = 0; i < this.#width; i++) if (this.#rows[start + i] !== state[i]) return false;
    return true;
  }

  #grow(): void {
    const capacity = this.#parents.length * 2;
    this.#rows = copied(this.#rows, capacity * this.#width);
    this.#parents = copied(this.#parents, capacity);
    this.#table = new Int32Array(capacity / MAX_LOAD).fill(EMPTY);
    for (let index = 0; index < this.#size; index++) {
      this.#table[this.#placeOf(this.at(index))] = index;
    }
  }
}

/** Whole numbers one after the other, as many as come. */
export class NumberList {
  #numbers = new Int32Array(FIRST_ROWS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(value: number): void {
    if (this.#size === this.#numbers.length) this.#numbers = copied(this.#numbers, 2 * this.#size);
    this.#numbers[this.#size++] = value;
  }

  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }
}

function copied(numbers: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(capacity);
  copy.set(numbers);
  return copy;
}

/** FNV-1a over the numbers, and a last mix, because the table uses the low bits. */
function hashOf(state: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const value of state) hash = Math.imul(hash ^ value, 0x01000193) ^ (hash >>> 15);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return hash ^ (hash >>> 16);
}
