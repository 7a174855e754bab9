/** The last words of a worker, for people who look for the reason of its end. */

import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import { MAX_LAST_WORDS_BYTES } from '../../jobset/worker-end/ended.ts';
import { lastLines } from '../../jobset/worker-end/limited-text.ts';

/** `texts` are in order, the best first; undefined if all are empty. */
export function lastWords(texts: readonly (string | undefined)[]): string | undefined {
  for (const text of texts) {
    const words = text?.replaceAll('\0', '').trim() ?? '';
    if (words !== '') return lastLines(words, MAX_LAST_WORDS_BYTES);
  }
  return undefined;
}

/**
 * The text in a file of `TORCHELASTIC_ERROR_FILE`: the traceback, which ends in the message, or the
 * message alone. PyTorch writes `{"message": {"message": ..., "extraInfo": {"py_callstack": ...}}}`
 * for an exception, and `{"message": "..."}` for a process that died.
 */
export function torchErrorText(json: string): string | undefined {
  const message = parsedObject(json)?.['message'];
  if (!isJsonObject(message)) return typeof message === 'string' ? message : undefined;
  const { extraInfo } = message;
  const stack = isJsonObject(extraInfo) ? extraInfo['py_callstack'] : undefined;
  const texts = [stack, message['message']];
  return texts.find((text) => typeof text === 'string' && text.trim() !== '') as string | undefined;
}

/** Enough for the last words in any alphabet. */
const KEPT_BYTES = 4096;

/** Python prints this for an uncaught exception. Loggers print it for caught ones, too. */
const TRACEBACK = 'Traceback (most recent call last)';

/** The last bytes of a stream. Times are of the monotonic clock. */
export class StreamTail {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #lastMs: number | undefined;
  #tracebackMs: number | undefined;
  /** The end of the last chunk, in which a traceback may have begun. */
  #begun = '';

  /** The time of its last output. */
  get lastMs(): number | undefined {
    return this.#lastMs;
  }

  /** When its first traceback began. */
  get tracebackMs(): number | undefined {
    return this.#tracebackMs;
  }

  add(chunk: Uint8Array, nowMs: number): void {
    this.#lastMs = nowMs;
    if (this.#tracebackMs === undefined) {
      const text = this.#begun + new TextDecoder('latin1').decode(chunk);
      if (text.includes(TRACEBACK)) this.#tracebackMs = nowMs;
      this.#begun = text.slice(1 - TRACEBACK.length);
    }
    const kept = chunk.slice(-KEPT_BYTES);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? this.#bytes) >= KEPT_BYTES) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
    }
  }

  get text(): string {
    const decoder = new TextDecoder();
    return this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('');
  }
}
