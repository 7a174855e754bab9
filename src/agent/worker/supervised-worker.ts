/** One run of a worker, from before its process exists until all of its descendants are gone. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import {
  type ProcessSignal,
  ProcessStartError,
  type RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import { parseProgressLine, saysStandby } from '../../jobset/progress/progress.ts';
import type { Exit } from '../../jobset/worker-end/worker-end.ts';
import type { MemberProgress } from '../progress/member-progress.ts';
import { ProgressFeed } from '../progress/progress-feed.ts';
import { exitOf, type OwnEnd } from '../worker-exit.ts';
import { endOf, failedMsOf, type Told } from './end-evidence.ts';
import { type HangLookOptions, lookIntoHung } from './hang-look.ts';
import { lastWords } from './last-words.ts';
import type { StandbyKeeper, StandbyKeeperOptions } from './standby-keeper.ts';
import { TreeWatch } from './tree-watch.ts';
import { WorkerProcess } from './worker-process.ts';

export interface SupervisedWorkerOptions
  extends StandbyKeeperOptions,
    Omit<HangLookOptions, 'command'> {
  /** A line of shell that looks into a hung worker. */
  readonly hangCommand: string | undefined;
  /** The time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
}

/** The exit codes of shells for a program that is missing, and for one that cannot be executed. */
const NOT_FOUND_EXIT_CODE = 127;
const NOT_EXECUTABLE_EXIT_CODE = 126;

/** A worker that has run for this time leaves time to prepare the next start. */
const CALM_MS = 2000;

export class SupervisedWorker {
  readonly ended: Promise<OwnEnd>;
  readonly #options: SupervisedWorkerOptions;
  readonly #watch: MemberProgress;
  readonly #standbys: StandbyKeeper | undefined;
  readonly #feed: ProgressFeed;
  readonly #hurry = new AbortController();
  /** Signals that came before the process existed. */
  readonly #early: ProcessSignal[] = [];
  readonly #calmTimer: Timer;
  #process: WorkerProcess;
  #child: RunningProcess | undefined;
  #tree: TreeWatch | undefined;
  #killTimer: Timer | undefined;
  #isLooking = false;
  #hasExited = false;
  #hasWaited = false;
  #hasStepped = false;
  readonly #epoch: number;
  #told: Told;
  /** When the supervisor began to end it. */
  #toldMs = Number.POSITIVE_INFINITY;
  #where: string | undefined;

  constructor(
    options: SupervisedWorkerOptions,
    watch: MemberProgress,
    standbys: StandbyKeeper | undefined,
    epoch: number,
  ) {
    this.#options = options;
    this.#watch = watch;
    this.#standbys = standbys;
    const heard = standbys === undefined ? undefined : (line: string) => this.#hears(line);
    this.#feed = new ProgressFeed({ ...options, watch, heard });
    this.#process = new WorkerProcess(options);
    this.#calmTimer = options.clock.setTimer(CALM_MS, () => options.files.tidy());
    this.#epoch = epoch;
    this.ended = this.#run().finally(() => {
      this.#release();
      this.#feed.close();
    });
  }

  /** Hands a signal on. */
  forward(signal: ProcessSignal): void {
    if (signal === 'SIGTERM') this.#tell('Stopped');
    this.#signal(signal);
  }

  stop(): void {
    if (this.#isLooking) {
      this.hurry();
      return;
    }
    this.forward('SIGTERM');
    const { clock, stopGraceMs } = this.#options;
    this.#killTimer ??= clock.setTimer(stopGraceMs, () => this.#kill('Killed'));
  }

  /** Looks into the worker, and kills it. Its end says `how`. */
  killSilent(how: 'Killed' | 'Hung'): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#standbys?.pause();
    this.#tree?.look();
    this.#freeze();
    void this.#lookInto().then(() => this.#kill(how));
  }

  /** Ends a look into the worker at once. */
  hurry(): void {
    this.#hurry.abort();
  }

  async #lookInto(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#hasExited) return;
    const { cwd } = this.#options.command;
    const options = { ...this.#options, command: this.#options.hangCommand };
    const { env } = this.#process;
    this.#where = await lookIntoHung({ pid: child.pid, env, cwd }, options, this.#hurry.signal);
  }

  /** A worker that was told to stop before stays `Stopped` until it has to be killed. */
  #tell(how: Told): void {
    this.#standbys?.pause();
    if (!this.#hasExited && this.#freeze()) this.#told = how;
  }

  #kill(how: 'Killed' | 'Hung'): void {
    this.#tell(how);
    this.#signal('SIGKILL');
  }

  /** Remembers the processes as they are now. False if the worker has ended already. */
  #freeze(): boolean {
    const isAlive = this.#tree?.isAlive !== false;
    if (isAlive) this.#tree?.freeze();
    if (isAlive) this.#toldMs = Math.min(this.#toldMs, this.#options.clock.monotonic());
    return isAlive;
  }

  #signal(signal: ProcessSignal): void {
    if (this.#child === undefined) this.#early.push(signal);
    else this.#child.signalGroup(signal);
  }

  #release(): void {
    this.#killTimer?.cancel();
    this.#calmTimer.cancel();
    this.#standbys?.pause();
    this.#tree?.freeze();
    this.#hurry.abort();
  }

  async #run(): Promise<OwnEnd> {
    const { clock, logger } = this.#options;
    const epoch = this.#epoch;
    let child: RunningProcess;
    try {
      child = await this.#begin(epoch);
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      logger.error('the worker could not be started', { err: error.message, epoch });
      await this.#process.end();
      const isMissing = error.code === 'ENOENT';
      const exitCode = isMissing ? NOT_FOUND_EXIT_CODE : NOT_EXECUTABLE_EXIT_CODE;
      return this.#end({ exitCode }, clock.monotonic(), false, [error.message]);
    }
    this.#child = child;
    for (const signal of this.#early) child.signalGroup(signal);
    this.#tree = new TreeWatch({ ...this.#options, pid: child.pid });
    const exit = await child.exited;
    const atMs = clock.monotonic();
    this.#hasExited = true;
    this.#release();
    const { hadOom } = this.#tree;
    const texts = await this.#process.end(this.#feed.end());
    return this.#end(exitOf(exit), atMs, hadOom, texts);
  }

  /** Promotes the standby, or starts a process. */
  async #begin(epoch: number): Promise<RunningProcess> {
    const promoted = await this.#standbys?.promote(epoch);
    if (promoted !== undefined) {
      this.#process = promoted;
      this.#hasWaited = true;
    }
    this.#process.heard = (line) => this.#readInFile(line);
    const child = promoted?.child ?? (await this.#process.start(epoch));
    for (const reports of this.#process.reports) this.#feed.add(reports);
    return child;
  }

  /** A command that does not wait as a standby does must never run twice. */
  #hears(line: string): void {
    const report = parseProgressLine(line);
    if (report === undefined) return;
    if (saysStandby(report)) this.#hasWaited ||= !this.#hasStepped;
    const isStopping = this.#hasExited || this.#told !== undefined || this.#isLooking;
    if (this.#hasWaited && this.#watch.progress !== undefined && !isStopping) {
      this.#standbys?.allow(this.#process);
    }
  }

  /** Only the order of lines in its file shows whether it waited before it stepped. */
  #readInFile(line: string): void {
    this.#hears(line);
    const report = parseProgressLine(line);
    if (this.#hasStepped || report?.step === undefined || saysStandby(report)) return;
    this.#hasStepped = true;
    if (this.#hasWaited) return;
    const why = 'it reported a step, and no phase=standby before';
    this.#options.logger.info('the worker gets no standby', { why });
  }

  #end(exit: Exit, atMs: number, hadOom: boolean, texts: readonly (string | undefined)[]): OwnEnd {
    const { lastMs: saidAtMs, tracebackMs } = this.#process.errors;
    // A message is a file, and its time is not known.
    const isMessage = lastWords(texts.slice(0, -1)) !== undefined;
    const known = {
      epoch: this.#epoch,
      atMs,
      ...this.#tree?.seenAt(atMs, this.#watch.newestStepMs),
      ...defined({
        oom: hadOom || undefined,
        where: this.#where,
        failedMs: failedMsOf(tracebackMs, {
          steppedMs: this.#watch.newestStepMs,
          toldMs: this.#toldMs,
          endMs: atMs,
        }),
        saidMs: isMessage || saidAtMs === undefined ? undefined : Math.max(0, atMs - saidAtMs),
        lastWords: this.#options.hasLastWords === false ? undefined : lastWords(texts),
      }),
    };
    return endOf(exit, this.#told, known, this.#watch);
  }
}
