/** What a worker said last, as lines that can be read. */
import { shown } from '../../elements/shown-text.ts';

/** Lines that are shown at most; a traceback ends with what matters. */
const SHOWN_LINES = 400;
/** UTF-16 code units of one line. */
const LINE_LENGTH = 1000;

/** The last lines of a text. Control characters are visible, and spaces stay. */
export function lastLines(text: string): readonly string[] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const left = lines.length - SHOWN_LINES;
  const last = lines
    .slice(-SHOWN_LINES)
    .map((line) => shown(line.slice(0, 2 * LINE_LENGTH).replaceAll('\t', '    '), LINE_LENGTH));
  return left > 0 ? [`… ${left} lines before`, ...last] : last;
}
