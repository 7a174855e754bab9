/**
 * The operator of a local cluster as a process, which is started again when it ends. Workers run on
 * meanwhile, and the next operator continues a restart of their group.
 */

import { Backoff } from '@lockstep/kube/runtime/backoff.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';

export interface OperatorChild {
  readonly pid: number;
  /** Resolves with how the process ended. Never rejects. */
  readonly exited: Promise<string>;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Its page of metrics. */
  metrics(signal: AbortSignal): Promise<string>;
}

export interface OperatorProcessOptions extends RuntimePorts {
  readonly spawn: () => OperatorChild;
  /** It has ended by itself, and is started again after that time. */
  readonly onEnd?: ((how: string, restartMs: number) => void) | undefined;
}

/** From its end to the start of the next, doubled while they die young. */
const RESTART_BACKOFF = { baseMs: 200, maxMs: 10_000, jitterFactor: 0 } as const;
/** From SIGTERM to SIGKILL; the operator promises to end within 2 s. */
const STOP_GRACE_MS = 2500;

export class OperatorProcess {
  readonly #options: OperatorProcessOptions;
  readonly #logger: Logger;
  readonly #backoff: Backoff;
  #child: OperatorChild;
  #restart: Timer | undefined;
  #isStopping = false;

  constructor(options: OperatorProcessOptions) {
    this.#options = options;
    this.#logger = options.logger.with({ logger: 'operator-process' });
    this.#backoff = new Backoff(options.random, RESTART_BACKOFF);
    this.#child = this.#spawn();
  }

  /** The process ID of the current one, or the last. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves with how the current one ends. */
  get exited(): Promise<string> {
    return this.#child.exited;
  }

  /** The page of metrics of the current one; rejects while there is none. */
  metrics(signal: AbortSignal): Promise<string> {
    return this.#child.metrics(signal);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#restart?.cancel();
    const child = this.#child;
    child.signal('SIGTERM');
    const timer = this.#options.clock.setTimer(STOP_GRACE_MS, () => child.signal('SIGKILL'));
    await child.exited;
    timer.cancel();
  }

  #spawn(): OperatorChild {
    const { spawn, clock, onEnd } = this.#options;
    const child = spawn();
    const startMs = clock.monotonic();
    this.#logger.info('the operator was started', { operator: child.pid });
    void child.exited.then((how) => {
      if (this.#isStopping) return;
      if (clock.monotonic() - startMs > RESTART_BACKOFF.maxMs) this.#backoff.reset();
      const restartMs = this.#backoff.next();
      this.#logger.warn('the operator has ended, and is started again', { how, restartMs });
      onEnd?.(how, restartMs);
      this.#restart = clock.setTimer(restartMs, () => {
        this.#child = this.#spawn();
      });
    });
    return child;
  }
}
