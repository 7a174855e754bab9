/** Many simulated agents, spread over processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  FleetOrder,
  FleetReport,
  FleetStart,
  Milestone,
  RequestCounts,
} from './agent-process.ts';
import { bundle } from './bundle.ts';

const PROGRAM = new URL('agent-process.ts', import.meta.url);
/** An agent takes 60 to 100 KiB, and a full process about a third of a core in a restart. */
const AGENTS_PER_PROCESS = 1250;
const TIMEOUT_MS = 300_000;
/**
 * An agent in a process of its own has nothing to collect during a restart. For 1,250 in one
 * process, a small space for young objects would take a tenth of the CPU.
 */
const NODE_OPTIONS = ['--min-semi-space-size=16', '--max-semi-space-size=32'];

/** When the first and the last agent of a fleet reached a milestone. */
export interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
}

export class AgentFleet {
  readonly #children: readonly ChildProcess[];
  readonly #directory: string;
  readonly #signal: AbortSignal;
  readonly #reports: FleetReport[] = [];
  /** `news` after each report, and at a failure. */
  readonly #events = new EventEmitter();
  #isStopping = false;
  /** Set if no more reports are to be expected. */
  #failure: Error | undefined;

  private constructor(count: number, program: string, directory: string, signal: AbortSignal) {
    this.#signal = signal;
    this.#directory = directory;
    this.#children = Array.from({ length: count }, () => {
      const child = fork(program, { execArgv: NODE_OPTIONS });
      child.on('message', (report: FleetReport) => {
        this.#reports.push(report);
        this.#events.emit('news');
      });
      child.once('exit', (code, by) => {
        if (this.#isStopping) return;
        this.#failure = new Error(`a process of agents ended with ${by ?? `exit code ${code}`}`);
        this.#events.emit('news');
      });
      return child;
    });
  }

  static async start(order: FleetStart, signal: AbortSignal): Promise<AgentFleet> {
    const size = AGENTS_PER_PROCESS;
    const directory = await mkdtemp(join(tmpdir(), 'lockstep-bench-'));
    const program = await bundle(PROGRAM, directory);
    const count = Math.ceil(order.agents.length / size);
    const fleet = new AgentFleet(count, program, directory, signal);
    for (const [i, child] of fleet.#children.entries()) {
      const part: FleetOrder = { ...order, agents: order.agents.slice(i * size, (i + 1) * size) };
      child.send(part);
    }
    return fleet;
  }

  get pids(): readonly number[] {
    return this.#children.map(({ pid = 0 }) => pid);
  }

  /** Ends the worker of one agent; resolves with the time of that. */
  fail(): Promise<number> {
    return this.#fail(this.#children.slice(0, 1), { type: 'fail' });
  }

  /** Stops the progress of all workers; resolves with the time of their last step. */
  hang(): Promise<number> {
    return this.#fail(this.#children, { type: 'hang' });
  }

  async #fail(children: readonly ChildProcess[], order: FleetOrder): Promise<number> {
    const before = this.#reports.length;
    for (const child of children) child.send(order);
    const failed = await this.#until('a failure', () =>
      this.#reports.slice(before).find((report) => report.type === 'failed'),
    );
    return failed.atMs;
  }

  /** From now on, all workers report progress or do not. */
  reportProgress(isReported: boolean): void {
    const order: FleetOrder = { type: 'progress', isReported };
    for (const child of this.#children) child.send(order);
  }

  /** Resolves when the failing agent has announced that epoch. */
  async told(epoch: number): Promise<void> {
    await this.#until(`the news of epoch ${epoch}`, () =>
      this.#reports.find((report) => report.type === 'told' && report.epoch === epoch),
    );
  }

  /** Resolves when all agents have reached the milestone. */
  async all(type: Milestone, epoch: number): Promise<Span> {
    const found = await this.#until(`all have ${type} epoch ${epoch}`, () => {
      const reports = this.#reports.flatMap((report) =>
        report.type === type && report.epoch === epoch ? [report] : [],
      );
      return reports.length === this.#children.length ? reports : undefined;
    });
    return {
      firstMs: Math.min(...found.map(({ firstMs }) => firstMs)),
      lastMs: Math.max(...found.map(({ atMs }) => atMs)),
    };
  }

  /** The requests of all processes since their start. */
  async requests(): Promise<RequestCounts> {
    const before = this.#reports.length;
    const order: FleetOrder = { type: 'count' };
    for (const child of this.#children) child.send(order);
    const found = await this.#until('the counts', () => {
      const all = this.#reports
        .slice(before)
        .flatMap((report) => (report.type === 'counted' ? [report] : []));
      return all.length === this.#children.length ? all : undefined;
    });
    return {
      requests: found.reduce((sum, { requests }) => sum + requests, 0),
      tooMany: found.reduce((sum, { tooMany }) => sum + tooMany, 0),
    };
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.disconnect();
        await ended;
      }),
    );
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #until<T>(what: string, find: () => T | undefined): Promise<T> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.#failure !== undefined) throw this.#failure;
      await once(this.#events, 'news', { signal }).catch(() => {
        this.#signal.throwIfAborted();
        throw new Error(`not within ${TIMEOUT_MS} ms: ${what}`);
      });
    }
  }
}
