/**
 * A trace of a simulated run: what happened, and what a page needs to show the run at each moment.
 * The simulator writes it as lines of JSON, and `lockstep dashboard --trace` plays it. Times are
 * milliseconds since the simulated world began.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { Progress } from '../../jobset/progress/progress.ts';

/** The head comes first, once. The other lines come in the order of their times. */
export type TraceLine = TraceHead | TraceState | TraceEvent;

export const TRACE_VERSION = 1;

export interface TraceHead {
  readonly kind: 'Trace';
  readonly version: typeof TRACE_VERSION;
  readonly seed: number;
  /** When the world began, in Unix milliseconds of its own clock. */
  readonly startMs: number;
}

/** From this line on, it is so. */
export type TraceState = { readonly atMs: number } & (
  | { readonly kind: 'JobSet'; readonly jobSet: Stored<JobSet> }
  | { readonly kind: 'Pod'; readonly pod: Stored<Pod> }
  | { readonly kind: 'PodGone'; readonly uid: string }
  /** What the agent of a Pod has reported, and no object says. What is absent is as before. */
  | ({ readonly kind: 'Told'; readonly uid: string } & Told)
);

export interface Told {
  /** The newest epoch whose announcement has arrived. */
  readonly epoch?: number;
  /** What the worker has reported, by the time of the line. */
  readonly progress?: Progress;
}

export const EVENT_KINDS = [
  'Act',
  'Peace',
  'WorkerStarts',
  'WorkerEnds',
  'PodEnds',
  'Status',
  'Announces',
  'Announced',
  'Hears',
  'Violated',
] as const;

/** One step of the player. The states before its line are those that it left. */
export interface TraceEvent {
  readonly kind: (typeof EVENT_KINDS)[number];
  readonly atMs: number;
  /** In words, on one line, of at most `MAX_TEXT_LENGTH`. */
  readonly text: string;
}

/** UTF-16 code units of an event's words. */
export const MAX_TEXT_LENGTH = 4096;

/** What a page hears of a trace as a whole. */
export interface TraceView {
  readonly seed: number;
  /** At least one. */
  readonly events: readonly TraceEvent[];
}
