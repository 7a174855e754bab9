/**
 * The processes of one start of the worker's command, which share an id: a worker, or a standby that
 * becomes one. Mostly it is one process; with ranks there is one for each local rank.
 */

import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { ProcessSignal } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { ENV_WORKER } from '../../jobset/names.ts';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import { FILES_LIMIT_MS, WorkerProcess, type WorkerProcessOptions } from './worker-process.ts';

export class WorkerProcesses {
  /** By local rank. */
  readonly all: readonly WorkerProcess[];
  /** Absent: the worker is one process, without a rank. */
  readonly ranks: MemberRanks | undefined;
  readonly #options: WorkerProcessOptions;
  readonly #id: string;

  constructor(options: WorkerProcessOptions, ranks: MemberRanks | undefined) {
    this.#options = options;
    this.ranks = ranks;
    this.#id = options.random.uuid();
    this.all =
      ranks === undefined
        ? [new WorkerProcess(options, this.#id)]
        : Array.from(
            { length: ranks.processes },
            (_, local) => new WorkerProcess(options, this.#id, { ranks, local }),
          );
  }

  signal(signal: ProcessSignal): void {
    for (const process of this.all) process.signal(signal);
  }

  /**
   * Makes a standby the worker of the epoch. False if a process of it has ended, or a start file cannot
   * be written.
   */
  async promote(epoch: number): Promise<boolean> {
    await this.noteMessages();
    // The notes may take a second, and no process may begin without the others.
    if (this.all.some(({ hasExited }) => hasExited)) return false;
    const begun = await Promise.all(this.all.map(async (process) => process.promote(epoch)));
    return begun.every(Boolean);
  }

  /** Notes that the present messages in their files are not their own. */
  async noteMessages(): Promise<void> {
    await Promise.all(this.all.map(async (process) => process.noteMessages()));
  }

  /**
   * All processes have ended: ends all processes that they started. Returns the last words of
   * `chosen`, the best first, once `last`, the last look at their reports, is done.
   */
  async end(
    chosen: WorkerProcess | undefined,
    last: Promise<unknown>,
  ): Promise<readonly (string | undefined)[]> {
    const { processes, clock } = this.#options;
    const texts: (string | undefined)[] = [];
    const read = chosen?.readMessages(texts);
    const hasStarted = this.all.some(({ child }) => child !== undefined);
    if (hasStarted) await processes.killByEnvironment(ENV_WORKER, this.#id);
    for (const process of this.all) process.drain();
    await endsWithin(clock, FILES_LIMIT_MS, Promise.all([read, last]));
    await Promise.all(this.all.map(async (process) => process.done()));
    const [ofContainer, ...own] = texts;
    // All processes write into the one file of the container, so it says less than their own words.
    return this.all.length > 1
      ? [...own, chosen?.lastErrors, ofContainer]
      : [...texts, chosen?.lastErrors];
  }
}
