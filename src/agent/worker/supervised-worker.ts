/**
 * One run of a worker, from before its processes exist until all of their descendants are gone. Mostly
 * it is one process. With ranks it is several: it ends when all have ended, and the first that ends
 * by itself, and not with 0, takes its peers with it (`docs/decisions/0040-peers-of-a-dead-rank.md`).
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ProcessSignal } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { parseProgressLine, saysStandby } from '../../jobset/progress/progress.ts';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import type { Signs } from '../../jobset/worker-end/worker-end.ts';
import type { MemberProgress } from '../progress/member-progress.ts';
import { ProgressFeed } from '../progress/progress-feed.ts';
import type { OwnEnd } from '../worker-exit.ts';
import { endOf, type Told } from './end-evidence.ts';
import { lastWords } from './last-words.ts';
import { firstFailed, leftEarly, waitedFor } from './process-ends.ts';
import type { StandbyKeeper, StandbyKeeperOptions } from './standby-keeper.ts';
import { SupervisedProcess, type SupervisedProcessOptions } from './supervised-process.ts';
import { type SeenProcesses, usedByAll } from './tree-watch.ts';
import type { WorkerProcess } from './worker-process.ts';
import { WorkerProcesses } from './worker-processes.ts';

export interface SupervisedWorkerOptions extends StandbyKeeperOptions, SupervisedProcessOptions {
  /** The time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
}

/** A worker that has run for this time leaves time to prepare the next start. */
const CALM_MS = 2000;
/** Silent processes that are looked into, side by side. */
const MAX_LOOKED_INTO = 8;

export class SupervisedWorker {
  readonly ended: Promise<OwnEnd>;
  readonly #options: SupervisedWorkerOptions;
  readonly #watch: MemberProgress;
  readonly #standbys: StandbyKeeper | undefined;
  readonly #feed: ProgressFeed;
  readonly #hurry = new AbortController();
  readonly #calmTimer: Timer;
  readonly #epoch: number;
  #processes: WorkerProcesses;
  /** By local rank. */
  readonly #all: readonly SupervisedProcess[];
  #killTimer: Timer | undefined;
  #decisionTimer: Timer | undefined;
  #isLooking = false;
  /** The first that failed, once that is decided. */
  #first: SupervisedProcess | undefined;
  #isFirstSure = true;

  constructor(
    options: SupervisedWorkerOptions,
    watch: MemberProgress,
    standbys: StandbyKeeper | undefined,
    epoch: number,
    ranks?: MemberRanks,
  ) {
    this.#options = options;
    this.#watch = watch;
    this.#standbys = standbys;
    const heard = (line: string, local?: number): void => {
      const [one] = this.#all;
      if (one?.local === undefined && local !== undefined) one?.heardRank(local, line);
      else if (standbys !== undefined) this.#hears(line, local);
    };
    this.#feed = new ProgressFeed({ ...options, watch, heard });
    this.#processes = new WorkerProcesses(options, ranks);
    this.#all = this.#processes.all.map((each) => new SupervisedProcess(options, watch, each));
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
    for (const each of this.#all) each.look();
    for (const each of this.#all) each.freeze();
    const looks = this.#silentOnes().map(async (each) => each.lookInto(this.#hurry.signal));
    void Promise.all(looks).then(() => this.#kill(how));
  }

  /** Ends a look into the worker at once. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Processes that run and were silent for at least half as long as the most silent one. */
  #silentOnes(): readonly SupervisedProcess[] {
    const running = this.#all.filter(({ hasEnded }) => !hasEnded);
    const leastMs = Math.max(...running.map(({ silentMs }) => silentMs)) / 2;
    return running
      .filter(({ silentMs }) => silentMs >= leastMs)
      .toSorted((a, b) => stopped(b) - stopped(a) || b.silentMs - a.silentMs)
      .slice(0, MAX_LOOKED_INTO);
  }

  #tell(how: Told): void {
    this.#standbys?.pause();
    for (const each of this.#all) each.tell(how);
  }

  #kill(how: 'Killed' | 'Hung'): void {
    this.#tell(how);
    this.#signal('SIGKILL');
  }

  #signal(signal: ProcessSignal): void {
    for (const each of this.#all) each.signal(signal);
  }

  #release(): void {
    this.#killTimer?.cancel();
    this.#decisionTimer?.cancel();
    this.#calmTimer.cancel();
    this.#standbys?.pause();
    this.#hurry.abort();
  }

  async #run(): Promise<OwnEnd> {
    const promoted = await this.#standbys?.promote(this.#epoch, this.#processes.ranks);
    const isPromoted = promoted !== undefined;
    this.#processes = promoted ?? this.#processes;
    const runs = this.#all.map(async (one, index) => {
      const process = this.#processes.all[index];
      if (process !== undefined) await this.#runOne(one, process, isPromoted);
    });
    await Promise.all(runs);
    this.#decide();
    this.#release();
    return this.#end();
  }

  /** Until the process has ended. */
  async #runOne(
    one: SupervisedProcess,
    process: WorkerProcess,
    isPromoted: boolean,
  ): Promise<void> {
    const { local, rank } = one;
    if (local !== undefined && rank !== undefined) this.#watch.numbered(local, rank);
    one.hasWaited = isPromoted;
    process.heard = (line) => this.#readInFile(line, one);
    await one.run(process, this.#epoch, () => {
      for (const reports of process.reports) this.#feed.add(reports, local);
      if (local === undefined && process.ranks !== undefined) this.#feed.addRanks(process.ranks);
    });
    this.#standbys?.pause();
    if (one.hasFailed && this.#all.length > 1) {
      // Ends that are seen in one turn of the event loop are together.
      this.#decisionTimer ??= this.#options.clock.setTimer(0, () => this.#decide());
    } else if (local !== undefined && one.told === undefined) this.#watch.finished(local);
  }

  /** Chooses the first that failed, and kills its peers: they have nothing to save without it. */
  #decide(): void {
    const failed = this.#all.filter(({ hasFailed }) => hasFailed);
    if (this.#first !== undefined || failed.length === 0) return;
    const running = this.#all.filter(({ hasEnded }) => !hasEnded);
    const ended = (each: SupervisedProcess): OwnEnd => each.endAt(this.#epoch, each.endedMs);
    const raisedMs = running.map((each) => each.mayHaveRaisedMs);
    const { index, isSure } = firstFailed(failed.map(ended), raisedMs);
    const first = failed[index];
    this.#first = first;
    this.#isFirstSure = isSure;
    if (first === undefined || running.length === 0) return;
    const { rank, local, exit } = first;
    const { logger } = this.#options;
    logger.info('a process ended, so its peers are killed', { rank, local, ...exit });
    this.#hurry.abort();
    this.#kill('Killed');
  }

  async #end(): Promise<OwnEnd> {
    const { one, isNamed } = this.#about();
    const atMs = this.#first?.endedMs ?? Math.max(...this.#all.map(({ endedMs }) => endedMs));
    const last = Promise.all([this.#feed.end(), one.readRanks()]);
    const read = await this.#processes.end(one.process, last);
    const texts = one.problem === undefined ? [one.rankText, ...read] : [one.problem];
    const told = this.#first === undefined ? this.#mostForced.told : undefined;
    const { lastMs: saidAtMs } = one.process.errors;
    const words = lastWords(texts);
    // The time of a message in a file is not known.
    const isMessage = words !== lastWords([one.process.lastErrors]);
    const known = {
      ...one.knownAt(this.#epoch, atMs),
      ...(told === undefined ? {} : this.#used(atMs)),
      ...defined({
        local: isNamed ? one.local : undefined,
        rank: isNamed ? one.rank : undefined,
        ...this.#leftEarly(atMs),
        saidMs: isMessage || saidAtMs === undefined ? undefined : Math.max(0, atMs - saidAtMs),
        lastWords: this.#options.hasLastWords === false ? undefined : words,
      }),
    };
    return endOf(one.exit, told, known, this.#watch);
  }

  /** What to say of a process that exited with 0 before the worker failed, or was ended. */
  #leftEarly(atMs: number): Pick<Signs, 'local' | 'rank' | 'firstRank' | 'failedMs'> {
    if (this.#all.length === 1) return {};
    const ends = this.#all.map((each) => ({
      ...each.endAt(this.#epoch, each.endedMs),
      ...defined({ steppedMs: each.newestStepMs }),
    }));
    const left = this.#all[leftEarly(ends, this.#watch.longestMs) ?? -1];
    if (left === undefined) return {};
    const { local, rank, endedMs } = left;
    return {
      ...defined({ local, rank }),
      firstRank: 'Left',
      failedMs: Math.max(0, atMs - endedMs),
    };
  }

  /** The process that the end of the worker is about, and whether it is sure enough to be named. */
  #about(): { readonly one: SupervisedProcess; readonly isNamed: boolean } {
    const one = this.#first ?? this.#mostForced;
    // One process differs from no other, so a hang is not about it more than about its member.
    if (this.#all.length === 1) return { one, isNamed: this.#first !== undefined };
    if (this.#first !== undefined) return { one, isNamed: this.#isFirstSure };
    if (!this.#isLooking) return { one, isNamed: false };
    const silent = this.#all.filter(({ told }) => told !== undefined);
    const ends = silent.map((each) => each.endAt(this.#epoch, one.endedMs));
    const odd = silent[waitedFor(ends) ?? -1];
    return { one: odd ?? one, isNamed: odd !== undefined };
  }

  /** A process that had to be killed comes before one that obeyed, and a stopped one before others. */
  get #mostForced(): SupervisedProcess {
    return this.#all.reduce((a, b) =>
      (force(b) - force(a) || stopped(b) - stopped(a) || placed(b) - placed(a)) > 0 ? b : a,
    );
  }

  /** By the CPU time of all their processes, the operator compares members. */
  #used(atMs: number): Pick<SeenProcesses, 'cpuMs' | 'runnableMs'> {
    return usedByAll(this.#all.map((each) => each.knownAt(this.#epoch, atMs)));
  }

  /** A command that does not wait as a standby does must never run twice. */
  #hears(line: string, local = 0): void {
    const report = parseProgressLine(line);
    const one = this.#all[local];
    if (report === undefined || one === undefined) return;
    if (!saysStandby(report)) one.hasReported = true;
    else one.hasWaited ||= !one.hasStepped;
    const isReady = this.#all.every(({ hasWaited, hasReported }) => hasWaited && hasReported);
    const isEnding = this.#all.some(({ hasEnded, told }) => hasEnded || told !== undefined);
    if (isReady && !isEnding && !this.#isLooking) this.#standbys?.allow(this.#processes);
  }

  /** Only the order of lines in its file shows whether it waited before it stepped. */
  #readInFile(line: string, one: SupervisedProcess): void {
    this.#hears(line, one.local);
    const report = parseProgressLine(line);
    if (one.hasStepped || report?.step === undefined || saysStandby(report)) return;
    one.hasStepped = true;
    if (one.hasWaited) return;
    const why = 'it reported a step, and no phase=standby before';
    this.#options.logger.info('the worker gets no standby', { why });
  }
}

const FORCE = { Stopped: 1, Killed: 2, Hung: 3 } as const;

function force({ told }: SupervisedProcess): number {
  return told === undefined ? 0 : FORCE[told];
}

function stopped({ isStopped }: SupervisedProcess): number {
  return isStopped ? 1 : 0;
}

/** A process that a hang command found somewhere says more than others. */
function placed({ where }: SupervisedProcess): number {
  return where === undefined ? 0 : 1;
}
