/** Prints lines of members: each with the rank of its member in front. */
import { MAX_LINE_BYTES } from '../log-lines.ts';
import {
  type AgentLine,
  agentLineOf,
  type EpochWindow,
  type JudgedLine,
  linesOfEpoch,
} from './epoch-lines.ts';
import type { TimedLine } from './timed-lines.ts';

export interface LabelledLine extends TimedLine {
  readonly label: string;
}

export interface ShownLines {
  readonly withTimestamps: boolean;
  /** Show what the agent itself says in the log of its worker. */
  readonly withAgent: boolean;
  readonly window: EpochWindow | undefined;
  /** The rank of the only process whose lines are shown, which begin with it. */
  readonly process?: number;
  /** Only so many of the last lines of the window. */
  readonly tailLines?: number;
}

/** The lines that are to be shown, with their label. */
export async function* shownLines(
  lines: AsyncIterable<TimedLine>,
  label: string,
  shown: ShownLines,
): AsyncGenerator<LabelledLine> {
  const { window, tailLines } = shown;
  const judged = withAgentLines(lines);
  const inWindow = window === undefined ? judged : linesOfEpoch(judged, window);
  const wanted = labelled(inWindow, label, shown);
  yield* window === undefined || tailLines === undefined ? wanted : lastOf(wanted, tailLines);
}

async function* labelled(
  lines: AsyncIterable<TimedLine & JudgedLine>,
  label: string,
  shown: ShownLines,
): AsyncGenerator<LabelledLine> {
  for await (const { agentLine, ...line } of lines) {
    if (isShown(line.text, agentLine, shown)) yield { ...line, label };
  }
}

function isShown(
  text: Buffer,
  agentLine: AgentLine | undefined,
  { withAgent, process }: ShownLines,
): boolean {
  if (agentLine !== undefined) return withAgent;
  return process === undefined || text.indexOf(`[${process}] `) === 0;
}

/** Which of the lines of a log count as its last; undefined: all. */
export function countedBy(shown: ShownLines): ((text: Buffer) => boolean) | undefined {
  if (shown.withAgent && shown.process === undefined) return undefined;
  return (text) => isShown(text, agentLineOf(text), shown);
}

/** For one log. If it has more, the last bytes are shown. */
const MAX_TAIL_BYTES = 16 * 1024 * 1024;

async function* lastOf(
  lines: AsyncIterable<LabelledLine>,
  count: number,
): AsyncGenerator<LabelledLine> {
  const kept: LabelledLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    kept.push(line);
    bytes += bytesOf(line);
    while (kept.length > count || bytes > MAX_TAIL_BYTES) {
      const oldest = kept.shift();
      if (oldest === undefined) break;
      bytes -= bytesOf(oldest);
    }
  }
  yield* kept;
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
