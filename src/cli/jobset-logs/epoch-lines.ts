/** Which lines of a log belong to an epoch, and which are the agent's own. */

import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { epochsOf } from '../../jobset/status/epochs.ts';
import { overlapBefore, stampAt, stampOf } from './timed-lines.ts';

/** From the release of an epoch to the release of the next: workers that are stopped say why. */
export interface EpochWindow {
  readonly epoch: number;
  /** Wall time of the operator. */
  readonly fromMs: number;
  /** Undefined: no later epoch was released. */
  readonly untilMs: number | undefined;
}

/** What the status says of an epoch, or why its lines cannot be found. */
export function epochWindow(
  { status }: JobSet,
  epoch: number,
): { readonly window: EpochWindow } | { readonly problem: string } {
  const { deprecated, synced } = epochsOf(status);
  const history = status?.restartHistory ?? [];
  const releases = new Map(
    history.flatMap(({ epoch: ended, time, ranMs }) =>
      ranMs === undefined ? [] : [[ended, Date.parse(time) - ranMs] as const],
    ),
  );
  if (synced > deprecated) releases.set(synced, Date.parse(status?.syncedTime ?? ''));
  const fromMs = releases.get(epoch);
  if (fromMs !== undefined && !Number.isNaN(fromMs)) {
    const later = [...releases].flatMap(([other, ms]) => (other > epoch ? [ms] : []));
    const untilMs = later.length === 0 ? undefined : Math.min(...later);
    return { window: { epoch, fromMs, untilMs } };
  }
  if (epoch > deprecated + 1) {
    return { problem: `epoch ${epoch} has not begun: the current one is ${deprecated + 1}` };
  }
  const isKnown = epoch > deprecated || history.some((record) => record.epoch === epoch);
  if (isKnown) return { problem: `epoch ${epoch} was not released, so no worker ran in it` };
  const oldest = Math.min(deprecated + 1, ...history.map((record) => record.epoch));
  return { problem: `epoch ${epoch} is not recorded any more: the oldest is ${oldest}` };
}

/**
 * The lines of one log that belong to the epoch. A supervising agent writes into the log of its
 * worker when an epoch begins. It writes to standard error, and a node reads the worker's output from
 * another pipe, so what the worker says first may stand before that line. Hence each line waits for
 * the lines of the next moment. Before the first such line, and in other logs, the times of the
 * status decide, as far as the clocks of the operator and the node agree.
 */
export async function* linesOfEpoch<T extends JudgedLine>(
  lines: AsyncIterable<T>,
  window: EpochWindow,
): AsyncGenerator<T> {
  const from = stampAt(window.fromMs);
  const until = window.untilMs === undefined ? '~' : stampAt(window.untilMs);
  const isWanted = ({ line: { stamp }, epoch }: Held<T>): boolean =>
    epoch === undefined ? from <= stamp && stamp < until : epoch === window.epoch;
  const held: Held<T>[] = [];
  let current: number | undefined;
  for await (const line of lines) {
    const begun = line.agentLine?.begun;
    if (begun !== undefined) {
      current = begun.epoch;
      for (const earlier of held) {
        if (earlier.line.stamp >= (begun.stamp ?? line.stamp)) earlier.epoch = current;
      }
    }
    held.push({ line, epoch: current });
    const due = overlapBefore(line.stamp);
    while (held.length > MAX_HELD_LINES || (held[0]?.line.stamp ?? '~') < due) {
      const oldest = held.shift();
      if (oldest !== undefined && isWanted(oldest)) yield oldest.line;
    }
  }
  yield* held.filter(isWanted).map(({ line }) => line);
}

/** A line with what the agent says in it, if it is one of the agent's own. */
export interface JudgedLine {
  readonly stamp: string;
  readonly agentLine: AgentLine | undefined;
}

interface Held<T> {
  readonly line: T;
  /** Undefined: no line of the agent has named it yet. */
  epoch: number | undefined;
}

/**
 * Lines that wait at a time; lines of a worker that writes more are judged in the order of the log.
 */
const MAX_HELD_LINES = 4096;

export interface AgentLine {
  readonly message: string;
  /** Which epoch begins with it, and when the agent wrote it. */
  readonly begun: { readonly epoch: number; readonly stamp: string | undefined } | undefined;
}

/** Undefined for a line of the worker. */
export function agentLineOf(text: Buffer): AgentLine | undefined {
  const line = text.indexOf(AGENT_START) === 0 ? parsedObject(text.toString()) : undefined;
  if (line?.['logger'] !== 'agent') return undefined;
  const { epoch, msg, time } = line;
  const begins = msg === 'an epoch begins' && typeof epoch === 'number';
  const begun = begins ? { epoch, stamp: stampOf(String(time)) } : undefined;
  return { message: String(msg), begun };
}

const AGENT_START = '{"level":"';
