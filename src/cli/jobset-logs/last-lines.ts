/** The last lines that are shown of a log with other lines. */
import type { TimedLine } from './timed-lines.ts';

/** Other lines, such as an agent writes in some restarts. */
const OTHER_LINES = 64;
/** Other processes of the Pod may write more than that, but a search has to end. */
const FACTORS: readonly number[] = [1, 8, 64];
/** For one log, while it is not known which lines are the last. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * The last `wanted` lines that count. Servers count all lines, so more are asked for than are shown.
 * `read` asks a server for the last lines of a log.
 */
export async function* lastCounted(
  wanted: number,
  counts: (text: Buffer) => boolean,
  read: (tailLines: number) => AsyncIterable<TimedLine>,
): AsyncGenerator<TimedLine> {
  let lines: readonly TimedLine[] = [];
  for (const factor of FACTORS) {
    const asked = (wanted + OTHER_LINES) * factor;
    const found = await countedLines(read(asked), counts);
    if (found === undefined) return yield* read(wanted);
    lines = found.lines.slice(-wanted);
    if (lines.length === wanted || found.count < asked) break;
  }
  yield* lines;
}

/** `count` counts all lines. Undefined if those that count are too many to be held. */
async function countedLines(
  all: AsyncIterable<TimedLine>,
  counts: (text: Buffer) => boolean,
): Promise<{ readonly lines: readonly TimedLine[]; readonly count: number } | undefined> {
  const lines: TimedLine[] = [];
  let count = 0;
  let held = 0;
  for await (const line of all) {
    count++;
    if (!counts(line.text)) continue;
    held += line.text.length;
    if (held > MAX_HELD_BYTES) return undefined;
    lines.push(line);
  }
  return { lines, count };
}
