/**
 * The port of randomness: seeded in tests and in the simulator, the system's generator in
 * production.
 */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A version 4 UUID in lower case, as object UIDs are. */
  uuid(): string;
}

// The API server's alphabet for generated names: no vowels and no 0, 1, 3, so no words and no
// look-alikes.
const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** `length` characters of the alphabet that the Kubernetes API server uses for `generateName`. */
export function randomName(random: Random, length: number): string {
  let name = '';
  for (let i = 0; i < length; i++) {
    name += NAME_ALPHABET.charAt(Math.floor(random.next() * NAME_ALPHABET.length));
  }
  return name;
}

/**
 * `value` stretched by a random share of up to `factor`, so that many clients do not act in phase.
 */
export function jitter(random: Random, value: number, factor: number): number {
  return value * (1 + random.next() * factor);
}
