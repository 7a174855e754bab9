/** The last lines of a worker, in a log to which its agent writes too. */
import { agentLineOf } from './epoch-lines.ts';
import type { TimedLine } from './timed-lines.ts';

/** Lines that an agent writes in some restarts. */
const AGENT_LINES = 64;
/** An agent that writes more than that is in trouble, and there is not much of its worker. */
const FACTORS: readonly number[] = [1, 8, 64];
/** For one log, while it is not known which lines are the last. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * The last `wanted` lines without lines of the agent. Servers count all lines, so more are asked for
 * than are shown. `read` asks a server for the last lines of a log.
 */
export async function* lastWorkerLines(
  wanted: number,
  read: (tailLines: number) => AsyncIterable<TimedLine>,
): AsyncGenerator<TimedLine> {
  let lines: readonly TimedLine[] = [];
  for (const factor of FACTORS) {
    const asked = (wanted + AGENT_LINES) * factor;
    const found = await workerLines(read(asked));
    if (found === undefined) return yield* read(wanted);
    lines = found.lines.slice(-wanted);
    if (lines.length === wanted || found.count < asked) break;
  }
  yield* lines;
}

/** `count` counts all lines. Undefined if the worker's are too many to be held. */
async function workerLines(
  all: AsyncIterable<TimedLine>,
): Promise<{ readonly lines: readonly TimedLine[]; readonly count: number } | undefined> {
  const lines: TimedLine[] = [];
  let count = 0;
  let held = 0;
  for await (const line of all) {
    count++;
    if (agentLineOf(line.text) !== undefined) continue;
    held += line.text.length;
    if (held > MAX_HELD_BYTES) return undefined;
    lines.push(line);
  }
  return { lines, count };
}
