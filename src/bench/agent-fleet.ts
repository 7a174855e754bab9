import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FleetOrder, FleetReport } from './agent-process.ts';

const PROCESS = fileURLToPath(new URL('agent-process.ts', import.meta.url));
const TIMEOUT_MS = 600_000;

/** Simulated agents, spread over processes. */
export class AgentFleet {
  readonly #children: readonly ChildProcess[];
  readonly #reports: FleetReport[] = [];
  #changed: () => void = () => undefined;

  private constructor(count: number) {
    this.#children = Array.from({ length: count }, () => {
      const child = fork(PROCESS, { execArgv: ['--import', 'tsx'] });
      child.on('message', (report: FleetReport) => {
        this.#reports.push(report);
        this.#changed();
      });
      return child;
    });
  }

  /** Starts the agents of `order`, so many in each process. */
  static start(
    order: Extract<FleetOrder, { readonly type: 'start' }>,
    agentsPerProcess: number,
  ): AgentFleet {
    const fleet = new AgentFleet(Math.ceil(order.agents.length / agentsPerProcess));
    for (const [i, child] of fleet.#children.entries()) {
      const agents = order.agents.slice(i * agentsPerProcess, (i + 1) * agentsPerProcess);
      const part: FleetOrder = { ...order, agents };
      child.send(part);
    }
    return fleet;
  }

  /** The worker of one agent dies; resolves with when that was. */
  async fail(): Promise<number> {
    const before = this.#reports.length;
    const order: FleetOrder = { type: 'fail' };
    this.#children[0]?.send(order);
    const failed = await this.#until(() =>
      this.#reports.slice(before).find((report) => report.type === 'failed'),
    );
    return failed.atMs;
  }

  /** When the last worker of that epoch started, or stopped. */
  async last(type: 'started' | 'stopped', epoch: number): Promise<number> {
    const all = await this.#until(() => {
      const found = this.#reports.filter(
        (report) => report.type === type && report.epoch === epoch,
      );
      return found.length === this.#children.length ? found : undefined;
    });
    return Math.max(...all.map(({ atMs }) => atMs));
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.disconnect();
        return ended;
      }),
    );
  }

  #until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
      const check = (): void => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#changed = () => undefined;
        resolve(found);
      };
      this.#changed = check;
      check();
    });
  }
}
