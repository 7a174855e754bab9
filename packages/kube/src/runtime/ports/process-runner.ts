/**
 * The port of operating-system processes, for the node agent and for supervising agents: each
 * process leads a process group of its own, and signals go to the group.
 */
export interface ProcessRunner {
  /** Rejects with `ProcessStartError` if the command does not exist or cannot be executed. */
  start(command: ProcessCommand): Promise<RunningProcess>;
  /**
   * Kills (SIGKILL) every process whose environment holds `name=value`, in any group, and resolves
   * with their number. Finds none if the system does not show environments (not Linux).
   */
  killByEnvironment(name: string, value: string): Promise<number>;
}

export interface ProcessCommand {
  /** Program and arguments; at least one element. The program is looked up in `env.PATH`. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /**
   * Receives output in arrival order. If absent, the process writes to the parent's own streams.
   */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void) | undefined;
  /**
   * Descriptors of ours that become streams of a process without `onOutput`. They are never closed.
   */
  readonly streams?: { readonly stdout?: number; readonly stderr?: number } | undefined;
  /** Whether the process reads `RunningProcess.input`; by default it has no input. */
  readonly takesInput?: boolean | undefined;
  /**
   * A program for our own user. `Told`: its standard error goes to ours instead of `onOutput`.
   * `Asked`: it also uses the terminal: it reads our standard input and is in our group, so that
   * Ctrl-C reaches it. Other signals reach it alone. On this machine only.
   */
  readonly user?: 'Told' | 'Asked' | undefined;
  /** With a `ProcessKeeper`, the process outlives its starter under this key. */
  readonly key?: string | undefined;
}

export interface RunningProcess {
  readonly pid: number;
  /** Resolves once the process has ended and its output was delivered. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Signals the whole group; harmless when it is gone. */
  signalGroup(signal: ProcessSignal): void;
  /** Present where the command asked for it. */
  readonly input?: ProcessInput | undefined;
  /** Delivers no output until `until` has settled; a process that continues writing is held back. */
  holdOutput(until: Promise<unknown>): void;
}

/** Standard input of a process. Has no effect once the process has closed it. */
export interface ProcessInput {
  /** Resolves once more may be written. Never rejects. */
  write(chunk: Uint8Array): Promise<void>;
  end(): void;
}

/** Exactly one of the two is set. */
export type ProcessExit =
  | { readonly exitCode: number; readonly signal: undefined }
  | { readonly exitCode: undefined; readonly signal: ProcessSignal };

export type ProcessSignal =
  | 'SIGTERM'
  | 'SIGKILL'
  | 'SIGINT'
  | 'SIGHUP'
  | 'SIGQUIT'
  | 'SIGUSR1'
  | 'SIGUSR2'
  | (string & {});

export class ProcessStartError extends Error {
  override readonly name = 'ProcessStartError';
  /** `ENOENT`, `EACCES`, ... */
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
