/** `kubectl exec`: a command beside a running container, in its environment and directory. */
import {
  type ProcessCommand,
  ProcessStartError,
  type RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import { exitCodeOf } from '@lockstep/kube/runtime/process-exit.ts';
import { hasTerminals, NO_TERMINAL, onTerminal, resizeTerminal } from '../container/terminal.ts';
import { besideCommand, type RunningPlace } from '../namespaces/beside-command.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { RemoteStreams, StreamOptions } from './remote-streams.ts';

export interface ExecRequest {
  readonly command: readonly [string, ...string[]];
  readonly options: StreamOptions;
  readonly launch: RunningPlace;
  /** For the container's run; holds the name of the terminal. */
  readonly temporaryDirectory: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Marks the processes of one exec; they have the container's marker too. */
const EXEC_VARIABLE = 'LOCKSTEP_EXEC';
/** From the hang-up to the kill, when the client has gone. */
const HANG_UP_GRACE_MS = 1_000;

/** Runs the command until it ends or the client goes; then nothing of it is left. Never rejects. */
export async function exec(
  context: NodeContext,
  request: ExecRequest,
  streams: RemoteStreams,
): Promise<void> {
  const { options, launch } = request;
  const id = context.random.uuid();
  const nameFile = `${request.temporaryDirectory}/.terminal-${id}`;
  const env = { ...launch.env, [EXEC_VARIABLE]: id, ...(options.tty ? { TERM: 'xterm' } : {}) };
  // For questions about the machine, not about the container.
  const place = { env, cwd: launch.entry?.directory ?? launch.cwd };
  const beside = (command: ProcessCommand['argv']): ProcessCommand =>
    besideCommand(context, { ...launch, env }, command);
  if (options.tty && !(await hasTerminals(context.processes, place))) {
    await streams.finish({ type: 'failed', message: NO_TERMINAL });
    return;
  }
  const argv = options.tty ? onTerminal(request.command, nameFile) : request.command;
  const session = new Session(context, streams);
  // A terminal hangs up when its input ends, so it needs an input even if the user types nothing.
  const takesInput = options.input || options.tty;
  const child = await session.start(() => ({ ...beside(argv), takesInput }));
  if (child === undefined) return;
  let resizing: Promise<void> = Promise.resolve();
  const abandon = (): void => session.abandon(child);
  request.signal.addEventListener('abort', abandon, { once: true });
  const followed = session.follow(child, (size) => {
    resizing = resizing.then(() => resizeTerminal(context.processes, beside, nameFile, size));
  });
  const exit = await child.exited;
  await session.finish({ type: 'exited', exitCode: exitCodeOf(exit) });
  await followed;
  if (session.wasAbandoned) await context.processes.killByEnvironment(EXEC_VARIABLE, id);
  await resizing;
  if (options.tty) await context.files.remove(nameFile);
}

/** One command and one client. */
class Session {
  wasAbandoned = false;
  readonly #context: NodeContext;
  readonly #streams: RemoteStreams;
  #sent: Promise<void> = Promise.resolve();
  #hasEnded = false;

  constructor(context: NodeContext, streams: RemoteStreams) {
    this.#context = context;
    this.#streams = streams;
  }

  /** Undefined if the command cannot be executed; the client has the reason. */
  async start(command: () => ProcessCommand): Promise<RunningProcess | undefined> {
    let child: RunningProcess | undefined;
    try {
      child = await this.#context.processes.start({
        ...command(),
        onOutput: (stream, chunk) => {
          this.#sent = this.#sent.then(() => this.#streams.send(stream, chunk));
          child?.holdOutput(this.#sent);
        },
      });
      return child;
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      const message = `error executing command in container: ${error.message}`;
      await this.#streams.finish({ type: 'failed', message });
      return undefined;
    }
  }

  /** Passes on what the client sends; a client that goes ends the command. */
  async follow(
    child: RunningProcess,
    onResize: (size: { readonly rows: number; readonly columns: number }) => void,
  ): Promise<void> {
    for await (const event of this.#streams.events) {
      if (event.type === 'stdin') await child.input?.write(event.chunk);
      else if (event.type === 'stdin-end') child.input?.end();
      else onResize(event);
    }
    this.abandon(child);
  }

  abandon(child: RunningProcess): void {
    if (this.#hasEnded || this.wasAbandoned) return;
    this.wasAbandoned = true;
    child.signalGroup('SIGHUP');
    this.#context.clock.setTimer(HANG_UP_GRACE_MS, () => {
      if (!this.#hasEnded) child.signalGroup('SIGKILL');
    });
  }

  async finish(outcome: { readonly type: 'exited'; readonly exitCode: number }): Promise<void> {
    this.#hasEnded = true;
    await this.#sent;
    await this.#streams.finish(outcome);
  }
}
