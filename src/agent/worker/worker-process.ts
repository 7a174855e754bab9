/**
 * One process of the worker's command, with files and streams of its own: of a worker, or of a
 * standby that becomes one.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type {
  ProcessCommand,
  ProcessRunner,
  ProcessSignal,
  RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { workerEnvironment } from '../../jobset/injection/worker-environment.ts';
import {
  ENV_EPOCH,
  ENV_PROGRESS_FILE,
  ENV_RANK_FILES,
  ENV_STANDBY,
  ENV_START_FILE,
  ENV_TORCH_ERROR_FILE,
  ENV_WORKER,
} from '../../jobset/names.ts';
import type {
  FilesOfStart,
  LineListener,
  ProgressFile,
  RankFiles,
  WorkerFiles,
} from '../progress/progress-files.ts';
import { StreamTail, torchErrorText } from './last-words.ts';
import { PrintedSteps } from './printed-steps.ts';
import { type ProcessRank, rankEnvironment, rankOf } from './rank-environment.ts';
import type { WorkerMessages } from './worker-messages.ts';
import type { OutputStream, RelayedOutput, WorkerOutput } from './worker-output.ts';

export interface WorkerProcessOptions extends RuntimePorts {
  /** The worker, with the environment and the directory of the agent. */
  readonly command: ProcessCommand;
  /** The text before the step in a line that the worker prints. */
  readonly progressPrefix: string | undefined;
  readonly terminationMessagePath: string;
  /** Whether workers may have a warm standby. */
  readonly hasStandby: boolean;
  /** Whether the last words of a worker are reported; absent: they are. */
  readonly hasLastWords?: boolean;
  /** Whether lines of several processes begin with the rank; absent: they do. */
  readonly hasLogPrefix?: boolean;
  readonly files: WorkerFiles;
  readonly messages: WorkerMessages;
  readonly output: WorkerOutput;
  readonly processes: ProcessRunner;
}

/**
 * How long a start or an end waits for files of the worker. They may be on a file system that does
 * not answer.
 */
export const FILES_LIMIT_MS = 1000;

/** A file in which the worker may leave a message, as it was before the worker. */
interface Message {
  readonly path: string;
  readonly textOf: (content: string) => string | undefined;
  before: string | undefined;
}

function messageIn(path: string, textOf: Message['textOf']): Message {
  return { path, textOf, before: undefined };
}

/** The files and streams of a process, made before it exists. */
interface Equipment {
  readonly env: StringMap;
  readonly reports: readonly ProgressFile[];
  readonly messages: readonly Message[];
  readonly relayed: RelayedOutput;
  readonly files: FilesOfStart | undefined;
}

export class WorkerProcess {
  /** Gets lines of progress, old ones too. */
  heard: LineListener = () => undefined;
  /** Called when it has ended, before its group is killed. */
  exited: () => void = () => undefined;
  /** Absent: the worker is one process. */
  readonly rank: ProcessRank | undefined;
  readonly #options: WorkerProcessOptions;
  readonly #id: string;
  #equipment: Equipment | undefined;
  #errors = new StreamTail();
  #child: RunningProcess | undefined;
  #isStandby = false;
  #hasExited = false;

  /** Its descendants are found by `id`. */
  constructor(options: WorkerProcessOptions, id: string, rank?: ProcessRank) {
    this.#options = options;
    this.#id = id;
    this.rank = rank;
  }

  get env(): StringMap {
    return this.#equipment?.env ?? {};
  }

  /** The files in which it reports its progress. */
  get reports(): readonly ProgressFile[] {
    return this.#equipment?.reports ?? [];
  }

  /** The files in which ranks below it report for themselves. */
  get ranks(): RankFiles | undefined {
    return this.#equipment?.files?.ranks;
  }

  /** The times of its output on standard error. */
  get errors(): Pick<StreamTail, 'lastMs' | 'tracebackMs'> {
    return this.#errors;
  }

  /** Its standard error goes through the agent. */
  get readsErrors(): boolean {
    return this.#equipment?.relayed.streams.stderr !== undefined;
  }

  get child(): RunningProcess | undefined {
    return this.#child;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** The worker of an epoch, or a standby. Rejects with `ProcessStartError`. */
  async start(epoch: number | 'Standby'): Promise<RunningProcess> {
    const { command, processes } = this.#options;
    const { env, relayed, files } = await this.#equip(epoch);
    try {
      if (epoch === 'Standby') {
        // Without a start file, the standby would not wait.
        if (files === undefined) throw new Error('there is no place for its files');
        this.#isStandby = true;
        await files.noteStandby(true);
      }
      this.#child = await processes.start({ ...command, env, streams: relayed.streams });
    } finally {
      relayed.handedOver();
    }
    void this.#child.exited.then(() => {
      this.exited();
      // Its group ends with it. The number of a group that is gone may be used again.
      this.signal('SIGKILL');
      this.#hasExited = true;
    });
    return this.#child;
  }

  /** Signals its group, until it has ended. */
  signal(signal: ProcessSignal): void {
    if (!this.#hasExited) this.#child?.signalGroup(signal);
  }

  /** Makes a standby the worker of the epoch. False if its start file cannot be written. */
  async promote(epoch: number): Promise<boolean> {
    this.#errors = new StreamTail();
    this.#isStandby = false;
    return this.#hasBegun(epoch);
  }

  /** Notes that the present messages in its files are not its own. */
  async noteMessages(files = this.#equipment?.messages ?? []): Promise<void> {
    const { messages, clock } = this.#options;
    const states = files.map(async (message) => {
      message.before = await messages.state(message.path);
    });
    await endsWithin(clock, FILES_LIMIT_MS, Promise.all(states));
  }

  /** Passes on the output so far. */
  drain(): void {
    this.#equipment?.relayed.end();
  }

  /** Reads the messages of a process that has ended; the message of the container comes first. */
  async readMessages(texts: (string | undefined)[]): Promise<void> {
    if (this.#child === undefined) return;
    const all = this.#equipment?.messages ?? [];
    await Promise.all(
      all.map(async ({ path, before, textOf }, index) => {
        const content = await this.#options.messages.changed(path, before);
        texts[index] = content === undefined ? undefined : textOf(content);
      }),
    );
  }

  /** The end of its standard error. */
  get lastErrors(): string {
    return this.#errors.text;
  }

  /** Its descendants are gone, and its files were read. */
  async done(): Promise<void> {
    const files = this.#equipment?.files;
    if (this.#isStandby && files !== undefined) {
      const noted = files.noteStandby(false).catch(() => undefined);
      await endsWithin(this.#options.clock, FILES_LIMIT_MS, noted);
    }
    files?.done();
  }

  async #equip(epoch: number | 'Standby'): Promise<Equipment> {
    const { command, files, output, progressPrefix, hasStandby, clock } = this.#options;
    const { terminationMessagePath } = this.#options;
    const steps = progressPrefix === undefined ? undefined : new PrintedSteps(progressPrefix);
    const take = (stream: OutputStream, chunk: Uint8Array): void => {
      steps?.add(stream, chunk);
      if (stream === 'stderr') this.#errors.add(chunk, clock.monotonic());
    };
    const listener: LineListener = (line) => this.heard(line);
    const ofContainer = workerEnvironment(command.env);
    const { rank } = this;
    const given = {
      ...ofContainer,
      ...(rank === undefined ? {} : rankEnvironment(rank, ofContainer)),
    };
    // A file of the template would be one for all processes.
    const givenError = rank === undefined ? given[ENV_TORCH_ERROR_FILE] : undefined;
    const shared = [messageIn(terminationMessagePath, (text) => text)];
    if (givenError !== undefined) shared.push(messageIn(givenError, torchErrorText));
    const [opened, relayed] = await Promise.all([
      files.open(hasStandby ? listener : undefined),
      output.begin(take, this.#linePrefix),
      // A standby's files are looked at when it becomes the worker.
      epoch === 'Standby' ? undefined : this.noteMessages(shared),
    ]);
    const torchError = givenError ?? opened?.torchError;
    // A new directory has no older message.
    const own = givenError === undefined && opened !== undefined;
    const messages = own ? [...shared, messageIn(opened.torchError, torchErrorText)] : shared;
    const env = {
      ...given,
      [ENV_WORKER]: this.#id,
      ...(epoch === 'Standby' ? { [ENV_STANDBY]: '1' } : { [ENV_EPOCH]: String(epoch) }),
      ...(opened === undefined
        ? {}
        : { [ENV_PROGRESS_FILE]: opened.progress, [ENV_RANK_FILES]: '1' }),
      ...(torchError === undefined ? {} : { [ENV_TORCH_ERROR_FILE]: torchError }),
    };
    const reports = [...(steps === undefined ? [] : [steps]), ...(opened ? [opened.reports] : [])];
    const equipment = { env, reports, messages, relayed, files: opened };
    this.#equipment = equipment;
    // A worker that knew of a file that cannot be written would wait for ever.
    const hasStart = hasStandby && (epoch === 'Standby' || (await this.#hasBegun(epoch)));
    if (opened === undefined || !hasStart) return equipment;
    this.#equipment = { ...equipment, env: { ...env, [ENV_START_FILE]: opened.start } };
    return this.#equipment;
  }

  /** Undefined: lines pass as they are, in pieces too. */
  get #linePrefix(): string | undefined {
    if (this.rank === undefined) return undefined;
    return this.#options.hasLogPrefix === false ? '' : `[${rankOf(this.rank)}] `;
  }

  async #hasBegun(epoch: number): Promise<boolean> {
    const { clock, logger } = this.#options;
    const files = this.#equipment?.files;
    if (files === undefined) return false;
    const problem = await endsWithin(clock, FILES_LIMIT_MS, files.begin(`epoch ${epoch}\n`)).then(
      (isInTime) => (isInTime ? undefined : 'the file system does not answer'),
      String,
    );
    if (problem === undefined) return true;
    logger.warn('the start file of a worker could not be written', { err: problem });
    return false;
  }
}
