/** The ranks that the user's launcher has started below one process of the worker. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { ENV_LOCAL_RANK, ENV_RANK } from '../../jobset/names.ts';
import type { Signs } from '../../jobset/worker-end/worker-end.ts';
import type { RankFailure, RankFiles } from '../progress/progress-files.ts';
import { oddRank } from './rank-hang.ts';
import { RankWatch, type RankWatchOptions } from './rank-watch.ts';
import type { TreeWatch } from './tree-watch.ts';

/** Processes of a worker that the hang command looks into. */
const MAX_HUNG = 8;

export interface LaunchedRanksOptions extends RankWatchOptions {
  readonly files: RankFiles;
}

/** A process that the hang command looks into, and the variables that say which one it is. */
export interface HungProcess {
  readonly pid: number;
  readonly local?: number;
  readonly rank?: number;
  readonly variables?: StringMap;
}

/** What is known of the ranks at the end of their launcher. */
export interface RankSigns extends Pick<Signs, 'local' | 'rank' | 'firstRank'> {
  /** When the first one failed; monotonic. */
  readonly failedAtMs?: number;
  /** What it wrote of its exception. */
  readonly text?: string;
}

export class LaunchedRanks {
  readonly #options: LaunchedRanksOptions;
  readonly #watch: RankWatch;
  readonly #failures = new Map<number, RankFailure>();
  readonly #terminated = new Map<number, boolean>();
  #odd: number | undefined;

  constructor(options: LaunchedRanksOptions) {
    this.#options = options;
    this.#watch = new RankWatch(options);
  }

  heard(local: number, line: string): void {
    this.#watch.heard(local, line);
  }

  /** The worker is being ended, or has ended: later ends of ranks say nothing. */
  freeze(): void {
    this.#watch.freeze();
  }

  /** Reads what ranks wrote of their ends. Never rejects. */
  async read(): Promise<void> {
    for (const local of this.#watch.known) {
      const failure = await this.#options.files.failure(local);
      if (failure !== undefined) this.#failures.set(local, failure);
      const isTerminated = await this.#options.files.isTerminated(local);
      if (isTerminated !== undefined) this.#terminated.set(local, isTerminated);
    }
  }

  /** The processes of a silent worker for the hang command, the one that matters most first. */
  hung(tree: TreeWatch): readonly HungProcess[] {
    const { progress } = this.#options;
    const silent = progress.reporters.toSorted((a, b) => b.watch.silentMs - a.watch.silentMs);
    const ranks = silent.flatMap(({ local, watch }) => {
      const known = local === undefined ? undefined : this.#watch.process(local);
      return local === undefined || known === undefined ? [] : [{ local, watch, ...known }];
    });
    const all = ranks.map(({ local, pid, watch }) => {
      const { newestStepMs, progress: report } = watch;
      const activity = tree.activityOf(pid, newestStepMs) ?? { isStopped: false };
      return { local, ...activity, ...defined({ step: report?.step }) };
    });
    this.#odd = oddRank(all);
    if (ranks.length === 0 && tree.isLauncher) {
      return tree.busyChildren.slice(0, MAX_HUNG).map((pid) => ({ pid }));
    }
    return ranks
      .toSorted((a, b) => Number(b.local === this.#odd) - Number(a.local === this.#odd))
      .slice(0, MAX_HUNG)
      .map(({ pid, local, rank }) => ({
        pid,
        local,
        ...defined({ rank }),
        variables: {
          [ENV_LOCAL_RANK]: String(local),
          ...(rank === undefined ? {} : { [ENV_RANK]: String(rank) }),
        },
      }));
  }

  /** Once `read` is done. */
  signs(): RankSigns {
    const first = this.#watch.first(this.#failures, this.#terminated);
    if (first?.atMs === undefined && this.#odd !== undefined) {
      const rank = this.#watch.process(this.#odd)?.rank;
      return { local: this.#odd, ...defined({ rank, firstRank: first?.firstRank }) };
    }
    if (first === undefined) return {};
    const { atMs, ...named } = first;
    const failure = named.local === undefined ? undefined : this.#failures.get(named.local);
    const text = first.firstRank === 'Raised' ? failure?.text : undefined;
    return { ...named, ...defined({ failedAtMs: atMs, text }) };
  }
}
