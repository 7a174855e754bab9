/** Texts of users, workers and clusters, which may be anything: visible, and not too long. */
import { printable } from '@lockstep/kube/quote.ts';

/** UTF-16 code units that are shown of a text where no more are asked for. */
const SHOWN_LENGTH = 2000;

/**
 * One line. Control characters and those that turn the direction of a text are escaped; what is cut
 * off is counted.
 */
export function shown(text: string, length = SHOWN_LENGTH): string {
  if (text.length <= length) return printable(text);
  return `${printable(whole(text.slice(0, length)))}… (${text.length - length} more characters)`;
}

/** Several lines, which stay lines. */
export function shownLines(text: string, length = SHOWN_LENGTH): string {
  const cut = text.length > length;
  const lines = whole(text.slice(0, length)).split('\n').map(printable);
  return cut ? `${lines.join('\n')}… (${text.length - length} more characters)` : lines.join('\n');
}

/** Without the first half of a pair that a cut has left. */
function whole(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
