/** A cache of compiled RE2 patterns. */
import { RE2JS } from 're2js';

export type CompiledPattern = { readonly pattern: RE2JS } | { readonly defect: string };

/**
 * Patterns are bounded by their weight: instructions and text. Matching makes a pattern grow by at
 * most some KiB per instruction, so a thousand instructions hold some MiB.
 */
export class PatternCache {
  /** Oldest first. */
  readonly #kept = new Map<
    string,
    { readonly compiled: CompiledPattern; readonly weight: number }
  >();
  readonly #maxWeight: number;
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get weight(): number {
    return this.#weight;
  }

  compiled(pattern: string): CompiledPattern {
    const known = this.#kept.get(pattern);
    if (known !== undefined) return known.compiled;
    const compiled = compilePattern(pattern);
    const program = 'pattern' in compiled ? compiled.pattern.programSize() : 0;
    const weight = program + pattern.length / CHARACTERS_PER_INSTRUCTION;
    if (weight <= this.#maxWeight) this.#keep(pattern, compiled, weight);
    return compiled;
  }

  #keep(pattern: string, compiled: CompiledPattern, weight: number): void {
    this.#kept.set(pattern, { compiled, weight });
    this.#weight += weight;
    for (const [oldest, { weight: less }] of this.#kept) {
      if (this.#weight <= this.#maxWeight) return;
      this.#kept.delete(oldest);
      this.#weight -= less;
    }
  }
}

/** An instruction takes far more memory than a character. */
const CHARACTERS_PER_INSTRUCTION = 16;

export function compilePattern(pattern: string): CompiledPattern {
  try {
    return { pattern: RE2JS.compile(pattern) };
  } catch (error) {
    return { defect: error instanceof Error ? error.message : String(error) };
  }
}
