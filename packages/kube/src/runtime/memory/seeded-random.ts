import type { Random } from '../ports/random.ts';

/**
 * Repeatable randomness: a seed gives the same numbers on every machine. The generator is sfc32
 * (128 bits of state, passes PractRand), which is fast with 32-bit integers and good enough for
 * everything except secrets.
 */
export class SeededRandom implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 2 ** 32) | 0;
    this.#c = 0x9e3779b9 | 0;
    // Nearby seeds give unrelated sequences only after the state has been mixed.
    for (let round = 0; round < MIXING_ROUNDS; round++) this.#word();
  }

  next(): number {
    const high = this.#word() >>> 5;
    const low = this.#word() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  uuid(): string {
    const words = [this.#word(), this.#word(), this.#word(), this.#word()];
    const hex = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
    // RFC 9562: the version in the 13th digit, the variant in the upper bits of the 17th.
    const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `${variant}${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-');
  }

  /** The next 32 bits, as a signed integer. */
  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum;
  }
}

/** The number that the generator's author recommends for a seed of this size. */
const MIXING_ROUNDS = 15;
