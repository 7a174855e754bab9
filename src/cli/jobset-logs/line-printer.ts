/** Prints lines of members: each with the rank of its member in front. */
import { MAX_LINE_BYTES } from '../log-lines.ts';
import { agentLineOf, type EpochWindow, type JudgedLine, linesOfEpoch } from './epoch-lines.ts';
import type { TimedLine } from './timed-lines.ts';

export interface LabelledLine extends TimedLine {
  readonly label: string;
}

export interface ShownLines {
  readonly withTimestamps: boolean;
  /** Show what the agent itself says in the log of its worker. */
  readonly withAgent: boolean;
  readonly window: EpochWindow | undefined;
}

/** The lines that are to be shown, with their label. */
export async function* shownLines(
  lines: AsyncIterable<TimedLine>,
  label: string,
  { withAgent, window }: ShownLines,
): AsyncGenerator<LabelledLine> {
  const judged = withAgentLines(lines);
  const wanted = window === undefined ? judged : linesOfEpoch(judged, window);
  for await (const { agentLine, ...line } of wanted) {
    if (agentLine !== undefined && !withAgent) continue;
    yield { ...line, label };
  }
}

async function* withAgentLines(
  lines: AsyncIterable<TimedLine>,
): AsyncGenerator<TimedLine & JudgedLine> {
  for await (const line of lines) yield { ...line, agentLine: agentLineOf(line.text) };
}

/** The bytes of the worker are passed on as they are, as kubectl does. */
export function printed(line: LabelledLine, withTimestamps: boolean): Buffer {
  const time = withTimestamps && line.stamp !== '' ? `${line.stamp} ` : '';
  const end = line.isCut ? ` [cut: longer than ${MAX_LINE_BYTES / 1024} KiB]\n` : '\n';
  return Buffer.concat([Buffer.from(`[${line.label}] ${time}`), line.text, Buffer.from(end)]);
}

/** Besides its text. */
const LINE_OVERHEAD_BYTES = 200;

export function bytesOf({ text }: LabelledLine): number {
  return text.length + LINE_OVERHEAD_BYTES;
}
