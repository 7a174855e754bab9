/**
 * The reports of a member: of its worker as a whole, or of each rank that reports for itself. A rank
 * is a process of the worker, named by its local rank. Once a rank has reported, reports of the worker
 * as a whole say nothing more. Holds no timer and no clock.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import {
  MAX_LAGS,
  type Progress,
  type StandbyDeaths,
  type StandbyState,
} from '../../jobset/progress/progress.ts';
import { ProgressWatch } from './progress-watch.ts';
import { rankWords } from './rank-words.ts';

/** A rank that is silent for longer than this, and than this many times the usual silence, lags. */
const LONG_SILENCE_MS = 10_000;
const LONG_SILENCE_FACTOR = 2;

/** One process that reports. */
export interface Reporter {
  /** Absent: the worker as a whole. */
  readonly local?: number;
  readonly watch: ProgressWatch;
}

export class MemberProgress {
  /** The agent's report about the standby beside the worker. */
  standby: StandbyState | undefined;
  standbyDeaths: StandbyDeaths | undefined;
  readonly #whole = new ProgressWatch();
  readonly #wholeOnly: readonly Reporter[] = [{ watch: this.#whole }];
  /** By local rank. */
  readonly #ranks = new Map<number, ProgressWatch>();
  /** Ranks in the group, by local rank. */
  readonly #numbers = new Map<number, number>();
  /** Ranks that ended well: their silence means nothing. */
  readonly #finished = new Set<number>();
  #lastLookMs = 0;

  /** A worker starts, at a monotonic time. The reports of an earlier worker are forgotten. */
  begin(nowMs: number): void {
    this.#lastLookMs = nowMs;
    this.#whole.begin(nowMs);
    this.#ranks.clear();
    this.#numbers.clear();
    this.#finished.clear();
  }

  /** Lets time pass, up to a monotonic time. */
  look(nowMs: number): void {
    this.#lastLookMs = nowMs;
    this.#whole.look(nowMs);
    for (const watch of this.#ranks.values()) watch.look(nowMs);
  }

  /**
   * A line of a rank, or without `local` of the worker as a whole, that is new since the last look.
   * False if it is malformed, and so changes nothing.
   */
  took(text: string, local?: number): boolean {
    if (local === undefined) return this.#whole.took(text);
    const { rank } = rankWords(text);
    if (rank !== undefined && !this.#numbers.has(local)) this.numbered(local, rank);
    const known = this.#ranks.get(local);
    if (known !== undefined) return known.took(text);
    const watch = new ProgressWatch();
    watch.begin(this.#lastLookMs);
    const isTaken = watch.took(text);
    if (watch.progress !== undefined) this.#ranks.set(local, watch);
    return isTaken;
  }

  /** Its rank in the group is known: what a line says of it counts no more. */
  numbered(local: number, rank: number): void {
    this.#numbers.set(local, rank);
  }

  /** A rank ended well, and is silent from now on. */
  finished(local: number): void {
    this.#finished.add(local);
  }

  /**
   * The processes whose silence counts, by local rank: the ranks that have reported and still run, or
   * the worker as a whole.
   */
  get reporters(): readonly Reporter[] {
    const all = this.#all;
    if (this.#finished.size === 0) return all;
    const running = all.filter(({ local }) => local === undefined || !this.#finished.has(local));
    return running.length === 0 ? all : running;
  }

  /** The one that has been silent for the longest time. */
  get mostSilent(): Reporter {
    return this.reporters.reduce((a, b) => (b.watch.silentMs > a.watch.silentMs ? b : a));
  }

  /** Undefined before the first line. The step and the checkpoint are the least of the ranks that run. */
  get progress(): Progress | undefined {
    const { progress } = this.mostSilent.watch;
    if (progress === undefined) return undefined;
    const { silentMs, phase } = progress;
    const { standby, standbyDeaths } = this;
    const step = least(this.#told(({ step }) => step));
    const checkpoint = least(this.#told(({ checkpoint }) => checkpoint));
    const ranks = this.#ranks.size === 0 ? undefined : Math.max(...this.#ranks.keys()) + 1;
    return { ...defined({ step, checkpoint, phase, standby, standbyDeaths, ranks }), silentMs };
  }

  /** For the hub, with ages at a monotonic time. They grow even after the worker has ended. */
  toldAt(nowMs: number): Progress | undefined {
    const { progress } = this;
    if (progress === undefined) return undefined;
    const all = this.#all.flatMap(({ watch }) => watch.toldAt(nowMs) ?? []);
    const firstStepMs = greatest(all.flatMap((told) => told.firstStepMs ?? []));
    const saved = all.filter(({ checkpoint }) => checkpoint === progress.checkpoint);
    const checkpointMs = least(saved.flatMap((told) => told.checkpointMs ?? []));
    return { ...progress, ...defined({ firstStepMs, checkpointMs }), ...this.#lag() };
  }

  /** The ranks that differ from the rest, the most silent first. */
  #lag(): Pick<Progress, 'lag' | 'rest'> {
    const { reporters } = this;
    if (reporters.length < 2) return {};
    const newest = greatest(reporters.flatMap(({ watch }) => watch.progress?.step ?? []));
    const silences = reporters.map(({ watch }) => watch.silentMs).toSorted((a, b) => a - b);
    const usualMs = silences[(silences.length - 1) >> 1] ?? 0;
    const longMs = Math.max(LONG_SILENCE_MS, LONG_SILENCE_FACTOR * usualMs);
    const lags = reporters.flatMap(({ local, watch }) => {
      const { step, phase } = watch.progress ?? {};
      const isBehind = step !== undefined && newest !== undefined && step < newest - 1;
      if (local === undefined || (!isBehind && watch.silentMs <= longMs)) return [];
      const rank = this.#numbers.get(local);
      return [{ local, ...defined({ rank, step, phase }), silentMs: watch.silentMs }];
    });
    if (lags.length === 0) return {};
    const lag = lags.toSorted((a, b) => b.silentMs - a.silentMs).slice(0, MAX_LAGS);
    return { lag, rest: { ...defined({ step: newest }), silentMs: usualMs } };
  }

  /** The longest time since a line, or since the start of the worker if there is none. */
  get silentMs(): number {
    return this.mostSilent.watch.silentMs;
  }

  /** The longest silence between two steps; undefined before the second. */
  get longestMs(): number | undefined {
    return greatest(this.#all.flatMap(({ watch }) => watch.longestMs ?? []));
  }

  /** When a new step was reported last; monotonic. */
  get newestStepMs(): number | undefined {
    return greatest(this.#all.flatMap(({ watch }) => watch.newestStepMs ?? []));
  }

  /** How many different steps were reported. */
  get steps(): number {
    return Math.max(...this.#all.map(({ watch }) => watch.steps));
  }

  get #all(): readonly Reporter[] {
    if (this.#ranks.size === 0) return this.#wholeOnly;
    return [...this.#ranks].map(([local, watch]) => ({ local, watch }));
  }

  #told(read: (progress: Progress) => number | undefined): readonly number[] {
    return this.reporters.flatMap(({ watch }) => {
      const value = watch.progress && read(watch.progress);
      return value ?? [];
    });
  }
}

function least(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.min(...values);
}

function greatest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}
