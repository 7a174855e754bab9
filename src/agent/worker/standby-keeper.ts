/**
 * Keeps a second process of the worker's command beside the running worker: it prepares itself,
 * writes `phase=standby`, and waits for its start file. At the next epoch it becomes the worker
 * (`docs/reference/supervisor.md#warm-standby`). Where a worker is several processes, so is its
 * standby: all are ready, or none is promoted.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ProcessExit } from '@lockstep/kube/runtime/ports/process-runner.ts';
import {
  parseProgressLine,
  type StandbyDeaths,
  type StandbyState,
  saysStandby,
} from '../../jobset/progress/progress.ts';
import { WHY_NO_STANDBYS } from '../../jobset/progress/standby.ts';
import { isSameRanks, type MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import { MemberProgress } from '../progress/member-progress.ts';
import { ProgressFeed } from '../progress/progress-feed.ts';
import { exitOf } from '../worker-exit.ts';
import type { ProcessLooks } from './process-looks.ts';
import { afterStandby, NO_STANDBY_YET, type StandbyEnd, type StandbyPlan } from './standby-plan.ts';
import type { WorkerProcess, WorkerProcessOptions } from './worker-process.ts';
import { WorkerProcesses } from './worker-processes.ts';

/** Lets a standby run at a lower priority than its worker. */
export interface Priorities {
  /** False if the priority stays as it is, because it could not be restored. */
  lower(pid: number): boolean;
  /**
   * Gives all threads of the process and of those below it the agent's own priority. False if that
   * failed for one of them, or if they are too many.
   */
  restore(pid: number): boolean;
}

export interface StandbyKeeperOptions extends WorkerProcessOptions {
  readonly looks: ProcessLooks;
  readonly priorities: Priorities;
}

const LOOK_MS = 2500;
/** A standby that has waited for this time stays. Standbys that died before it are not reported. */
export const STEADY_MS = 60_000;
/** Imports at a low priority on a busy machine take minutes. */
export const READY_LIMIT_MS = 10 * 60_000;
/** A process that survives SIGKILL for longer hangs in the kernel. */
const DROP_LIMIT_MS = 3000;

/** All processes of a standby, until they are gone or promoted. */
interface Standby {
  readonly processes: WorkerProcesses;
  /** Processes that wait for their start file. */
  readonly waiting: Set<WorkerProcess>;
  readonly feed: ProgressFeed;
  readonly startedMs: number;
  /** How often memory had run out before its start. */
  readonly oomKills: number | undefined;
  /** Monotonic; undefined: it is not ready yet. */
  readyMs: number | undefined;
  hasLowPriority: boolean;
  /** The first of its processes that ended, or could not be started. */
  fault: { readonly exit?: ProcessExit } | undefined;
  /** Why it was killed. */
  end: StandbyEnd | undefined;
  /** Whether its start file could be written. */
  promoted: Promise<boolean> | undefined;
  /** Resolves once it is gone with its descendants, or its worker has ended. */
  gone: Promise<void>;
}

type ShowStandby = (state: StandbyState | undefined, deaths: StandbyDeaths | undefined) => void;

export class StandbyKeeper {
  readonly #options: StandbyKeeperOptions;
  readonly #show: ShowStandby;
  #plan: StandbyPlan = NO_STANDBY_YET;
  /** Since the release of the worker's epoch. */
  #deaths: StandbyDeaths | undefined;
  #current: Standby | undefined;
  /** The worker beside which a standby may be. */
  #beside: WorkerProcesses | undefined;
  #isDropped = false;
  #startTimer: Timer | undefined;
  #watchTimer: Timer | undefined;

  /** `show` gets each new state. */
  constructor(options: StandbyKeeperOptions, show: ShowStandby) {
    this.#options = options;
    this.#show = show;
    // Kubernetes may kill all processes of a container that is out of memory, with the agent.
    void options.files.hadStandby.then((isFound) => {
      if (!isFound) return;
      this.#plan = { ...this.#plan, refusal: 'OutOfMemory' };
      this.#warn('the agent before this one was killed beside a standby, maybe for lack of memory');
    });
  }

  /** The running worker waits as a standby does, and has made progress since. */
  allow(worker: WorkerProcesses): void {
    if (this.#beside !== undefined) return;
    this.#beside = worker;
    this.#consider();
  }

  /** The worker ends: a living standby stays, but none starts. */
  pause(): void {
    this.#beside = undefined;
    this.#startTimer?.cancel();
  }

  /**
   * Kills the standby at once; there is none until the next epoch begins. Resolves when it is gone.
   */
  async drop(): Promise<void> {
    this.pause();
    this.#isDropped = true;
    const current = this.#current;
    // A standby that becomes the worker just now is stopped as a worker is.
    if (current === undefined || current.promoted !== undefined) return;
    this.#kill(current, 'Dropped');
    await endsWithin(this.#options.clock, DROP_LIMIT_MS, current.gone);
  }

  /** Makes the standby the worker of an epoch, if it is ready; kills it otherwise. */
  async promote(epoch: number, ranks?: MemberRanks): Promise<WorkerProcesses | undefined> {
    const { logger } = this.#options;
    this.pause();
    this.#isDropped = false;
    this.#deaths = undefined;
    this.#tell();
    const standby = this.#current;
    if (standby === undefined || standby.end !== undefined) return undefined;
    const problem = this.#problemOf(standby, ranks);
    if (problem !== undefined) {
      logger.info('the standby is not promoted', { ...problem, epoch });
      this.#kill(standby, problem.end);
      return undefined;
    }
    standby.feed.close();
    this.#watchTimer?.cancel();
    standby.promoted = standby.processes.promote(epoch);
    if (!(await standby.promoted)) {
      this.#kill(standby, 'Died');
      // Some of its processes may work for the epoch already, on ports and devices of the next.
      await endsWithin(this.#options.clock, DROP_LIMIT_MS, standby.gone);
      return undefined;
    }
    logger.info('the standby becomes the worker', { epoch });
    this.#ended(standby, 'Promoted');
    return standby.processes;
  }

  #problemOf(
    standby: Standby,
    ranks: MemberRanks | undefined,
  ): { readonly end: StandbyEnd; readonly why: string } | undefined {
    const { processes, readyMs, hasLowPriority } = standby;
    if (this.#hasOom(standby)) return { end: 'OutOfMemory', why: 'memory ran out' };
    if (readyMs === undefined) return { end: 'Dropped', why: 'it is not ready' };
    if (!isSameRanks(processes.ranks, ranks)) {
      return { end: 'Dropped', why: 'the group has other ranks now' };
    }
    const pids = processes.all.flatMap(({ child }) => child?.pid ?? []);
    const looks = pids.map((pid) => this.#options.looks.tree(pid, pids.length));
    if (looks.some((look) => look?.isAlive === false)) return { end: 'Died', why: 'it has ended' };
    const all = looks.flatMap((look) => [...(look?.processes.values() ?? [])]);
    const isStopped = all.some(({ states }) => states.has('T') || states.has('t'));
    if (isStopped) return { end: 'Died', why: 'it is stopped' };
    const { priorities } = this.#options;
    const isRestored = !hasLowPriority || pids.every((pid) => priorities.restore(pid));
    return isRestored ? undefined : { end: 'Died', why: 'its priority cannot be restored' };
  }

  #consider(): void {
    if (this.#beside === undefined || this.#isDropped || this.#current !== undefined) return;
    const { refusal, notBeforeMs } = this.#plan;
    if (refusal !== undefined) return;
    const waitMs = notBeforeMs - this.#options.clock.monotonic();
    if (waitMs <= 0) this.#start();
    else this.#startTimer = this.#options.clock.setTimer(waitMs, () => this.#consider());
  }

  #start(): void {
    const { clock, logger, looks } = this.#options;
    const processes = new WorkerProcesses(this.#options, this.#beside?.ranks);
    const [only] = processes.all;
    const heard = (line: string, local?: number): void => {
      const process = local === undefined ? only : processes.all[local];
      if (process !== undefined) this.#hears(standby, process, line);
    };
    for (const process of processes.all) {
      process.heard = (line) => this.#hears(standby, process, line);
    }
    const standby: Standby = {
      processes,
      waiting: new Set(),
      feed: new ProgressFeed({ watch: new MemberProgress(), clock, logger, heard }),
      startedMs: clock.monotonic(),
      oomKills: looks.oomKills(),
      readyMs: undefined,
      hasLowPriority: false,
      fault: undefined,
      end: undefined,
      promoted: undefined,
      gone: Promise.resolve(),
    };
    this.#current = standby;
    standby.gone = this.#run(standby);
    this.#watch(standby);
  }

  async #run(standby: Standby): Promise<void> {
    const { processes, feed } = standby;
    await Promise.all(processes.all.map(async (process) => this.#runOne(standby, process)));
    if (await standby.promoted) return;
    const exit = standby.fault?.exit;
    await processes.end(undefined, feed.end());
    feed.close();
    // Messages of the standby in shared files are not the worker's last words.
    await this.#beside?.noteMessages();
    const isExit = exit?.exitCode === 0;
    const byItself = this.#hasOom(standby) ? 'OutOfMemory' : isExit ? 'Exited' : 'Died';
    const end = standby.end ?? byItself;
    if (standby.end === undefined && end === 'Died') {
      this.#options.logger.warn('a standby died', { ...exit });
      this.#countDeath(exit && exitOf(exit));
    }
    this.#ended(standby, end);
  }

  /** Until the process has ended, or could not be started. The others are of no use without it. */
  async #runOne(standby: Standby, process: WorkerProcess): Promise<void> {
    const { priorities, logger } = this.#options;
    const { processes, feed } = standby;
    try {
      const child = await process.start('Standby');
      if (standby.end !== undefined || standby.fault !== undefined) process.signal('SIGKILL');
      standby.hasLowPriority = priorities.lower(child.pid) || standby.hasLowPriority;
      for (const reports of process.reports) feed.add(reports, process.rank?.local);
      const exit = await child.exited;
      standby.fault ??= { exit };
    } catch (error) {
      logger.warn('a standby could not be started', { err: String(error) });
      standby.fault ??= {};
    }
    if (standby.promoted === undefined) processes.signal('SIGKILL');
  }

  #hears(standby: Standby, process: WorkerProcess, line: string): void {
    const report = parseProgressLine(line);
    if (report === undefined || standby.promoted !== undefined) return;
    if (!saysStandby(report)) {
      this.#kill(standby, 'Reported');
      return;
    }
    const { waiting, processes } = standby;
    waiting.add(process);
    if (waiting.size < processes.all.length) return;
    if (standby.readyMs !== undefined || standby.end !== undefined) return;
    const { clock, logger } = this.#options;
    standby.readyMs = clock.monotonic();
    logger.info('a standby waits for the next epoch');
    this.#tell();
  }

  /** Looks now and then whether memory ran out, and whether the standby takes too long. */
  #watch(standby: Standby): void {
    const { clock, logger } = this.#options;
    this.#watchTimer = clock.setTimer(LOOK_MS, () => {
      this.#watch(standby);
      if (this.#hasOom(standby)) this.#kill(standby, 'OutOfMemory');
      if (standby.end !== undefined) return;
      const isLate = clock.monotonic() >= standby.startedMs + READY_LIMIT_MS;
      if (standby.readyMs === undefined && isLate) {
        logger.warn('a standby is not ready in time', { limitMs: READY_LIMIT_MS });
        this.#countDeath('NotReady');
        this.#kill(standby, 'Died');
      } else if (this.#deaths !== undefined) this.#tell();
    });
  }

  #hasOom({ oomKills }: Standby): boolean {
    return oomKills !== undefined && (this.#options.looks.oomKills() ?? 0) > oomKills;
  }

  #kill(standby: Standby, end: StandbyEnd): void {
    if (standby.end !== undefined) return;
    standby.end = end;
    standby.processes.signal('SIGKILL');
    this.#tell();
  }

  #countDeath(last: StandbyDeaths['last']): void {
    this.#deaths = { count: (this.#deaths?.count ?? 0) + 1, ...defined({ last }) };
  }

  /** The standby beside the worker has ended, or become the worker. */
  #ended({ startedMs }: Standby, end: StandbyEnd): void {
    const nowMs = this.#options.clock.monotonic();
    this.#watchTimer?.cancel();
    this.#current = undefined;
    this.#plan = afterStandby(this.#plan, end, { nowMs, livedMs: nowMs - startedMs });
    const { refusal } = this.#plan;
    if (refusal !== undefined) this.#warn(WHY_NO_STANDBYS[refusal]);
    else this.#tell();
    if (end !== 'Promoted') this.#options.files.tidy();
    this.#consider();
  }

  #warn(why: string): void {
    this.#options.logger.warn('this Pod keeps no standby any more', { why });
    this.#tell();
  }

  #tell(): void {
    const { refusal } = this.#plan;
    const { readyMs, end } = this.#current ?? {};
    const isReady = readyMs !== undefined && end === undefined;
    const isSteady = isReady && this.#options.clock.monotonic() - readyMs >= STEADY_MS;
    // The refusal says why there is no standby: earlier deaths do not matter beside it.
    const deaths = refusal !== undefined || isSteady ? undefined : this.#deaths;
    this.#show(refusal ?? (isReady ? 'Ready' : undefined), deaths);
  }
}
