/** Text for people: moments as they write them, and lines that fit a terminal. */

/** `2026-01-01 00:10:00 UTC` for a time of a status, which may have microseconds. */
export function momentText(time: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return time;
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** How much further the second line of a text is indented. */
const HANGING = 2;
/** A line that is indented further would have no room. */
const MAX_INDENT_SHARE = 0.5;

/** Breaks a line at spaces, and a word that is longer than a line within. */
export function wrapped(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = line;
  const indent = line.length - line.trimStart().length;
  const hanging = ' '.repeat(Math.min(indent + HANGING, Math.floor(width * MAX_INDENT_SHARE)));
  while (rest.length > width) {
    const least = rest.length - rest.trimStart().length;
    const space = rest.lastIndexOf(' ', width);
    const end = space > least ? space : width;
    lines.push(rest.slice(0, end).trimEnd());
    rest = hanging + rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

const CUT = '...';
/** Where whole words would leave less of the room, a word is cut. */
const LEAST_SHARE = 2 / 3;

/** Shortens a text, after a whole word if one has room. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const room = Math.max(1, length - CUT.length);
  const space = text.lastIndexOf(' ', room);
  return `${text.slice(0, space > room * LEAST_SHARE ? space : room)}${CUT}`;
}
