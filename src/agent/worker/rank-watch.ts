/**
 * Watches the processes of the ranks below a worker's launcher, as far as these say their numbers, to
 * know which of them ended first. It looks at nothing until a rank has reported.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Exit } from '../../jobset/worker-end/worker-end.ts';
import type { MemberProgress } from '../progress/member-progress.ts';
import type { RankFailure } from '../progress/progress-files.ts';
import { rankWords } from '../progress/rank-words.ts';
import { BY_LAUNCHER, type FirstRank, firstOf, type RankSeen } from './first-rank.ts';
import type { RankLooks } from './rank-looks.ts';

const LOOK_MS = 100;
/** So there are at most 80 looks a second, whatever the number of ranks. */
const RANKS_PER_LOOK = 8;
/** Launchers lie no deeper than this below the first process. */
const MAX_ANCESTORS = 16;

export interface RankWatchOptions {
  /** The first process of the worker. */
  readonly pid: number;
  /** `NAME=value` in the environment of all processes of this start. */
  readonly mark: string;
  readonly progress: MemberProgress;
  readonly looks: RankLooks;
  readonly clock: Clock;
}

interface Rank {
  readonly pid: number;
  readonly startTicks: string;
  rank: number | undefined;
  aliveMs: number;
  goneMs: number | undefined;
  exit: Exit | undefined;
}

export class RankWatch {
  readonly #options: RankWatchOptions;
  /** By local rank. */
  readonly #ranks = new Map<number, Rank>();
  /** Processes that are none of this worker, by the local rank that named them. */
  readonly #refused = new Map<number, number>();
  /** The most processes that the parent of a rank had at a time. */
  #siblings = 0;
  #turn = 0;
  #timer: Timer | undefined;
  #frozenMs = Number.POSITIVE_INFINITY;

  constructor(options: RankWatchOptions) {
    this.#options = options;
  }

  /** A line that a rank has written. */
  heard(local: number, line: string): void {
    const { pid, rank } = rankWords(line);
    if (pid === undefined || this.#isFrozen) return;
    const known = this.#ranks.get(local);
    if (known?.pid === pid && known.goneMs === undefined) known.rank = rank ?? known.rank;
    else if (this.#refused.get(local) !== pid) this.#take(local, pid, rank);
  }

  /** The process of a local rank that runs, and its rank in the group as it says itself. */
  process(local: number): { readonly pid: number; readonly rank?: number } | undefined {
    const known = this.#ranks.get(local);
    if (known === undefined || known.goneMs !== undefined) return undefined;
    return { pid: known.pid, ...defined({ rank: known.rank }) };
  }

  /** Looks for the last time: the worker is being ended, or has ended. */
  freeze(): void {
    if (this.#isFrozen) return;
    this.#timer?.cancel();
    const nowMs = this.#options.clock.monotonic();
    for (const [local, rank] of this.#ranks) this.#look(local, rank, nowMs);
    this.#frozenMs = nowMs;
  }

  /** The local ranks whose processes are known. */
  get known(): readonly number[] {
    return [...this.#ranks.keys()];
  }

  /**
   * Which rank failed first, before `freeze`. By local rank: what ranks wrote of their exceptions, and
   * whether they noted that SIGTERM ended them.
   */
  first(
    failures: ReadonlyMap<number, RankFailure>,
    terminated: ReadonlyMap<number, boolean>,
  ): FirstRank | undefined {
    const { progress } = this.#options;
    const steps = new Map(
      progress.reporters.map(({ local, watch }) => [local, watch.newestStepMs]),
    );
    const seen = [...this.#ranks].map(([local, { pid, rank, aliveMs, goneMs, exit }]): RankSeen => {
      const failure = failures.get(local);
      const isOwn = failure?.pid === pid && failure.atMs <= this.#frozenMs;
      const raisedMs = isOwn ? failure.atMs : undefined;
      const known = exit ?? (terminated.get(local) === true ? BY_LAUNCHER : undefined);
      const byItself = terminated.get(local) === false || undefined;
      const steppedMs = steps.get(local);
      return {
        local,
        aliveMs,
        ...defined({ rank, goneMs, exit: known, raisedMs, steppedMs, byItself }),
      };
    });
    const first = firstOf(seen, progress.longestMs);
    if (first === undefined || this.#siblings <= seen.length) return first;
    // A rank that does not report may have failed before.
    const { local: _, rank: _rank, ...open } = first;
    return first.firstRank === 'None' ? undefined : { ...open, firstRank: 'Open' };
  }

  get #isFrozen(): boolean {
    return this.#frozenMs !== Number.POSITIVE_INFINITY;
  }

  #take(local: number, pid: number, rank: number | undefined): void {
    const { looks, clock, mark } = this.#options;
    const state = looks.state(pid);
    if (state === undefined || state.hasEnded) return;
    const { startTicks, parent } = state;
    const take = (): void => {
      this.#siblings = Math.max(this.#siblings, looks.children(parent));
      const aliveMs = clock.monotonic();
      this.#ranks.set(local, {
        pid,
        startTicks,
        rank,
        aliveMs,
        goneMs: undefined,
        exit: undefined,
      });
      this.#arm();
    };
    if (this.#descends(parent)) {
      take();
      return;
    }
    this.#refused.set(local, pid);
    void looks.hasVariable(pid, mark).then((isOurs) => {
      const isSame = looks.state(pid)?.startTicks === startTicks;
      if (isOurs && isSame && !this.#isFrozen) take();
    });
  }

  #descends(parent: number): boolean {
    let pid: number | undefined = parent;
    for (let depth = 0; depth < MAX_ANCESTORS && pid !== undefined && pid > 0; depth++) {
      if (pid === this.#options.pid) return true;
      pid = this.#options.looks.state(pid)?.parent;
    }
    return false;
  }

  #arm(): void {
    this.#timer ??= this.#options.clock.setTimer(LOOK_MS, () => {
      this.#timer = undefined;
      const living = [...this.#ranks].filter(([, { goneMs }]) => goneMs === undefined);
      if (living.length === 0 || this.#isFrozen) return;
      this.#arm();
      this.#turn %= living.length;
      const order = [...living.slice(this.#turn), ...living.slice(0, this.#turn)];
      const nowMs = this.#options.clock.monotonic();
      for (const [local, rank] of order.slice(0, RANKS_PER_LOOK)) this.#look(local, rank, nowMs);
      this.#turn += RANKS_PER_LOOK;
    });
  }

  /** All that are looked at in one turn have its time, or else their order in it would count. */
  #look(local: number, rank: Rank, nowMs: number): void {
    if (rank.goneMs !== undefined) return;
    const state = this.#options.looks.state(rank.pid);
    const isSame = state?.startTicks === rank.startTicks;
    if (isSame && !state.hasEnded) rank.aliveMs = nowMs;
    else {
      rank.goneMs = nowMs;
      // What is gone does not hang; its launcher may run on.
      this.#options.progress.finished(local);
    }
    if (isSame && state.hasEnded) rank.exit = state.exit;
  }
}
