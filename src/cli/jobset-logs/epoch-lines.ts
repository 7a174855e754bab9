/** Which lines of a log belong to an epoch, and which are the agent's own. */
import { epochsOf } from '../../jobset/epoch/dialect.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { isJsonObject } from '../../kube/json/json-value.ts';
import { stampAt } from './timed-lines.ts';

/** From the release of an epoch to the release of the next: workers that are stopped say why. */
export interface EpochWindow {
  readonly epoch: number;
  /** Wall time of the operator. */
  readonly fromMs: number;
  /** Undefined: no later epoch was released. */
  readonly untilMs: number | undefined;
}

/** What the status says of an epoch, or why its lines cannot be told from others. */
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
 * Judges the lines of one log in their order. A supervising agent writes into the log of its worker when
 * an epoch begins, which is exact. Before the first such line, and in other logs, the times of the status
 * decide, as far as the clocks of the operator and the node agree.
 */
export class EpochFilter {
  readonly #window: EpochWindow;
  readonly #from: string;
  readonly #until: string;
  #current: number | undefined;

  constructor(window: EpochWindow) {
    this.#window = window;
    this.#from = stampAt(window.fromMs);
    this.#until = window.untilMs === undefined ? '~' : stampAt(window.untilMs);
  }

  wants(stamp: string, agentLine: AgentLine | undefined): boolean {
    this.#current = agentLine?.beginsEpoch ?? this.#current;
    if (this.#current !== undefined) return this.#current === this.#window.epoch;
    return this.#from <= stamp && stamp < this.#until;
  }
}

export interface AgentLine {
  readonly message: string;
  readonly beginsEpoch: number | undefined;
}

/** Undefined for a line of the worker. */
export function agentLineOf(text: Buffer): AgentLine | undefined {
  if (text.indexOf(AGENT_START) !== 0) return undefined;
  try {
    const line: unknown = JSON.parse(text.toString());
    if (!isJsonObject(line) || line['logger'] !== 'agent') return undefined;
    const { epoch, msg } = line;
    const begins = msg === 'an epoch begins' && typeof epoch === 'number';
    return { message: String(msg), beginsEpoch: begins ? epoch : undefined };
  } catch {
    return undefined;
  }
}

const AGENT_START = '{"level":"';
