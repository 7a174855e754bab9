/**
 * Measures restarts of groups of simulated agents, side by side in one run: over the hub, with
 * agents that keep their connection and with agents that reconnect; over the API server; and over
 * the API server without any controller (`floor.ts`). The operator is a process of its own, and so
 * are the agents, one TLS connection each. Their Pods are never scheduled, so only the protocol is
 * measured.
 */

import { formatDuration } from '@lockstep/kube/duration.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { PROGRESS_TIMEOUT } from '../jobset/names.ts';
import type { AgentFleet } from './agent-fleet.ts';
import { prioritiseAgents } from './agent-priority.ts';
import type { RequestCounts } from './agent-process.ts';
import { type BenchCluster, startBenchCluster } from './bench-cluster.ts';
import { restartFloor } from './floor.ts';
import type { OperatorProcess } from './operator-process.ts';
import { processCost } from './process-cost.ts';
import { SimulatedGroup } from './simulated-group.ts';
import { type BenchOptions, median, type Report, type Row, spread } from './table.ts';

/** Fewer over the API server, where a larger group takes minutes for each restart. */
const SIZES = {
  embedded: { agents: [100, 1000, 5000], maxApi: 1000 },
  joined: { agents: [500, 1000, 2000], maxApi: 2000 },
} as const;
const ROUNDS = 5;
/** No further round begins after this time. */
const ROUNDS_BUDGET_MS = 40_000;
const IDLE_MS = 30_000;
/** Pairs of windows without and with progress, each long enough for two pings of each agent. */
const PROGRESS_PAIRS = 5;
const PROGRESS_WINDOW_MS = 10_000;
/** How long workers may be silent where they hang; times count from its end. */
const HANG_TIMEOUT_MS = 10_000;
const MIB = 1024 * 1024;

/** One column of the comparison. */
interface Phase {
  readonly name: string;
  readonly channel: 'Hub' | 'API';
  readonly mode: 'Sidecar' | 'Supervisor';
  /** Whether agents have a priority level of their own; only on a real API server. */
  readonly hasPriority: boolean;
  /** Whether workers report their progress. */
  readonly hasProgress?: boolean;
  /** Whether groups fail because no worker makes progress, instead of one that dies. */
  readonly isHang?: boolean;
}

const HUB = { channel: 'Hub', hasPriority: false } as const;
/** These continue without the operator once they have been measured. */
const API = { channel: 'API', mode: 'Supervisor' } as const;

const PHASES: readonly Phase[] = [
  { ...HUB, name: 'hub', mode: 'Supervisor' },
  { ...HUB, name: 'progress', mode: 'Supervisor', hasProgress: true },
  { ...HUB, name: 'hang', mode: 'Supervisor', isHang: true },
  { ...HUB, name: 'reconnecting', mode: 'Sidecar' },
  { ...API, name: 'api', hasPriority: false },
  { ...API, name: 'priority', hasPriority: true },
];

export const PHASE_NAMES: readonly string[] = PHASES.map(({ name }) => name);

export async function benchHub(
  report: Report,
  { agents, kubeconfig, phases = PHASE_NAMES, signal }: BenchOptions,
): Promise<void> {
  const { agents: sizes, maxApi } = SIZES[kubeconfig === undefined ? 'embedded' : 'joined'];
  for (const size of agents ?? sizes) {
    const cluster = await startBenchCluster(kubeconfig, signal);
    const chosen = PHASES.filter(
      ({ name, channel, hasPriority }) =>
        phases.includes(name) &&
        (channel === 'Hub' || size <= maxApi) &&
        !(hasPriority && cluster.operatorNamespace === undefined),
    );
    try {
      await new Measurement(cluster, size, report, signal).run(chosen);
    } finally {
      await cluster.stop();
    }
  }
}

class Measurement {
  readonly #cluster: BenchCluster;
  readonly #size: number;
  readonly #report: Report;
  readonly #signal: AbortSignal;

  constructor(cluster: BenchCluster, size: number, report: Report, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#size = size;
    this.#report = report;
    this.#signal = signal;
  }

  async run(phases: readonly Phase[]): Promise<void> {
    const { client, namespace, operatorNamespace } = this.#cluster;
    // It makes the Jobs, and then has done its part: its peak must not count for a phase.
    const maker = await this.#cluster.startOperator('Auto');
    const group = await SimulatedGroup.create(client, namespace, this.#size, this.#signal);
    // API servers encode running Pods differently; the embedded one stores whatever it is given.
    if (operatorNamespace !== undefined) await group.run(this.#signal);
    await maker.stop();
    for (const phase of phases) {
      const end =
        phase.hasPriority && operatorNamespace !== undefined
          ? await prioritiseAgents(client, operatorNamespace)
          : undefined;
      try {
        await this.#phase(group, phase);
      } finally {
        await end?.();
      }
    }
  }

  async #phase(group: SimulatedGroup, phase: Phase): Promise<void> {
    const { client, access } = this.#cluster;
    const { channel, mode } = phase;
    const operator = await this.#cluster.startOperator(channel === 'Hub' ? 'Auto' : 'API');
    const first = (await this.#jobSet(group)).status?.syncedEpoch ?? 0;
    const authority = access.tls.certificateAuthority ?? '';
    const target = channel === 'Hub' ? group.hub : { server: access.server, authority };
    const fleet = await group.startFleet(this.#signal, { channel, mode, ...target });
    fleet.reportProgress(phase.hasProgress === true);
    const beganMs = performance.timeOrigin + performance.now();
    const label = `${this.#size}, ${phase.name}`;
    try {
      const { lastMs } = await fleet.all('started', first + 1);
      this.#row(label, 'first start of all', [lastMs - beganMs]);
      if (phase.isHang === true) await this.#setTimeout(group);
      const epoch = await this.#withOperator(label, phase, group, operator, fleet, first + 1);
      await operator.stop();
      if (channel === 'Hub') return;
      let jobSet = await this.#jobSet(group);
      const before = await fleet.requests();
      const fail = (): Promise<number> => fleet.fail();
      const times = await this.#rounds(fleet, epoch, fail, async (ended) => {
        jobSet = await restartFloor(client, fleet, jobSet, ended);
      });
      this.#phaseRows(`${label}, floor`, times);
      this.#requestRows(`${label}, floor`, times, before, await fleet.requests());
    } finally {
      await fleet.stop();
      await operator.stop();
    }
  }

  /** Returns the epoch that runs in the end. */
  async #withOperator(
    label: string,
    { channel, hasProgress = false, isHang = false }: Phase,
    group: SimulatedGroup,
    operator: OperatorProcess,
    fleet: AgentFleet,
    epoch: number,
  ): Promise<number> {
    const writes = await group.countWrites(this.#signal);
    const before = { cost: processCost(operator.pid), counts: await operator.counts() };
    const requests = await fleet.requests();
    const probe = operator.probe();
    const fail = async (): Promise<number> =>
      isHang ? (await fleet.hang()) + HANG_TIMEOUT_MS : fleet.fail();
    const times = await this.#rounds(fleet, epoch, fail, () => Promise.resolve());
    const stallMs = await probe.stop();
    const after = { cost: processCost(operator.pid), counts: await operator.counts() };
    const rounds = times.length;
    this.#phaseRows(label, times, `${(await writes.stop()) / rounds} status writes a restart`);
    if (channel === 'API') this.#requestRows(label, times, requests, await fleet.requests());
    const of = (name: string): number => after.counts(name) - before.counts(name);
    const row = (what: string, unit: Row['unit'], value: number): void =>
      this.#report({ benchmark: `${label}: ${what}`, unit, median: value });
    row('operator CPU a restart', 'ms', (after.cost.cpuMs - before.cost.cpuMs) / rounds);
    row('longest silence of the operator', 'ms', stallMs);
    row("operator's peak resident size", 'MiB', after.cost.peakBytes / MIB);
    row('operator requests a restart', 'requests', of('rest_client_requests_total') / rounds);
    const bytes = of('lockstep_api_received_bytes_total') / rounds / this.#size;
    row('operator receives a Pod and restart', 'bytes', bytes);
    if (channel === 'Hub')
      row('operator CPU while nothing happens', '% of a core', await this.#idleCpu(operator));
    if (hasProgress) await this.#costOfProgress(label, operator, fleet);
    return epoch + rounds;
  }

  /** A change of the annotation reaches agents that run. */
  async #setTimeout({ jobSet: { metadata } }: SimulatedGroup): Promise<void> {
    const annotations = { [PROGRESS_TIMEOUT]: formatDuration(HANG_TIMEOUT_MS) };
    const patch = { type: 'merge', patch: { metadata: { annotations } } } as const;
    await this.#cluster.client.patch(JOBSETS, metadata, patch, { signal: this.#signal });
  }

  /** Compares the agents without and with progress, by turns, so that both see one machine. */
  async #costOfProgress(
    label: string,
    operator: OperatorProcess,
    fleet: AgentFleet,
  ): Promise<void> {
    const shares: Record<'without' | 'with', number[]> = { without: [], with: [] };
    for (let pair = 0; pair < PROGRESS_PAIRS; pair++) {
      for (const which of ['without', 'with'] as const) {
        fleet.reportProgress(which === 'with');
        shares[which].push(await this.#idleCpu(operator, PROGRESS_WINDOW_MS));
      }
    }
    for (const which of ['without', 'with'] as const) {
      const benchmark = `${label}: idle operator CPU, by turns, ${which} progress`;
      this.#report({ benchmark, unit: '% of a core', ...spread(shares[which]) });
    }
    const ratios = shares.with.map((share, i) => share / (shares.without[i] ?? Number.NaN));
    const benchmark = `${label}: idle operator CPU, with to without progress`;
    this.#report({ benchmark, unit: 'times', ...spread(ratios) });
  }

  /** The share of a core while agents only send heartbeats. */
  async #idleCpu({ pid }: OperatorProcess, windowMs = IDLE_MS): Promise<number> {
    const before = processCost(pid).cpuMs;
    await sleep(nodeClock, windowMs, this.#signal);
    return (100 * (processCost(pid).cpuMs - before)) / windowMs;
  }

  /** Restarts the group up to a number of times; `besides` takes an operator's place. */
  async #rounds(
    fleet: AgentFleet,
    firstEpoch: number,
    fail: () => Promise<number>,
    besides: (epoch: number) => Promise<void>,
  ): Promise<readonly RestartTimes[]> {
    const times: RestartTimes[] = [];
    const untilMs = performance.now() + ROUNDS_BUDGET_MS;
    for (let epoch = firstEpoch; epoch < firstEpoch + ROUNDS; epoch++) {
      const [failedMs, stopped, started] = await Promise.all([
        fail(),
        fleet.all('stopped', epoch),
        fleet.all('started', epoch + 1),
        besides(epoch),
      ]);
      times.push({
        wholeMs: started.lastMs - failedMs,
        fanOutMs: stopped.lastMs - failedMs,
        fanInMs: started.firstMs - stopped.lastMs,
        releaseMs: started.lastMs - started.firstMs,
      });
      if (performance.now() > untilMs) break;
    }
    return times;
  }

  #phaseRows(label: string, times: readonly RestartTimes[], notes?: string): void {
    const of = (key: keyof RestartTimes): readonly number[] => times.map((each) => each[key]);
    this.#row(label, 'failure to last release', of('wholeMs'), notes);
    this.#row(label, 'fan-out, failure to last stop', of('fanOutMs'));
    this.#row(label, 'fan-in, last stop to first release', of('fanInMs'));
    this.#row(label, 'first to last release', of('releaseMs'));
  }

  #requestRows(
    label: string,
    { length }: readonly RestartTimes[],
    before: RequestCounts,
    after: RequestCounts,
  ): void {
    this.#report({
      benchmark: `${label}: requests of an agent a restart`,
      unit: 'requests',
      median: (after.requests - before.requests) / length / this.#size,
      notes: `${(after.tooMany - before.tooMany) / length} answers of 429 a restart, ${before.tooMany} before`,
    });
  }

  #row(label: string, what: string, values: readonly number[], notes?: string): void {
    const range = values.length > 1 ? spread(values) : { median: median(values) };
    this.#report({ benchmark: `${label}: ${what}`, unit: 'ms', ...range, notes });
  }

  #jobSet({ jobSet: { metadata } }: SimulatedGroup): Promise<Stored<JobSet>> {
    return this.#cluster.client.get(JOBSETS, metadata);
  }
}

interface RestartTimes {
  readonly wholeMs: number;
  readonly fanOutMs: number;
  readonly fanInMs: number;
  readonly releaseMs: number;
}
