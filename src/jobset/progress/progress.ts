/** How far a worker is: the line that it writes, and what its agent reports of it to the hub. */
import { parseDuration } from '@lockstep/kube/duration.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import {
  isLocalRank,
  isMilliseconds,
  isRank,
  isStep,
  MAX_RANKS_OF_POD,
} from '../reported-number.ts';
import { type Exit, parseExit } from '../worker-end/worker-end.ts';

/** What a worker has reported since it started. */
export interface Progress {
  /** The newest step that is done, 0 to 2^53 - 1. */
  readonly step?: number;
  /** The step of the newest complete checkpoint. */
  readonly checkpoint?: number;
  /** What it does instead of stepping: letters, digits, `-`, `_` and `.`, at most 32. */
  readonly phase?: string;
  /** Milliseconds since its last report. */
  readonly silentMs: number;
  /** Milliseconds since its first step; absent: it has not stepped. */
  readonly firstStepMs?: number;
  /** Milliseconds since it first reported its newest checkpoint. */
  readonly checkpointMs?: number;
  /** The warm standby beside it; absent: there is none, or it is not ready. */
  readonly standby?: StandbyState;
  /**
   * Absent: no standby beside it died since the release, one stays ready, or there are none any
   * more; or the agent is of an older version.
   */
  readonly standbyDeaths?: StandbyDeaths;
  /**
   * The highest local rank that reports for itself, and 1, so 1 to 64; absent: the worker reports as
   * a whole.
   */
  readonly ranks?: number;
  /**
   * Ranks that differ from the rest of the member, the most silent first, at most `MAX_LAGS`; absent:
   * none does. Only a `ping` has room for them.
   */
  readonly lag?: readonly RankLag[];
  /** Where some lag: the newest step of the ranks, and their usual silence. */
  readonly rest?: Pick<RankLag, 'step' | 'silentMs'>;
}

/** A rank that is steps behind the first one of its member, or is silent for much longer. */
export interface RankLag {
  /** Its local rank. */
  readonly local: number;
  /** Its rank in the group, as it says itself. */
  readonly rank?: number;
  readonly step?: number;
  readonly phase?: string;
  readonly silentMs: number;
}

export const MAX_LAGS = 4;

/**
 * `Ready`: it waits for the next epoch. The others: this Pod gets none any more, because one
 * reported something else, exited with 0, or memory ran out beside one.
 */
export type StandbyState = (typeof STANDBY_STATES)[number];
const STANDBY_STATES = ['Ready', 'Reported', 'Exited', 'OutOfMemory'] as const;

/** How many standbys died beside a worker since its release. */
export interface StandbyDeaths {
  /** Above 0. */
  readonly count: number;
  /** How the last one ended. `NotReady`: it took too long, and was killed; absent: not known. */
  readonly last?: Exit | 'NotReady';
}

/** One line of the file, such as `330 checkpoint=300 phase=evaluate timeout=20m`. */
export interface ProgressLine extends Pick<Progress, 'step' | 'checkpoint' | 'phase'> {
  /** How long the worker may be silent after this line; absent: as long as usual. */
  readonly silence?: number | 'Unlimited';
}

/** The phase of a worker that has prepared itself and waits for its start file. */
const STANDBY_PHASE = 'standby';

/** A line with that phase is no progress: the worker that wrote it has not begun. */
export function saysStandby({ phase }: ProgressLine): boolean {
  return phase === STANDBY_PHASE;
}

const MAX_PHASE_LENGTH = 32;
const LABEL = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/**
 * Undefined for a line that says nothing, or has a step, checkpoint, phase or time-out that is out
 * of bounds. A reader ignores words that it does not know.
 */
export function parseProgressLine(text: string): ProgressLine | undefined {
  const words = text.split(/\s+/).filter((word) => word !== '');
  let line: { -readonly [K in keyof ProgressLine]: ProgressLine[K] } = {};
  for (const [index, word] of words.entries()) {
    const read = readWord(word, index === 0);
    if (read === undefined) return undefined;
    line = { ...line, ...read };
  }
  return Object.keys(line).length === 0 ? undefined : line;
}

/** Undefined for a known word with an invalid value. */
function readWord(word: string, isFirst: boolean): ProgressLine | undefined {
  if (isFirst && /^[+-]?[0-9]/.test(word)) {
    const step = parseStep(word);
    return step === undefined ? undefined : { step };
  }
  const [, name = '', value = ''] = /^([a-z]+)=(.*)$/s.exec(word) ?? [];
  switch (name) {
    case 'checkpoint': {
      const checkpoint = parseStep(value);
      return checkpoint === undefined ? undefined : { checkpoint };
    }
    case 'phase':
      return isPhase(value) ? { phase: value } : undefined;
    case 'timeout': {
      if (value === 'none') return { silence: 'Unlimited' };
      const silence = parseDuration(value);
      return silence === undefined || silence <= 0 ? undefined : { silence };
    }
    default:
      return {};
  }
}

function parseStep(text: string): number | undefined {
  const step = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return isStep(step) ? step : undefined;
}

/** The members of a hub message that carry the progress, without `lag`. */
export function progressFields(progress: Progress | undefined): object {
  if (progress === undefined) return {};
  const { silentMs, firstStepMs, checkpointMs, lag: _lag, rest: _rest, ...told } = progress;
  return {
    ...told,
    silentMs: Math.round(silentMs),
    ...defined({ firstStepMs: whole(firstStepMs), checkpointMs: whole(checkpointMs) }),
  };
}

/** The members of a hub message that carry the ranks that lag behind. */
export function lagFields({ lag, rest }: Partial<Progress> = {}): object {
  if (lag === undefined || rest === undefined) return {};
  return { lag: lag.map(rounded), rest: rounded(rest) };
}

function rounded<T extends { readonly silentMs: number }>(told: T): T {
  return { ...told, silentMs: Math.round(told.silentMs) };
}

function whole(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}

/** Undefined if the message has none, or any part is out of bounds: it is only a report. */
export function parseProgress(fields: JsonObject): Progress | undefined {
  const { step, checkpoint, phase, silentMs, firstStepMs, checkpointMs } = fields;
  const isValid =
    isMilliseconds(silentMs) &&
    (step === undefined || isStep(step)) &&
    (checkpoint === undefined || isStep(checkpoint)) &&
    (phase === undefined || isPhase(phase)) &&
    (firstStepMs === undefined || isMilliseconds(firstStepMs)) &&
    (checkpointMs === undefined || isMilliseconds(checkpointMs));
  if (!isValid) return undefined;
  // The hub parses thousands of these a second.
  const progress: { -readonly [K in keyof Progress]: Progress[K] } = { silentMs };
  if (step !== undefined) progress.step = step;
  if (checkpoint !== undefined) progress.checkpoint = checkpoint;
  if (phase !== undefined) progress.phase = phase;
  if (firstStepMs !== undefined) progress.firstStepMs = firstStepMs;
  if (checkpointMs !== undefined) progress.checkpointMs = checkpointMs;
  const standby = STANDBY_STATES.find((known) => known === fields['standby']);
  if (standby !== undefined) progress.standby = standby;
  const standbyDeaths = parseDeaths(fields['standbyDeaths']);
  if (standbyDeaths !== undefined) progress.standbyDeaths = standbyDeaths;
  const { ranks, lag, rest } = fields;
  if (isStep(ranks) && ranks > 0 && ranks <= MAX_RANKS_OF_POD) progress.ranks = ranks;
  const lags = lag === undefined ? undefined : parseLag(lag);
  const others = isJsonObject(rest) ? parseRest(rest) : undefined;
  if (lags !== undefined && others !== undefined) {
    progress.lag = lags;
    progress.rest = others;
  }
  return progress;
}

/** Undefined if any part is out of bounds. */
function parseLag(told: unknown): readonly RankLag[] | undefined {
  if (!Array.isArray(told) || told.length === 0 || told.length > MAX_LAGS) return undefined;
  const lags = (told as readonly unknown[]).flatMap((one) => {
    const { local, rank, step, phase, silentMs } = isJsonObject(one) ? one : {};
    const isValid =
      isLocalRank(local) &&
      isMilliseconds(silentMs) &&
      (rank === undefined || isRank(rank)) &&
      (step === undefined || isStep(step)) &&
      (phase === undefined || isPhase(phase));
    return isValid ? [{ local, ...defined({ rank, step, phase }), silentMs }] : [];
  });
  return lags.length === told.length ? lags : undefined;
}

function parseRest({ step, silentMs }: JsonObject): Progress['rest'] {
  const isValid = isMilliseconds(silentMs) && (step === undefined || isStep(step));
  return isValid ? { ...defined({ step }), silentMs } : undefined;
}

function parseDeaths(told: unknown): StandbyDeaths | undefined {
  if (!isJsonObject(told)) return undefined;
  const { count, last: how } = told;
  if (!isStep(count) || count === 0) return undefined;
  if (how === 'NotReady') return { count, last: how };
  return { count, ...defined({ last: isJsonObject(how) ? parseExit(how) : undefined }) };
}

function isPhase(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_PHASE_LENGTH && LABEL.test(value);
}
