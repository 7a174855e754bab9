/** One process of a running worker: what its supervisor did to it, and what was seen of it. */

import { defined } from '@lockstep/kube/json/defined.ts';
import {
  type ProcessSignal,
  ProcessStartError,
  type RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import { ENV_WORKER } from '../../jobset/names.ts';
import { type Exit, exitCodeIn } from '../../jobset/worker-end/worker-end.ts';
import type { MemberProgress, Reporter } from '../progress/member-progress.ts';
import { exitOf, type OwnEnd } from '../worker-exit.ts';
import { endOf, failedMsOf, mayHaveRaisedMs, rankSignsAt, type Told } from './end-evidence.ts';
import { type HangLookOptions, lookIntoHung } from './hang-look.ts';
import { type HungProcess, LaunchedRanks, type RankSigns } from './launched-ranks.ts';
import { rankOf } from './rank-environment.ts';
import type { RankLooks } from './rank-looks.ts';
import { TreeWatch } from './tree-watch.ts';
import type { WorkerProcess, WorkerProcessOptions } from './worker-process.ts';

export interface SupervisedProcessOptions
  extends WorkerProcessOptions,
    Omit<HangLookOptions, 'command'> {
  /** A line of shell that looks into a hung worker. */
  readonly hangCommand: string | undefined;
  /** Absent: it does not look for ranks below a launcher. */
  readonly rankLooks?: RankLooks;
}

/** The exit codes of shells for a program that is missing, and for one that cannot be executed. */
const NOT_FOUND_EXIT_CODE = 127;
const NOT_EXECUTABLE_EXIT_CODE = 126;

interface Ended {
  readonly exit: Exit;
  readonly atMs: number;
  readonly hadOom: boolean;
  /** Why it could not be started. */
  readonly problem?: string;
}

export class SupervisedProcess {
  /** Its local rank; undefined: the worker is one process. */
  readonly local: number | undefined;
  /** It was a standby, or wrote that it waits before it stepped. */
  hasWaited = false;
  hasStepped = false;
  /** It wrote a line of progress. */
  hasReported = false;
  readonly #options: SupervisedProcessOptions;
  readonly #watch: MemberProgress;
  /** Signals that came before the process existed. */
  readonly #early: ProcessSignal[] = [];
  #process: WorkerProcess;
  #tree: TreeWatch | undefined;
  /** The ranks that a launcher has started. */
  #ranks: LaunchedRanks | undefined;
  #told: Told;
  /** When the supervisor began to end it. */
  #toldMs = Number.POSITIVE_INFINITY;
  #ended: Ended | undefined;
  #where: string | undefined;

  constructor(options: SupervisedProcessOptions, watch: MemberProgress, process: WorkerProcess) {
    this.#options = options;
    this.#watch = watch;
    this.#process = process;
    this.local = process.rank?.local;
  }

  get process(): WorkerProcess {
    return this.#process;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  get told(): Told {
    return this.#told;
  }

  /** Where it was, as the hang command printed it. */
  get where(): string | undefined {
    return this.#where;
  }

  /** Its rank in the whole group. */
  get rank(): number | undefined {
    const { rank } = this.#process;
    return rank && rankOf(rank);
  }

  /** Its reports, if it reports for itself and its silence counts. */
  get reporter(): Reporter | undefined {
    return this.#watch.reporters.find(({ local }) => local === this.local);
  }

  /** Since its last report, or the last one of its worker if it reports nothing itself. */
  get silentMs(): number {
    return (this.reporter?.watch ?? this.#watch).silentMs;
  }

  /** It ended by itself, and not with 0. */
  get hasFailed(): boolean {
    return this.hasEnded && this.#told === undefined && exitCodeIn(this.exit) !== 0;
  }

  /** Once it has ended. */
  get exit(): Exit {
    return this.#ended?.exit ?? { signal: 'SIGKILL' };
  }

  /** When it ended; monotonic. */
  get endedMs(): number {
    return this.#ended?.atMs ?? this.#options.clock.monotonic();
  }

  /** Why it could not be started. */
  get problem(): string | undefined {
    return this.#ended?.problem;
  }

  /**
   * Starts `own`, or makes the promoted standby that `own` is its own, and waits for its end.
   * `started` is called once it runs.
   */
  async run(own: WorkerProcess, epoch: number, started: () => void): Promise<void> {
    const { clock, logger } = this.#options;
    this.#process = own;
    let child: RunningProcess;
    try {
      child = own.child ?? (await own.start(epoch));
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      const { message } = error;
      logger.error('the worker could not be started', { err: message, epoch });
      const isMissing = error.code === 'ENOENT';
      const exitCode = isMissing ? NOT_FOUND_EXIT_CODE : NOT_EXECUTABLE_EXIT_CODE;
      const atMs = clock.monotonic();
      this.#ended = { exit: { exitCode }, atMs, hadOom: false, problem: message };
      return;
    }
    for (const signal of this.#early) own.signal(signal);
    const { rank } = own;
    const place = rank && { index: rank.local, count: rank.ranks.processes };
    this.#tree = new TreeWatch({ ...this.#options, pid: child.pid, ...defined({ place }) });
    this.#ranks = this.#launched(child.pid);
    own.exited = () => this.#ranks?.freeze();
    started();
    const exit = exitOf(await child.exited);
    this.#tree.freeze();
    this.#ended = { exit, atMs: clock.monotonic(), hadOom: this.#tree.hadOom };
  }

  #launched(pid: number): LaunchedRanks | undefined {
    const { rankLooks: looks, clock } = this.#options;
    const { ranks: files, env } = this.#process;
    if (looks === undefined || files === undefined || this.local !== undefined) return undefined;
    const mark = `${ENV_WORKER}=${env[ENV_WORKER] ?? ''}`;
    return new LaunchedRanks({ pid, mark, files, progress: this.#watch, looks, clock });
  }

  /** A line that a rank below a launcher has written. */
  heardRank(local: number, line: string): void {
    this.#ranks?.heard(local, line);
  }

  /** Reads what ranks below a launcher have written of their exceptions. Never rejects. */
  async readRanks(): Promise<void> {
    await this.#ranks?.read();
  }

  /** What the rank below a launcher that failed first has written of its exception. */
  get rankText(): string | undefined {
    return this.#rankSigns.text;
  }

  get #rankSigns(): RankSigns {
    const { exit, hadOom = false } = this.#ended ?? {};
    return exit === undefined ? {} : rankSignsAt(exit, hadOom, this.#ranks);
  }

  signal(signal: ProcessSignal): void {
    if (this.#process.child === undefined) this.#early.push(signal);
    else this.#process.signal(signal);
  }

  /** A process that was told to stop before stays `Stopped` until it has to be killed. */
  tell(how: Told): void {
    if (this.#ended === undefined && this.freeze()) this.#told = how;
  }

  /** Remembers its descendants as they are now. False if it has ended already. */
  freeze(): boolean {
    const isAlive = this.#tree?.isAlive !== false;
    if (isAlive) this.#tree?.freeze();
    if (isAlive) this.#ranks?.freeze();
    if (isAlive) this.#toldMs = Math.min(this.#toldMs, this.#options.clock.monotonic());
    return isAlive;
  }

  /** Looks at its descendants once more. */
  look(): void {
    this.#tree?.look();
  }

  /** Runs the hang command for it. Resolves at the latest when `signal` aborts. */
  async lookInto(signal: AbortSignal): Promise<void> {
    const { child, env } = this.#process;
    if (child === undefined || this.#ended !== undefined) return;
    const { command, hangCommand, say } = this.#options;
    const { rank, local } = this;
    const below = this.#tree === undefined ? [] : (this.#ranks?.hung(this.#tree) ?? []);
    const own: HungProcess = { pid: child.pid, ...defined({ local, rank }) };
    const looks = (below.length === 0 ? [own] : below).map(async ({ variables, ...each }) => {
      const hung = { ...each, env: { ...env, ...variables }, cwd: command.cwd };
      const prefix = each.rank === undefined ? '' : `[${each.rank}] `;
      const options = {
        ...this.#options,
        command: hangCommand,
        say: (line: string) => say(`${prefix}${line}`),
      };
      return lookIntoHung(hung, options, signal);
    });
    this.#where = (await Promise.all(looks))[0];
  }

  get isStopped(): boolean {
    const { states = '' } = this.#tree?.seenAt(this.endedMs, this.newestStepMs) ?? {};
    return /[Tt]/.test(states);
  }

  /** While it runs: when it may have raised an exception, at the earliest. */
  get mayHaveRaisedMs(): number {
    const { errors, readsErrors } = this.#process;
    return mayHaveRaisedMs(readsErrors ? errors.tracebackMs : 'Unread', this.newestStepMs);
  }

  /** What is known of its end in a worker that ended at `atMs`. */
  knownAt(epoch: number, atMs: number): Omit<OwnEnd, 'how' | 'exit'> {
    const { tracebackMs } = this.#process.errors;
    const times = { steppedMs: this.newestStepMs, toldMs: this.#toldMs, endMs: atMs };
    const { failedAtMs, local, rank, firstRank } = this.#rankSigns;
    const failedMs =
      failedAtMs === undefined ? failedMsOf(tracebackMs, times) : Math.max(0, atMs - failedAtMs);
    return {
      epoch,
      atMs,
      ...this.#tree?.seenAt(atMs, this.newestStepMs),
      ...defined({
        oom: this.#ended?.hadOom || undefined,
        where: this.#where,
        local,
        rank,
        firstRank,
        failedMs,
      }),
    };
  }

  /** Its own end, beside the ends of its peers. */
  endAt(epoch: number, atMs: number): OwnEnd {
    const { watch } = this.reporter ?? {};
    const { progress, longestMs } = watch ?? this.#watch;
    const reporters = watch === undefined ? this.#watch.reporters : [{ watch }];
    const known = this.knownAt(epoch, atMs);
    return endOf(this.exit, this.#told, known, defined({ progress, longestMs, reporters }));
  }

  /** When its newest step was reported; monotonic. */
  get newestStepMs(): number | undefined {
    return (this.reporter?.watch ?? this.#watch).newestStepMs;
  }
}
