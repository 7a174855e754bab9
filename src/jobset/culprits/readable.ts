/** Texts of workers without what may deceive a terminal or a reader. */
import { MAX_LAST_WORDS_BYTES } from '../worker-end/ended.ts';
import { lastLines } from '../worker-end/limited-text.ts';

/** Control characters, halves of surrogate pairs, and characters that turn a line's direction. */
const DECEIVING = /(?![\n\t])[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

/** The text without deceiving characters; line feeds and tabs stay. */
export function readable(text: string): string {
  const shown = text.replaceAll('\r\n', '\n').replaceAll(DECEIVING, '\uFFFD');
  return lastLines(shown, MAX_LAST_WORDS_BYTES);
}

/** The readable text in one line. */
export function readableLine(text: string): string {
  return text.replaceAll(DECEIVING, '\uFFFD').replaceAll(/[\n\t]/g, ' ');
}
