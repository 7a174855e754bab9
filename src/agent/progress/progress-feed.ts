/** Looks for reports of a worker four times a second while it runs. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { MemberProgress } from './member-progress.ts';
import type { ProgressFile, RankFiles } from './progress-files.ts';

const LOOK_MS = 250;

export interface ProgressFeedOptions {
  readonly watch: MemberProgress;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after the watch took a line, with the local rank that reported it. */
  readonly heard?: ((line: string, local?: number) => void) | undefined;
}

interface Source {
  readonly file: ProgressFile;
  readonly local?: number;
}

/** The reports of one worker, from its start to its end. */
export class ProgressFeed {
  readonly #options: ProgressFeedOptions;
  readonly #sources: Source[] = [];
  readonly #ranks: RankFiles[] = [];
  #timer: Timer | undefined;
  #reading: Promise<void> | undefined;
  #refused = 0;
  #isClosed = false;

  constructor(options: ProgressFeedOptions) {
    this.#options = options;
    options.watch.begin(options.clock.monotonic());
    this.#arm();
  }

  /** `local` is the local rank that reports in the file; absent: the worker as a whole does. */
  add(file: ProgressFile, local?: number): void {
    this.#sources.push({ file, ...defined({ local }) });
  }

  /** Adds the files of ranks when they appear. */
  addRanks(ranks: RankFiles): void {
    this.#ranks.push(ranks);
  }

  /** Takes the last reports. It waits while a file cannot be read. */
  async end(): Promise<void> {
    this.#timer?.cancel();
    await this.#reading;
    await this.#look();
    if (this.#refused > 1) {
      this.#options.logger.warn('lines of progress were malformed', { lines: this.#refused });
    }
  }

  /** Takes no more reports: a late read must not count for the next worker. */
  close(): void {
    this.#timer?.cancel();
    this.#isClosed = true;
  }

  #arm(): void {
    this.#timer = this.#options.clock.setTimer(LOOK_MS, () => {
      this.#arm();
      void this.#look();
    });
  }

  /** If a read takes longer than a look, the silence still grows. */
  #look(): Promise<void> {
    const { watch, clock } = this.#options;
    watch.look(clock.monotonic());
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    for (const ranks of this.#ranks) {
      for (const { local, file } of await ranks.found()) this.add(file, local);
    }
    for (const { file, local } of this.#sources) {
      const line = await file.read();
      if (this.#isClosed) return;
      if (line === undefined) continue;
      if (this.#options.watch.took(line, local)) this.#options.heard?.(line, local);
      else if (this.#refused++ === 0) {
        // The line is not logged: it may hold a secret, or terminal escapes.
        this.#options.logger.warn('a line of progress is malformed', { length: line.length });
      }
    }
  }
}
