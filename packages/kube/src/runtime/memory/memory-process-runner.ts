/** Simulated processes, for tests. */
import {
  type ProcessCommand,
  type ProcessExit,
  type ProcessInput,
  type ProcessRunner,
  type ProcessSignal,
  ProcessStartError,
  type RunningProcess,
} from '../ports/process-runner.ts';

/**
 * What a program does when it is started: it keeps the `FakeProcess` and ends it, now or later. A
 * program that does nothing runs until it is signalled.
 */
export type FakeProgram = (self: FakeProcess) => void;

/**
 * Programs are functions, found by the name of the command (`argv[0]`); an unknown name is a
 * command that does not exist. Nothing takes time by itself.
 */
export class MemoryProcessRunner implements ProcessRunner {
  /** Every process that was started, in order. */
  readonly started: FakeProcess[] = [];
  readonly #programs: Map<string, FakeProgram>;
  #lastPid = 100;

  constructor(programs: Readonly<Record<string, FakeProgram>> = {}) {
    this.#programs = new Map(Object.entries(programs));
  }

  /** The processes that have not ended. */
  get running(): readonly FakeProcess[] {
    return this.started.filter((started) => started.isRunning);
  }

  async start(command: ProcessCommand): Promise<RunningProcess> {
    const [name] = command.argv;
    const program = this.#programs.get(name);
    if (program === undefined) {
      const why = name.includes('/')
        ? 'no such file or directory'
        : 'executable file not found in PATH';
      throw new ProcessStartError(`exec ${JSON.stringify(name)}: ${why}`, 'ENOENT');
    }
    const leader = this.#add(command, []);
    // A program starts running only after its parent has received the process.
    queueMicrotask(() => queueMicrotask(() => program(leader)));
    return {
      pid: leader.pid,
      exited: leader.exited,
      signalGroup: (signal) => {
        for (const member of leader.group.slice()) member.receive(signal);
      },
      ...(command.takesInput === true ? { input: leader.input } : {}),
      holdOutput: () => undefined,
    };
  }

  async killByEnvironment(name: string, value: string): Promise<number> {
    const found = this.running.filter((running) => running.command.env[name] === value);
    for (const doomed of found) doomed.receive('SIGKILL');
    return found.length;
  }

  #add(command: ProcessCommand, group: FakeProcess[]): FakeProcess {
    const fork = (isGroupLeft: boolean): FakeProcess =>
      this.#add(command, isGroupLeft ? [] : group);
    const created = new FakeProcess(++this.#lastPid, command, group, fork);
    this.started.push(created);
    return created;
  }
}

/** One process, as its program sees it. */
export class FakeProcess {
  readonly pid: number;
  readonly command: ProcessCommand;
  /** The processes of its group, including this one, running or not. */
  readonly group: readonly FakeProcess[];
  readonly exited: Promise<ProcessExit>;
  /** Every signal that reached it while it ran. */
  readonly signals: ProcessSignal[] = [];
  /** Everything that was written to its standard input. */
  inputText = '';
  isInputEnded = false;
  readonly input: ProcessInput = {
    write: async (chunk) => {
      this.inputText += new TextDecoder().decode(chunk);
      this.onInput();
    },
    end: () => {
      this.isInputEnded = true;
      this.onInput();
    },
  };
  /** Called after each change of `inputText` and `isInputEnded`. */
  onInput: () => void = () => undefined;
  readonly #fork: (isGroupLeft: boolean) => FakeProcess;
  #onSignal: ((signal: ProcessSignal) => void) | undefined;
  #resolve: (exit: ProcessExit) => void = () => undefined;
  #isRunning = true;

  constructor(
    pid: number,
    command: ProcessCommand,
    group: FakeProcess[],
    fork: (isGroupLeft: boolean) => FakeProcess,
  ) {
    this.pid = pid;
    this.command = command;
    this.group = group;
    group.push(this);
    this.#fork = fork;
    this.exited = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  write(stream: 'stdout' | 'stderr', text: string): void {
    if (this.#isRunning) this.command.onOutput?.(stream, new TextEncoder().encode(text));
  }

  /**
   * From now on signals (except SIGKILL) go to `handler`, and only the handler can end the process.
   */
  onSignal(handler: (signal: ProcessSignal) => void): void {
    this.#onSignal = handler;
  }

  /** A child with the same environment, in the same group or in one of its own. */
  fork(group: 'same group' | 'own group'): FakeProcess {
    return this.#fork(group === 'own group');
  }

  exit(exitCode: number): void {
    this.#end({ exitCode, signal: undefined });
  }

  /** Ends the process as that signal does. */
  die(signal: ProcessSignal): void {
    this.#end({ exitCode: undefined, signal });
  }

  /** Does what `kill` does to it. */
  receive(signal: ProcessSignal): void {
    if (!this.#isRunning) return;
    this.signals.push(signal);
    if (signal !== 'SIGKILL' && this.#onSignal !== undefined) this.#onSignal(signal);
    else this.die(signal);
  }

  #end(exit: ProcessExit): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#resolve(exit);
  }
}
