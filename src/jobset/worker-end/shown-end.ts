/** The end of a worker as people are shown it: `cause` in the report of the hub about a member. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { hangInWords } from './end-in-words.ts';
import { type Exit, isEpoch, parseExit, type WorkerEnd } from './worker-end.ts';

export interface ShownEnd {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  readonly end: Exit;
  /** In words, if its agent killed it because it hung: the signal does not tell. */
  readonly hung?: string;
}

/** Undefined if the exit is not known. */
export function shownEnd(end: WorkerEnd | undefined): ShownEnd | undefined {
  if (end?.exit === undefined) return undefined;
  return { epoch: end.epoch, end: end.exit, ...defined({ hung: hangInWords(end) }) };
}

/** Undefined for an invalid value. */
export function parseShownEnd(value: unknown): ShownEnd | undefined {
  const { epoch, end: told, hung } = isJsonObject(value) ? value : {};
  const end = isJsonObject(told) ? parseExit(told) : undefined;
  if (end === undefined || !isEpoch(epoch)) return undefined;
  return { epoch, end, ...(typeof hung === 'string' && { hung: hung.slice(0, MAX_HUNG_LENGTH) }) };
}

/** A time and a step take less. */
const MAX_HUNG_LENGTH = 100;
