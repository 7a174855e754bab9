/**
 * The keeper's side of the protocol: owns the processes of one node while its agents come and go.
 * Output that the agent has not written to a file is kept and delivered again. If too much waits,
 * the process is held back, as if its pipe were full.
 */
import {
  type ProcessExit,
  type ProcessRunner,
  ProcessStartError,
  type RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import { MARKER_VARIABLE } from '../node/container/container-launch.ts';
import type { AgentMessage, KeeperMessage, MessagePort } from './process-messages.ts';

type StartMessage = Extract<AgentMessage, { type: 'start' }>;
type OutputMessage = Extract<KeeperMessage, { type: 'output' }>;

/** How much output of a process may wait for the agent, besides the 64 KiB in its pipe. */
const MAX_WAITING_BYTES = 1024 * 1024;

export class ProcessHost {
  readonly #runner: ProcessRunner;
  readonly #processes = new Map<string, HostedProcess>();
  #agent: MessagePort<KeeperMessage, AgentMessage> | undefined;

  constructor(runner: ProcessRunner) {
    this.#runner = runner;
  }

  /** Serves this agent from now on; an earlier one must have been disconnected. */
  connect(agent: MessagePort<KeeperMessage, AgentMessage>): void {
    this.#agent = agent;
    agent.onMessage((message) => {
      if (this.#agent === agent) this.#receive(message);
    });
  }

  /** The agent has gone: its short-lived processes are killed, kept ones continue. */
  disconnect(): void {
    this.#agent = undefined;
    for (const [id, hosted] of this.#processes) {
      hosted.isFollowed = false;
      if (hosted.start.isKept) continue;
      hosted.process?.signalGroup('SIGKILL');
      this.#remove(id, hosted);
    }
  }

  /** Kills everything at once, like a power failure. Resolves when nothing is left. */
  async killAll(): Promise<void> {
    const all = [...this.#processes.values()];
    this.#processes.clear();
    for (const hosted of all) hosted.drop();
    await Promise.all(
      all.map(async ({ process, start: { env } }) => {
        process?.signalGroup('SIGKILL');
        await process?.exited;
        const mark = env[MARKER_VARIABLE];
        if (mark !== undefined) await this.#runner.killByEnvironment(MARKER_VARIABLE, mark);
      }),
    );
  }

  #receive(message: AgentMessage): void {
    const hosted = 'id' in message ? this.#processes.get(message.id) : undefined;
    switch (message.type) {
      case 'start':
        void this.#start(message);
        break;
      case 'keys': {
        const kept = [...this.#processes].filter(([, { start }]) => start.isKept);
        const keys = kept.map(([key]) => key);
        this.#send({ type: 'keys', request: message.request, keys });
        break;
      }
      case 'adopt':
        if (hosted === undefined) this.#send({ type: 'unknown', id: message.id });
        else void hosted.settled.then(() => this.#adopt(message.id, hosted));
        break;
      case 'forget':
        if (hosted !== undefined) this.#remove(message.id, hosted);
        break;
      case 'taken':
        hosted?.taken(message.chunk);
        break;
      case 'signal':
        hosted?.process?.signalGroup(message.signal);
        break;
      case 'input':
        void this.#input(message);
        break;
      case 'end-input':
        hosted?.process?.input?.end();
        break;
      case 'kill':
        void this.#kill(message);
        break;
    }
  }

  async #start(start: StartMessage): Promise<void> {
    const { id, argv, env, cwd, takesInput } = start;
    const hosted = new HostedProcess(start, (output) => this.#send(output));
    this.#processes.set(id, hosted);
    try {
      const running = await this.#runner.start({
        argv,
        env,
        cwd,
        takesInput,
        onOutput: (stream, bytes) => hosted.wrote(stream, bytes),
      });
      hosted.started(running);
      if (this.#processes.get(id) !== hosted) running.signalGroup('SIGKILL');
      this.#send({ type: 'started', id, pid: running.pid });
      const exit = await running.exited;
      hosted.exit = exit;
      if (hosted.isFollowed) this.#send({ type: 'exited', id, exit });
    } catch (error) {
      if (this.#processes.get(id) === hosted) this.#processes.delete(id);
      hosted.failed();
      const { message, code } = startError(error);
      this.#send({ type: 'not-started', id, message, code });
    }
  }

  #adopt(id: string, hosted: HostedProcess): void {
    const { process: running, exit, start } = hosted;
    if (running === undefined) {
      this.#send({ type: 'unknown', id });
      return;
    }
    const { argv, env, cwd, takesInput } = start;
    const hasExited = exit !== undefined;
    const command = { argv, env, cwd, takesInput };
    this.#send({ type: 'adopted', id, pid: running.pid, ...command, hasExited });
    hosted.follow();
    if (exit !== undefined) this.#send({ type: 'exited', id, exit });
  }

  async #input({ id, input, bytes }: Extract<AgentMessage, { type: 'input' }>): Promise<void> {
    await this.#processes.get(id)?.process?.input?.write(bytes);
    this.#send({ type: 'input-taken', id, input });
  }

  async #kill({ request, name, value }: Extract<AgentMessage, { type: 'kill' }>): Promise<void> {
    const count = await this.#runner.killByEnvironment(name, value);
    this.#send({ type: 'killed', request, count });
  }

  #remove(id: string, hosted: HostedProcess): void {
    this.#processes.delete(id);
    hosted.drop();
  }

  #send(message: KeeperMessage): void {
    this.#agent?.send(message);
  }
}

class HostedProcess {
  readonly start: StartMessage;
  /** Resolves once the process runs, or could not be started. */
  readonly settled: Promise<void>;
  process: RunningProcess | undefined;
  exit: ProcessExit | undefined;
  /** Whether an agent listens to this process. */
  isFollowed = true;
  readonly #send: (output: OutputMessage) => void;
  readonly #waiting: OutputMessage[] = [];
  #waitingBytes = 0;
  #chunks = 0;
  #isDropped = false;
  #release: (() => void) | undefined;
  #settle: () => void = () => undefined;

  constructor(start: StartMessage, send: (output: OutputMessage) => void) {
    this.start = start;
    this.#send = send;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  started(process: RunningProcess): void {
    this.process = process;
    this.#settle();
    this.#holdIfMuchWaits();
  }

  failed(): void {
    this.#settle();
  }

  wrote(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.#isDropped) return;
    const chunk = this.#chunks++;
    const output = { type: 'output', id: this.start.id, chunk, stream, bytes } as const;
    this.#waiting.push(output);
    this.#waitingBytes += bytes.byteLength;
    this.#holdIfMuchWaits();
    if (this.isFollowed) this.#send(output);
  }

  taken(chunk: number): void {
    while ((this.#waiting[0]?.chunk ?? Number.POSITIVE_INFINITY) <= chunk) {
      this.#waitingBytes -= this.#waiting.shift()?.bytes.byteLength ?? 0;
    }
    if (this.#waitingBytes <= MAX_WAITING_BYTES) this.#releaseOutput();
  }

  /** Sends the output that no agent has written to a file, and then new output. */
  follow(): void {
    this.isFollowed = true;
    for (const output of this.#waiting) this.#send(output);
  }

  /** Stops keeping output, because no agent will read it. */
  drop(): void {
    this.#isDropped = true;
    this.#waiting.length = 0;
    this.#releaseOutput();
  }

  #holdIfMuchWaits(): void {
    if (this.#waitingBytes <= MAX_WAITING_BYTES || this.#release !== undefined) return;
    const until = new Promise<void>((resolve) => {
      this.#release = resolve;
    });
    this.process?.holdOutput(until);
  }

  #releaseOutput(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

function startError(error: unknown): { readonly message: string; readonly code: string } {
  if (error instanceof ProcessStartError) return { message: error.message, code: error.code };
  const message = error instanceof Error ? error.message : String(error);
  return { message, code: 'EINVAL' };
}
