/**
 * One node as a process of its own. Its agent is started again when it dies; the processes of its
 * Pods belong to this process and continue meanwhile. It can be made to fail as nodes do: by a loss
 * of power, or by an agent that hangs.
 */

import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { FromNode, NodeConfiguration, ToNode } from './node-messages.ts';
import { ProcessHost } from './process-host.ts';
import type { AgentMessage, KeeperMessage } from './process-messages.ts';

/** The process of an agent. */
export interface NodeChild {
  readonly pid: number;
  send(message: ToNode): void;
  onMessage(handler: (message: FromNode) => void): void;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves with how the process ended. Never rejects. */
  readonly exited: Promise<string>;
}

export interface NodeProcessOptions {
  readonly configuration: NodeConfiguration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly processes: ProcessRunner;
  readonly spawn: () => NodeChild;
  readonly servingCertificate: (address: string) => KeyPair;
}

/** `frozen`: the agent does nothing, but its Pods continue. `off`: all its processes are gone. */
export type NodePower = 'running' | 'frozen' | 'off';

/** The delay before a dead agent is started again, doubled while agents die young. */
const FIRST_RESTART_MS = 200;
const LAST_RESTART_MS = 10_000;
/** How long a caller waits for an agent to register its node. */
const START_TIMEOUT_MS = 20_000;
/** How long an agent may take to end its Pods before the rest is killed. */
const STOP_GRACE_MS = 5_000;

export class NodeProcess {
  readonly name: string;
  readonly #options: NodeProcessOptions;
  readonly #host: ProcessHost;
  #hostIP: string | undefined;
  #child: NodeChild | undefined;
  #power: NodePower = 'off';
  #isStopping = false;
  #restart: Timer | undefined;
  #restartMs = FIRST_RESTART_MS;
  #ready: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  constructor(options: NodeProcessOptions) {
    this.#options = options;
    this.name = options.configuration.name;
    this.#host = new ProcessHost(options.processes);
  }

  /** The process ID of the agent, if there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the node, or continues a frozen one. Resolves when its agent is registered. */
  async start(): Promise<void> {
    if (this.#power === 'running') return;
    const wasFrozen = this.#power === 'frozen';
    this.#power = 'running';
    if (wasFrozen) {
      this.#child?.signal('SIGCONT');
      return;
    }
    const ready = new Promise<void>((resolve, reject) => {
      this.#ready = { resolve, reject };
    });
    this.#spawn();
    const timer = this.#options.clock.setTimer(START_TIMEOUT_MS, () => {
      this.#ready?.reject(new Error(`${this.name} was not registered in ${START_TIMEOUT_MS} ms`));
    });
    try {
      await ready;
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      timer.cancel();
    }
  }

  /** Freezes the agent; its Pods continue. Throws if the node is off. */
  freeze(): void {
    if (this.#power === 'off') throw new Error(`node ${this.name} is off: start it first`);
    if (this.#power === 'frozen') return;
    this.#power = 'frozen';
    this.#child?.signal('SIGSTOP');
  }

  /** Acts like a power failure: the agent and all processes of its Pods are gone at once. */
  async kill(): Promise<void> {
    this.#power = 'off';
    this.#restart?.cancel();
    const child = this.#child;
    child?.signal('SIGKILL');
    await child?.exited;
    await this.#host.killAll();
  }

  /** Ends the Pods as a node does that is shut down, then the process. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#restart?.cancel();
    const child = this.#child;
    if (child !== undefined && this.#power === 'running') {
      child.send({ type: 'stop' });
      await endsWithin(this.#options.clock, STOP_GRACE_MS, child.exited);
    }
    await this.kill();
  }

  #spawn(): void {
    const { configuration, spawn, servingCertificate, clock, logger } = this.#options;
    const child = spawn();
    const startMs = clock.monotonic();
    this.#child = child;
    let receive: (message: AgentMessage) => void = () => undefined;
    this.#host.connect({
      send: (message: KeeperMessage) => child.send({ type: 'keeper', message }),
      onMessage: (handler) => {
        receive = handler;
      },
    });
    child.onMessage((message) => {
      switch (message.type) {
        case 'keeper':
          receive(message.message);
          break;
        case 'certificate':
          child.send({ type: 'certificate', pair: servingCertificate(message.address) });
          break;
        case 'ready':
          this.#hostIP = message.hostIP;
          this.#ready?.resolve();
          this.#ready = undefined;
          break;
      }
    });
    child.send({ type: 'configure', configuration: { ...configuration, hostIP: this.#hostIP } });
    void child.exited.then((how) => {
      this.#child = undefined;
      this.#host.disconnect();
      if (this.#power === 'off' || this.#isStopping) return;
      logger.warn('the agent of a node has ended', { node: this.name, how });
      this.#power = 'running';
      const isFirst = this.#ready !== undefined;
      this.#ready?.reject(new Error(`the process of ${this.name} ended: ${how}`));
      this.#ready = undefined;
      if (!isFirst) this.#restartAfter(clock.monotonic() - startMs);
    });
  }

  #restartAfter(livedMs: number): void {
    this.#restartMs = livedMs > LAST_RESTART_MS ? FIRST_RESTART_MS : this.#restartMs;
    this.#restart = this.#options.clock.setTimer(this.#restartMs, () => this.#spawn());
    this.#restartMs = Math.min(2 * this.#restartMs, LAST_RESTART_MS);
  }
}
