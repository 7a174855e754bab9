/** The operator's process, as benchmarks run it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defined } from '@lockstep/kube/json/defined.ts';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Watchdog } from '../cli/watchdog/watchdog.ts';
import { OPERATOR_NODE_OPTIONS } from '../operator/configuration/object-names.ts';
import { until } from './until.ts';

const OPERATOR = fileURLToPath(new URL('../../dist/operator.js', import.meta.url));
const LOOPBACK = '127.0.0.1';
const READY = { timeoutMs: 60_000, pollMs: 50 };
/** The time from SIGTERM to SIGKILL; the operator promises to end within 2 s. */
const STOP_GRACE_MS = 2_500;
/** How often the operator is probed. */
const PROBE_INTERVAL_MS = 5;

export interface OperatorProcessOptions {
  readonly flags: readonly string[];
  /** A file descriptor. */
  readonly log: number;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
  /** The holder name in its leases; by default the name of this machine. */
  readonly hostName?: string | undefined;
}

/** The built operator as a process, with its pages on ports of its own. */
export class OperatorProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #healthPort: number;
  readonly #metricsPort: number;
  readonly #exited: Promise<void>;

  private constructor(child: ChildProcess, healthPort: number, metricsPort: number) {
    this.pid = child.pid ?? 0;
    this.#child = child;
    this.#healthPort = healthPort;
    this.#metricsPort = metricsPort;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
  }

  /** Resolves when its caches are filled: it then acts, unless another replica leads. */
  static async start(options: OperatorProcessOptions): Promise<OperatorProcess> {
    const { flags, log, watchdog, signal, hostName } = options;
    const [health = 0, metrics = 0] = await freePorts(2, systemRandom);
    const pages = [
      `--health-probe-bind-address=${LOOPBACK}:${health}`,
      `--metrics-bind-address=${LOOPBACK}:${metrics}`,
    ];
    const child = spawn(process.execPath, [OPERATOR_NODE_OPTIONS, OPERATOR, ...flags, ...pages], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...defined({ HOSTNAME: hostName }) },
    });
    const operator = new OperatorProcess(child, health, metrics);
    watchdog.watch(operator.pid, operator.#exited);
    try {
      await operator.#ready(signal);
      return operator;
    } catch (error) {
      await operator.stop();
      throw error;
    }
  }

  /** Its metrics by name with labels, as on its page; a family's name gives the sum. */
  async counts(): Promise<(name: string) => number> {
    const { text } = await page(this.#metricsPort, '/metrics');
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return (name) =>
      samples
        .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  probe(): SilenceProbe {
    return new SilenceProbe(this.#healthPort);
  }

  /** `SIGKILL` acts like a loss of power, `SIGSTOP` like a machine that falls silent. */
  signal(signal: 'SIGKILL' | 'SIGSTOP'): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  async #ready(signal: AbortSignal): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      if (this.#child.exitCode !== null) throw new Error('the operator ended; its log says why');
      const answer = await page(this.#healthPort, '/readyz').catch(() => undefined);
      return answer?.status === 200;
    };
    await until('the operator is ready', isReady, { ...READY, signal });
  }
}

/** Probes an endpoint that answers from memory, and records the longest wait. */
class SilenceProbe {
  #longestMs = 0;
  #isStopped = false;
  readonly #ended: Promise<void>;

  constructor(port: number) {
    this.#ended = this.#run(port);
  }

  async stop(): Promise<number> {
    this.#isStopped = true;
    await this.#ended;
    return this.#longestMs;
  }

  async #run(port: number): Promise<void> {
    while (!this.#isStopped) {
      const start = performance.now();
      await page(port, '/livez');
      this.#longestMs = Math.max(this.#longestMs, performance.now() - start);
      await delay(PROBE_INTERVAL_MS);
    }
  }
}

async function page(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://${LOOPBACK}:${port}${path}`);
  return { status: response.status, text: await response.text() };
}
