/**
 * The memory of an agent through restarts of its container: the epoch that it announced last, and
 * the epoch in which its worker started last. It is in an emptyDir, so it is deleted with the Pod.
 * The agent writes it before the act that it records, so it may claim too much but never too little.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import { isMilliseconds, isStep } from '../jobset/reported-number.ts';

export interface Marker {
  readonly announced: number;
  readonly started: number;
  /**
   * How many agents of this Pod, one after the other, have announced `announced`
   * (`docs/design/member-hazards.md#containers-crash-before-the-barrier`).
   */
  readonly starts: number;
  /**
   * The worker of this Pod that made no progress, so that the agent left its container. The next
   * announcement carries it. It does not matter for any other epoch.
   */
  readonly hung?: HungWorker;
  /** The knowledge of this Pod's agents about their workers' steps. */
  readonly learnt?: Learnt;
}

export interface HungWorker {
  readonly epoch: number;
  /** The time since its last report, or since its start if it never reported. */
  readonly silentMs: number;
  readonly step?: number;
  /** The longest silence between two of its steps. */
  readonly longestMs?: number;
  /** Wall time. */
  readonly endedMs: number;
}

/** The input of the time-out `Auto`. */
export interface Learnt {
  /** Pods of the group: another size takes another time for a step. */
  readonly members: number;
  /** How many steps were seen, counted only as far as it matters. */
  readonly steps: number;
  /** The longest silence between two steps. */
  readonly longestMs?: number;
  /** The step at which a worker last hung. */
  readonly hungStep?: number;
  /** A worker hung twice without a step between. */
  readonly isPatient?: true;
}

/** The marker of a Pod whose agent has never announced anything. */
export const NO_MARKER: Marker = { announced: 0, started: 0, starts: 0 };

/** Where the marker is kept. */
export interface MarkerStore {
  /** Undefined without a marker, or with one that cannot be parsed. */
  read(): Promise<Marker | undefined>;
  /** The marker is durable when this resolves; rejects if that failed. */
  write(marker: Marker): Promise<void>;
}

export function formatMarker(marker: Marker): string {
  return `${JSON.stringify(marker)}\n`;
}

/**
 * Undefined for any text that `formatMarker` did not write, such as a torn file. Malformed members
 * that are not about epochs are left out.
 */
export function parseMarker(text: string): Marker | undefined {
  const parsed = parsedObject(text) ?? {};
  const { announced, started, starts } = parsed;
  if (!isCount(announced) || !isCount(started) || !isCount(starts)) return undefined;
  const hung = parseHung(parsed['hung']);
  const learnt = parseLearnt(parsed['learnt']);
  return { announced, started, starts, ...defined({ hung, learnt }) };
}

function parseHung(value: unknown): HungWorker | undefined {
  if (!isJsonObject(value)) return undefined;
  const { epoch, silentMs, step, longestMs, endedMs } = value;
  return isCount(epoch) &&
    isMilliseconds(silentMs) &&
    isMilliseconds(endedMs) &&
    (step === undefined || isStep(step)) &&
    (longestMs === undefined || isMilliseconds(longestMs))
    ? { epoch, silentMs, endedMs, ...defined({ step, longestMs }) }
    : undefined;
}

function parseLearnt(value: unknown): Learnt | undefined {
  if (!isJsonObject(value)) return undefined;
  const { members, steps, longestMs, hungStep, isPatient } = value;
  return isCount(members) &&
    isCount(steps) &&
    (longestMs === undefined || isMilliseconds(longestMs)) &&
    (hungStep === undefined || isStep(hungStep))
    ? {
        members,
        steps,
        ...defined({ longestMs, hungStep }),
        ...(isPatient === true ? { isPatient } : {}),
      }
    : undefined;
}

const MAX_INT32 = 2147483647;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_INT32;
}

/** For an agent without a marker directory: its marker ends with its process. */
export function processMarkerStore(): MarkerStore {
  let kept: Marker | undefined;
  return {
    read: () => Promise.resolve(kept),
    write: (marker) => {
      kept = marker;
      return Promise.resolve();
    },
  };
}
