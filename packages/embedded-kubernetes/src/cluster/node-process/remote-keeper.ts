/** The agent's side of the protocol: a `ProcessKeeper` whose processes live in another process. */

import {
  type ProcessCommand,
  type ProcessExit,
  type ProcessInput,
  ProcessStartError,
  type RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { KeptProcess, OutputHandler, ProcessKeeper } from '../ports/process-keeper.ts';
import type { AgentMessage, KeeperMessage, MessagePort } from './process-messages.ts';

export class RemoteKeeper implements ProcessKeeper {
  readonly #port: MessagePort<AgentMessage, KeeperMessage>;
  readonly #processes = new Map<string, FollowedProcess>();
  readonly #answers = new Map<number, (answer: KeeperMessage) => void>();
  #requests = 0;
  #unnamed = 0;

  constructor(port: MessagePort<AgentMessage, KeeperMessage>) {
    this.#port = port;
    port.onMessage((message) => this.#receive(message));
  }

  async start(command: ProcessCommand): Promise<RunningProcess> {
    const { argv, env, cwd, key, takesInput = false } = command;
    const id = key ?? `unnamed ${this.#unnamed++}`;
    const followed = this.#follow(id, command.onOutput, key === undefined);
    const isKept = key !== undefined;
    this.#port.send({ type: 'start', id, isKept, argv, env, cwd, takesInput });
    const answer = await followed.opened;
    if (answer.type === 'started') return followed.process(answer.pid, takesInput);
    this.#processes.delete(id);
    if (answer.type === 'not-started') throw new ProcessStartError(answer.message, answer.code);
    throw new ProcessStartError('the keeper of processes gave no answer', 'EPROTO');
  }

  async killByEnvironment(name: string, value: string): Promise<number> {
    const answer = await this.#ask((request) => ({ type: 'kill', request, name, value }));
    return answer.type === 'killed' ? answer.count : 0;
  }

  async keys(): Promise<readonly string[]> {
    const answer = await this.#ask((request) => ({ type: 'keys', request }));
    return answer.type === 'keys' ? answer.keys : [];
  }

  async adopt(key: string, onOutput: OutputHandler): Promise<KeptProcess | undefined> {
    const followed = this.#follow(key, onOutput, false);
    this.#port.send({ type: 'adopt', id: key });
    const answer = await followed.opened;
    if (answer.type !== 'adopted') {
      this.#processes.delete(key);
      return undefined;
    }
    const { pid, argv, env, cwd, takesInput, hasExited } = answer;
    return {
      child: followed.process(pid, takesInput),
      command: { argv, env, cwd },
      hasExited,
    };
  }

  forget(key: string): void {
    this.#processes.delete(key);
    this.#port.send({ type: 'forget', id: key });
  }

  #follow(
    id: string,
    onOutput: ProcessCommand['onOutput'],
    forgetsItself: boolean,
  ): FollowedProcess {
    const followed = new FollowedProcess(id, this.#port, onOutput);
    this.#processes.set(id, followed);
    if (forgetsItself) void followed.exited.then(() => this.forget(id));
    return followed;
  }

  #ask(message: (request: number) => AgentMessage): Promise<KeeperMessage> {
    const request = this.#requests++;
    return new Promise((resolve) => {
      this.#answers.set(request, resolve);
      this.#port.send(message(request));
    });
  }

  #receive(message: KeeperMessage): void {
    if (message.type === 'keys' || message.type === 'killed') {
      this.#answers.get(message.request)?.(message);
      this.#answers.delete(message.request);
    } else {
      this.#processes.get(message.id)?.receive(message);
    }
  }
}

class FollowedProcess {
  /** The keeper's answer to the start or the adoption. */
  readonly opened: Promise<KeeperMessage>;
  readonly exited: Promise<ProcessExit>;
  readonly #id: string;
  readonly #port: MessagePort<AgentMessage, KeeperMessage>;
  readonly #onOutput: ProcessCommand['onOutput'];
  readonly #inputs = new Map<number, () => void>();
  #open: (answer: KeeperMessage) => void = () => undefined;
  #exit: (exit: ProcessExit) => void = () => undefined;
  #holds: Promise<unknown> = Promise.resolve();
  #inputCount = 0;
  #hasExited = false;

  constructor(
    id: string,
    port: MessagePort<AgentMessage, KeeperMessage>,
    onOutput: ProcessCommand['onOutput'],
  ) {
    this.#id = id;
    this.#port = port;
    this.#onOutput = onOutput;
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
  }

  process(pid: number, takesInput: boolean): RunningProcess {
    return {
      pid,
      exited: this.exited,
      signalGroup: (signal) => this.#port.send({ type: 'signal', id: this.#id, signal }),
      ...(takesInput ? { input: this.#input() } : {}),
      // Held output is not reported as taken, so the keeper holds the process back.
      holdOutput: (until) => {
        const before = this.#holds;
        this.#holds = until.then(
          () => before,
          () => before,
        );
      },
    };
  }

  receive(message: KeeperMessage): void {
    if (message.type === 'output') {
      this.#onOutput?.(message.stream, message.bytes);
      const { chunk } = message;
      void this.#holds.then(() => this.#port.send({ type: 'taken', id: this.#id, chunk }));
    } else if (message.type === 'exited') {
      this.#hasExited = true;
      for (const resolve of this.#inputs.values()) resolve();
      this.#exit(message.exit);
    } else if (message.type === 'input-taken') {
      this.#inputs.get(message.input)?.();
      this.#inputs.delete(message.input);
    } else {
      this.#open(message);
    }
  }

  #input(): ProcessInput {
    return {
      write: (bytes) => {
        if (this.#hasExited) return Promise.resolve();
        const input = this.#inputCount++;
        return new Promise((resolve) => {
          this.#inputs.set(input, resolve);
          this.#port.send({ type: 'input', id: this.#id, input, bytes });
        });
      },
      end: () => this.#port.send({ type: 'end-input', id: this.#id }),
    };
  }
}
