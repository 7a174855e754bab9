/** One run of a worker, from before its process exists until all of its descendants are gone. */
import { workerEnvironment } from '../../jobset/injection/worker-environment.ts';
import {
  ENV_EPOCH,
  ENV_PROGRESS_FILE,
  ENV_TORCH_ERROR_FILE,
  ENV_WORKER,
} from '../../jobset/names.ts';
import type { StringMap } from '../../kube/meta.ts';
import { endsWithin } from '../../runtime/deadline.ts';
import type { Timer } from '../../runtime/ports/clock.ts';
import {
  type ProcessCommand,
  type ProcessExit,
  type ProcessSignal,
  ProcessStartError,
  type RunningProcess,
} from '../../runtime/ports/process-runner.ts';
import type { Random } from '../../runtime/ports/random.ts';
import { ProgressFeed } from '../progress/progress-feed.ts';
import type { WorkerFiles } from '../progress/progress-files.ts';
import type { ProgressWatch } from '../progress/progress-watch.ts';
import { type WorkerExit, workerExit } from '../worker-exit.ts';
import { evidenceOf, type WorkerEnding } from './end-evidence.ts';
import { type HangLookOptions, lookIntoHung } from './hang-look.ts';
import { lastWords, StreamTail, torchErrorText } from './last-words.ts';
import { PrintedSteps } from './printed-steps.ts';
import { TreeWatch } from './tree-watch.ts';
import type { WorkerMessages } from './worker-messages.ts';
import type { OutputStream, RelayedOutput, WorkerOutput } from './worker-output.ts';

export interface SupervisedWorkerOptions extends Omit<HangLookOptions, 'command'> {
  /** The worker, with the environment and the directory of the agent. */
  readonly command: ProcessCommand;
  /** A line of shell that looks into a hung worker. */
  readonly hangCommand: string | undefined;
  /** The text before the step in a line that the worker prints. */
  readonly progressPrefix: string | undefined;
  readonly terminationMessagePath: string;
  /** The time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
  readonly files: WorkerFiles;
  readonly messages: WorkerMessages;
  readonly output: WorkerOutput;
  readonly random: Random;
}

/** The exit codes of shells for a program that is missing, and for one that cannot be executed. */
const NOT_FOUND_EXIT_CODE = 127;
const NOT_EXECUTABLE_EXIT_CODE = 126;

/**
 * How long a start or an end waits for files of the worker. They may be on a file system that does
 * not answer.
 */
const FILES_LIMIT_MS = 1000;

/** A file in which the worker may leave a message, as it was before the worker. */
interface Message {
  readonly path: string;
  readonly textOf: (content: string) => string | undefined;
  before: string | undefined;
}

/** What a start of the worker needs, and its end. */
interface Prepared {
  readonly env: StringMap;
  readonly messages: readonly Message[];
  readonly relayed: RelayedOutput;
}

export class SupervisedWorker {
  readonly ended: Promise<WorkerExit>;
  readonly #options: SupervisedWorkerOptions;
  readonly #watch: ProgressWatch;
  readonly #feed: ProgressFeed;
  readonly #errors = new StreamTail();
  readonly #hurry = new AbortController();
  /** Signals that came before the process existed. */
  readonly #early: ProcessSignal[] = [];
  #child: RunningProcess | undefined;
  #env: StringMap = {};
  #tree: TreeWatch | undefined;
  #killTimer: Timer | undefined;
  #isLooking = false;
  #hasExited = false;
  #told: WorkerEnding['told'];

  constructor(options: SupervisedWorkerOptions, watch: ProgressWatch, epoch: number) {
    this.#options = options;
    this.#watch = watch;
    this.#feed = new ProgressFeed({ ...options, watch });
    this.ended = this.#run(epoch).finally(() => {
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

  /** Looks into the worker, and kills it. `how` is what its evidence will say. */
  killSilent(how: 'Killed' | 'Hung'): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
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
    await lookIntoHung({ pid: child.pid, env: this.#env, cwd }, options, this.#hurry.signal);
  }

  /** A worker that was told to stop before stays `Stopped` until it has to be killed. */
  #tell(how: WorkerEnding['told']): void {
    if (!this.#hasExited && this.#freeze()) this.#told = how;
  }

  #kill(how: 'Killed' | 'Hung'): void {
    this.#tell(how);
    this.#signal('SIGKILL');
  }

  /** Remembers the processes as they are now. False if the worker has ended already. */
  #freeze(): boolean {
    const isAlive = this.#tree?.look() !== false;
    if (isAlive) this.#tree?.freeze();
    return isAlive;
  }

  #signal(signal: ProcessSignal): void {
    if (this.#child === undefined) this.#early.push(signal);
    else this.#child.signalGroup(signal);
  }

  #release(): void {
    this.#killTimer?.cancel();
    this.#tree?.freeze();
    this.#hurry.abort();
  }

  async #run(epoch: number): Promise<WorkerExit> {
    const { command, processes, random, clock, logger } = this.#options;
    const id = random.uuid();
    const own = { ...workerEnvironment(command.env), [ENV_EPOCH]: String(epoch), [ENV_WORKER]: id };
    const prepared = await this.#prepare(own);
    this.#env = prepared.env;
    try {
      this.#child = await this.#start(prepared);
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      logger.error('the worker could not be started', { err: error.message, epoch });
      const isMissing = error.code === 'ENOENT';
      const exitCode = isMissing ? NOT_FOUND_EXIT_CODE : NOT_EXECUTABLE_EXIT_CODE;
      return this.#exit({ exitCode, signal: undefined }, clock.monotonic(), false, [error.message]);
    }
    for (const signal of this.#early) this.#child.signalGroup(signal);
    this.#tree = new TreeWatch({ ...this.#options, pid: this.#child.pid });
    const exit = await this.#child.exited;
    const atMs = clock.monotonic();
    this.#hasExited = true;
    this.#release();
    this.#child.signalGroup('SIGKILL');
    const { hadOom } = this.#tree;
    const texts: (string | undefined)[] = [];
    const read = this.#read(prepared.messages, texts);
    await processes.killByEnvironment(ENV_WORKER, id);
    prepared.relayed.end();
    await endsWithin(clock, FILES_LIMIT_MS, read);
    return this.#exit(exit, atMs, hadOom, [...texts, this.#errors.text]);
  }

  #exit(
    exit: ProcessExit,
    atMs: number,
    hadOom: boolean,
    texts: readonly (string | undefined)[],
  ): WorkerExit {
    const told = this.#told;
    const evidence = evidenceOf({
      exit,
      told,
      hadOom,
      watch: this.#watch,
      seen: this.#tree?.seen ?? {},
      lastWords: lastWords(texts),
    });
    const ended = { evidence, atMs };
    return { ...workerExit(exit), ended, ...(told === 'Hung' ? { isHung: true } : {}) };
  }

  /** Makes the worker's files and streams, and remembers what was there before. */
  async #prepare(own: StringMap): Promise<Prepared> {
    const { files, output, progressPrefix, terminationMessagePath, clock } = this.#options;
    const steps = progressPrefix === undefined ? undefined : new PrintedSteps(progressPrefix);
    if (steps !== undefined) this.#feed.add(steps);
    const take = (stream: OutputStream, chunk: Uint8Array): void => {
      steps?.add(stream, chunk);
      if (stream === 'stderr') this.#errors.add(chunk);
    };
    const [opened, relayed] = await Promise.all([files.open(), output.begin(take)]);
    if (opened !== undefined) this.#feed.add(opened.reports);
    const torchError = own[ENV_TORCH_ERROR_FILE] ?? opened?.torchError;
    const env = {
      ...own,
      ...(opened === undefined ? {} : { [ENV_PROGRESS_FILE]: opened.progress }),
      ...(torchError === undefined ? {} : { [ENV_TORCH_ERROR_FILE]: torchError }),
    };
    const messages: Message[] = [
      { path: terminationMessagePath, textOf: (text) => text, before: undefined },
      ...(torchError === undefined
        ? []
        : [{ path: torchError, textOf: torchErrorText, before: undefined }]),
    ];
    const states = messages.map(async (message) => {
      message.before = await this.#options.messages.state(message.path);
    });
    await endsWithin(clock, FILES_LIMIT_MS, Promise.all(states));
    return { env, messages, relayed };
  }

  async #start({ env, relayed }: Prepared): Promise<RunningProcess> {
    const { command, processes } = this.#options;
    try {
      return await processes.start({ ...command, env, streams: relayed.streams });
    } finally {
      relayed.handedOver();
    }
  }

  /** Reads the last report and the messages, in the order of their worth. */
  async #read(messages: readonly Message[], texts: (string | undefined)[]): Promise<void> {
    await Promise.all([
      this.#feed.end(),
      ...messages.map(async ({ path, before, textOf }, index) => {
        const content = await this.#options.messages.changed(path, before);
        texts[index] = content === undefined ? undefined : textOf(content);
      }),
    ]);
  }
}
