/**
 * One run of a container: a process group with a log. It has ended only when nothing of it is left:
 * neither its group, nor a descendant that left the group.
 */
import type { Container } from '@lockstep/kube/objects/pod.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type {
  ProcessCommand,
  ProcessExit,
  ProcessInput,
  RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import { exitCodeOf } from '@lockstep/kube/runtime/process-exit.ts';
import type { KeptProcess } from '../../ports/process-keeper.ts';
import { ContainerLog } from '../log/container-log.ts';
import { readLog } from '../log/log-reader.ts';
import type { RunningPlace } from '../namespaces/beside-command.ts';
import { placeOfCommand } from '../namespaces/command-line.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { type Launch, MARKER_VARIABLE, terminationMessagePathIn } from './container-launch.ts';
import { terminationMessageOf } from './container-place.ts';

export interface ContainerExit {
  readonly exitCode: number;
  /** The termination message; empty if it left none. */
  readonly message: string;
}

/** An adopted run of a container, and what is known of it. */
export interface AdoptedRun {
  readonly marker: string;
  readonly restart: number;
  readonly containerID: string | undefined;
  readonly startedMs: number | undefined;
}

/** With what takes commands to where its process runs. */
export type RunningLaunch = Launch & RunningPlace;

export type OutputListener = (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;

/** A kubelet's limits: bytes of a message, and of its substitute from the log. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_FALLBACK_BYTES = 2048;
const FALLBACK_LINES = 80;

export class ContainerProcess {
  readonly containerID: string;
  readonly startedMs: number;
  readonly launch: RunningLaunch;
  readonly log: ContainerLog;
  /** Never rejects. */
  readonly exited: Promise<ContainerExit>;
  readonly #context: NodeContext;
  readonly #child: RunningProcess;
  readonly #listeners: Set<OutputListener>;
  /** It had ended before it was taken over. */
  readonly wasOver: boolean;
  #hasEnded = false;
  #killTimer: Timer | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;

  /** Rejects with `ProcessStartError` if the command cannot be executed. */
  static async start(
    context: NodeContext,
    container: Container,
    launch: Launch,
    logDirectory: string,
    restart: number,
  ): Promise<ContainerProcess> {
    const { processes } = context;
    const log = logOf(context, container, logDirectory, { restart, marker: launch.marker });
    const listeners = new Set<OutputListener>();
    try {
      const started = await processes.start({
        ...(await commandOf(context, launch)),
        takesInput: container.stdin,
        ...(context.keeper === undefined ? {} : { key: launch.marker }),
        onOutput: (stream, chunk) => {
          log.append(stream, chunk);
          for (const listener of listeners) listener(stream, chunk);
        },
      });
      const { place, cwd } = launch;
      const entry = place && {
        ...place,
        pid: started.pid,
        cwd,
        hasOwnHostname: place.hostname !== undefined,
      };
      const running = { ...launch, entry };
      return new ContainerProcess(context, container, running, log, started, listeners);
    } catch (error) {
      log.end();
      throw error;
    }
  }

  /** Takes over a run that an earlier life of the node has started; undefined if there is none. */
  static async adopt(
    context: NodeContext,
    container: Container,
    logDirectory: string,
    run: AdoptedRun,
  ): Promise<ContainerProcess | undefined> {
    const { keeper } = context;
    const listeners = new Set<OutputListener>();
    let log: ContainerLog | undefined;
    const kept = await keeper?.adopt(run.marker, (stream, chunk) => {
      log ??= logOf(context, container, logDirectory, run);
      log.append(stream, chunk);
      for (const listener of listeners) listener(stream, chunk);
    });
    if (kept === undefined) return undefined;
    log ??= logOf(context, container, logDirectory, run);
    const launch = adoptedLaunch(container, run.marker, kept);
    const known = { ...run, wasOver: kept.hasExited };
    return new ContainerProcess(context, container, launch, log, kept.child, listeners, known);
  }

  private constructor(
    context: NodeContext,
    container: Container,
    launch: RunningLaunch,
    log: ContainerLog,
    child: RunningProcess,
    listeners: Set<OutputListener>,
    known?: Pick<AdoptedRun, 'containerID' | 'startedMs'> & { readonly wasOver: boolean },
  ) {
    this.#context = context;
    this.#child = child;
    this.#listeners = listeners;
    this.launch = launch;
    this.log = log;
    this.containerID =
      known?.containerID ?? `lockstep://${context.random.uuid().replaceAll('-', '')}`;
    this.wasOver = known?.wasOver ?? false;
    this.startedMs = known?.startedMs ?? context.clock.now();
    this.exited = child.exited.then((exit) => this.#afterExit(container, exit));
  }

  /** Its standard input, if its container asks for one. */
  get input(): ProcessInput | undefined {
    return this.#child.input;
  }

  /** `listener` gets the process's output from now on, until the result is called. */
  listen(listener: OutputListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends SIGTERM now and SIGKILL after `graceMs`; an earlier end that was requested stays. */
  terminate(graceMs: number): void {
    if (this.#hasEnded) return;
    this.#child.signalGroup('SIGTERM');
    this.killAfter(graceMs);
  }

  killAfter(delayMs: number): void {
    const { clock } = this.#context;
    const atMs = clock.monotonic() + delayMs;
    if (this.#hasEnded || atMs >= this.#killAtMs) return;
    this.#killAtMs = atMs;
    this.#killTimer?.cancel();
    this.#killTimer = clock.setTimer(delayMs, () => this.kill());
  }

  kill(): void {
    if (!this.#hasEnded) this.#child.signalGroup('SIGKILL');
  }

  async #afterExit(container: Container, exit: ProcessExit): Promise<ContainerExit> {
    this.#killTimer?.cancel();
    // The group may outlive its leader.
    this.kill();
    this.#hasEnded = true;
    try {
      if (mayHaveLeftSome(this.launch, exit)) {
        await this.#context.processes.killByEnvironment(MARKER_VARIABLE, this.launch.marker);
      }
      this.log.end();
      const exitCode = exitCodeOf(exit);
      return { exitCode, message: await this.#message(container, exitCode) };
    } catch (error) {
      this.#context.logger.error('the end of a container was not handled completely', {
        container: this.launch.marker,
        err: error,
      });
      return { exitCode: exitCodeOf(exit), message: '' };
    }
  }

  async #message(container: Container, exitCode: number): Promise<string> {
    const { files } = this.#context;
    const bytes = await files.readEnd(this.launch.terminationMessagePath, MAX_MESSAGE_BYTES);
    const isFallback = container.terminationMessagePolicy === 'FallbackToLogsOnError';
    if (bytes.length > 0 || !isFallback || exitCode === 0) return textOf(bytes);
    const { directory, restart } = this.log;
    const query = {
      follow: false,
      previous: false,
      timestamps: false,
      tailLines: FALLBACK_LINES,
      sinceMs: undefined,
      limitBytes: undefined,
    };
    const source = { files, directory, restart, live: undefined };
    let tail = Buffer.alloc(0);
    for await (const chunk of readLog(source, query, new AbortController().signal)) {
      tail = Buffer.concat([tail, chunk]).subarray(-MAX_FALLBACK_BYTES);
    }
    return textOf(tail);
  }
}

/**
 * Whether processes may be left. When a pid namespace's first process ends, all in it end, so they
 * need not be looked for; that takes time in proportion to the processes of the machine. One whose
 * launcher was killed may still be dying.
 */
function mayHaveLeftSome({ place }: Launch, exit: ProcessExit): boolean {
  const isAlone = place?.hasOwnProcesses === true && place.holderPid === undefined;
  return !isAlone || exit.signal !== undefined;
}

function logOf(
  { files, clock, logger }: NodeContext,
  { name }: Container,
  directory: string,
  { restart, marker }: Pick<AdoptedRun, 'restart' | 'marker'>,
): ContainerLog {
  return new ContainerLog(files, clock, `${directory}/${name}`, restart, (error) => {
    logger.warn('what a container writes is lost', { container: marker, err: error });
  });
}

/** What the machine has to start. */
async function commandOf(
  { namespaces }: NodeContext,
  { argv, env, cwd, place }: Launch,
): Promise<Pick<ProcessCommand, 'argv' | 'env' | 'cwd'>> {
  if (place === undefined || namespaces?.type !== 'available') return { argv, env, cwd };
  const entering = await namespaces.namespaces.enter(place, { argv, env });
  return { argv: entering, env, cwd: place.directory };
}

/** The launch of a process that an earlier life of the node has started. */
function adoptedLaunch(
  container: Container,
  marker: string,
  { command, child }: KeptProcess,
): RunningLaunch {
  const place = placeOfCommand(command.argv);
  if (place === undefined) {
    const root = command.env['LOCKSTEP_ROOT'] ?? '';
    const terminationMessagePath = terminationMessagePathIn(root, container);
    return { ...command, marker, terminationMessagePath };
  }
  return {
    ...command,
    cwd: place.cwd,
    marker,
    terminationMessagePath: terminationMessageOf(place),
    entry: { ...place, pid: child.pid },
  };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
