/**
 * Measures how another replica finishes a restart after the leader ends at a random moment of it.
 * Replicas and agents are processes of their own; the Pods of the agents are never scheduled.
 * `killed`: the leader's connections break, as when a process or its Pod ends. `silent`: they stay
 * open without traffic, as when its machine is lost. Agents reach hubs through a forwarder, as
 * through a Service.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { AgentFleet } from './agent-fleet.ts';
import { type BenchCluster, startBenchCluster } from './bench-cluster.ts';
import type { OperatorProcess } from './operator-process.ts';
import { Forwarder } from './service-forwarder.ts';
import { SimulatedGroup } from './simulated-group.ts';
import { type BenchOptions, median, percentile, type Report, spread } from './table.ts';
import { until } from './until.ts';

const SIZES = [64, 5000];
/** Silence is noticed after a fixed time, so the moment at which it begins matters little. */
const ROUNDS = { killed: 20, silent: 5 } as const;
/**
 * Rounds without a failure, which show how long a restart takes: the leader ends at a random moment
 * of it.
 */
const QUIET_ROUNDS = 3;
const WAIT = { timeoutMs: 120_000, pollMs: 20 };
const LOOPBACK = '127.0.0.1';

export const FAIL_OVER_PHASES = ['killed', 'silent'] as const;
type Phase = (typeof FAIL_OVER_PHASES)[number];

export async function benchFailOver(
  report: Report,
  { agents = SIZES, kubeconfig, phases = FAIL_OVER_PHASES, signal }: BenchOptions,
): Promise<void> {
  for (const size of agents) {
    for (const phase of FAIL_OVER_PHASES.filter((one) => phases.includes(one))) {
      const cluster = await startBenchCluster(kubeconfig, signal);
      const measurement = new Measurement(cluster, size, phase, signal);
      try {
        await measurement.run(report);
      } finally {
        await measurement.stop();
        await cluster.stop();
      }
    }
  }
}

interface Replica {
  readonly operator: OperatorProcess;
  /** The port of its hub, if each has its own. */
  readonly port: number;
}

class Measurement {
  readonly #cluster: BenchCluster;
  readonly #size: number;
  readonly #phase: Phase;
  readonly #signal: AbortSignal;
  /** Keyed by the holder name in the lease. */
  readonly #replicas = new Map<string, Replica>();
  #forwarder: Forwarder | undefined;
  #fleet: AgentFleet | undefined;
  #started = 0;

  constructor(cluster: BenchCluster, size: number, phase: Phase, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#size = size;
    this.#phase = phase;
    this.#signal = signal;
  }

  async run(report: Report): Promise<void> {
    const { client, namespace } = this.#cluster;
    if (this.#phase === 'silent') this.#forwarder = await Forwarder.start(LOOPBACK);
    await this.#startReplica();
    await this.#nextLeader(undefined);
    await this.#startReplica();
    const group = await SimulatedGroup.create(client, namespace, this.#size, this.#signal);
    const fleet = await group.startFleet(this.#signal);
    this.#fleet = fleet;
    await fleet.all('started', 1);
    let epoch = 1;
    const quietMs: number[] = [];
    for (; epoch <= QUIET_ROUNDS; epoch++) {
      const failedMs = await fleet.fail();
      quietMs.push((await fleet.all('started', epoch + 1)).lastMs - failedMs);
    }
    const label = `${this.#size} agents`;
    report({ benchmark: `${label}: a restart in peace`, unit: 'ms', ...spread(quietMs) });
    const downMs: number[] = [];
    try {
      for (const last = epoch + ROUNDS[this.#phase]; epoch < last; epoch++) {
        downMs.push(await this.#failOver(fleet, epoch, median(quietMs)));
      }
    } finally {
      // When the time is up, the rounds so far are reported.
      if (downMs.length > 0) {
        report({
          benchmark: `${label}, leader ${this.#phase}: until all run again`,
          unit: 'ms',
          ...spread(downMs),
          notes: `90 % within ${Math.round(percentile(downMs, 90))} ms, ${downMs.length} times, from the end of the leader`,
        });
      }
    }
  }

  async stop(): Promise<void> {
    await this.#fleet?.stop();
    for (const { operator } of this.#replicas.values()) operator.signal('SIGKILL');
    await this.#forwarder?.close();
  }

  /** The time from the end of the leader to the start of the last worker. */
  async #failOver(fleet: AgentFleet, epoch: number, quietMs: number): Promise<number> {
    const name = await this.#cluster.leader();
    const leader = this.#replicas.get(name);
    if (leader === undefined) throw new Error(`"${name}" leads, which is none of ours`);
    this.#replicas.delete(name);
    await fleet.fail();
    await pause(systemRandom.next() * quietMs);
    const endedMs = performance.timeOrigin + performance.now();
    leader.operator.signal(this.#phase === 'silent' ? 'SIGSTOP' : 'SIGKILL');
    const [{ lastMs }, next] = await Promise.all([
      fleet.all('started', epoch + 1),
      this.#nextLeader(name),
    ]);
    leader.operator.signal('SIGKILL');
    await this.#startReplica();
    await this.#allConnected(next);
    return Math.max(0, lastMs - endedMs);
  }

  async #startReplica(): Promise<void> {
    const name = `replica-${this.#started++}`;
    if (this.#forwarder === undefined) {
      const operator = await this.#cluster.startReplica(name);
      this.#replicas.set(name, { operator, port: 0 });
      return;
    }
    const [port = 0] = await freePorts(1, systemRandom);
    const url = `https://${LOOPBACK}:${this.#forwarder.port}`;
    const hub = ['--hub-bind-address', `${LOOPBACK}:${port}`, '--hub-url', url];
    const operator = await this.#cluster.startReplica(name, hub);
    this.#replicas.set(name, { operator, port });
  }

  async #nextLeader(before: string | undefined): Promise<Replica> {
    let found: Replica | undefined;
    await this.#until('another replica leads', async () => {
      const name = await this.#cluster.leader().catch(() => '');
      if (name !== before) found = this.#replicas.get(name);
      return found !== undefined;
    });
    const leader = found as unknown as Replica;
    this.#forwarder?.leadTo(leader.port);
    return leader;
  }

  async #allConnected({ operator }: Replica): Promise<void> {
    await this.#until('all agents speak to the new leader', async () => {
      const count = await operator.counts();
      return count('lockstep_hub_streams') === this.#size;
    });
  }

  async #until(what: string, condition: () => Promise<boolean>): Promise<void> {
    await until(what, condition, { ...WAIT, signal: this.#signal });
  }
}
