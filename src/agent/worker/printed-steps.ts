/**
 * Finds the step in the output of a worker: the digits directly behind the first occurrence of a
 * prefix in a line. A carriage return ends a line, too: progress bars use it.
 */
import type { ProgressFile } from '../progress/progress-files.ts';

/** How much of a line is searched, in bytes. */
const MAX_LINE_BYTES = 4096;
/** More digits than any step has: a line with them is malformed. */
const MAX_DIGITS = 20;

export class PrintedSteps implements ProgressFile {
  /** In Latin-1, in which each byte is one character. */
  readonly #prefix: string;
  /** The beginning of the unfinished line of each stream. */
  readonly #begun = new Map<string, string>();
  #newest: string | undefined;

  constructor(prefix: string) {
    this.#prefix = latin1(new TextEncoder().encode(prefix));
  }

  add(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    const lines = latin1(chunk).split(/[\r\n]/);
    const begun = this.#begun.get(stream) ?? '';
    const rest = begun + (lines[0] ?? '').slice(0, MAX_LINE_BYTES - begun.length);
    const [unfinished = '', ...finished] = [rest, ...lines.slice(1)].toReversed();
    this.#begun.set(stream, unfinished.slice(0, MAX_LINE_BYTES));
    const newest = finished.find((line) => this.#stepOf(line) !== undefined);
    if (newest !== undefined) this.#newest = this.#stepOf(newest);
  }

  async read(): Promise<string | undefined> {
    const newest = this.#newest;
    this.#newest = undefined;
    return newest;
  }

  #stepOf(line: string): string | undefined {
    const searched = line.slice(0, MAX_LINE_BYTES);
    const at = searched.indexOf(this.#prefix);
    if (at === -1) return undefined;
    const behind = at + this.#prefix.length;
    return /^[0-9]+/.exec(searched.slice(behind, behind + MAX_DIGITS))?.[0];
  }
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}
