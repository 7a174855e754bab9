/**
 * Measures how long a group is down after one worker dies: from the SIGKILL of the worker to the
 * start of the last new worker process, on an embedded cluster with real processes. The strategies
 * take turns on one machine in one run. The operator's own cost is read from /proc (Linux).
 */
import { connectTo } from '../../cli/cluster-connection.ts';
import type { LocalCluster } from '../../cli/local-cluster/local-cluster.ts';
import type { RestartStrategy } from '../../jobset/jobset.ts';
import { expectDefinition } from '../bench-cluster.ts';
import { processCost } from '../process-cost.ts';
import { type BenchOptions, median, type Report, spread } from '../table.ts';
import { withWorkerGroup } from '../worker-cluster.ts';
import type { Mode, WorkerGroup } from '../worker-group.ts';
import { restartBareProcesses } from './bare-processes.ts';

const GROUP_SIZES = [4, 16, 64] as const;
const ROUNDS = 10;
const KIB = 1024;

const VARIANTS: readonly {
  readonly label: string;
  readonly strategy: RestartStrategy;
  readonly mode: Mode;
}[] = [
  { label: 'supervisor', strategy: 'InPlaceRestart', mode: 'Supervisor' },
  { label: 'sidecar', strategy: 'InPlaceRestart', mode: 'Sidecar' },
  { label: 'Recreate', strategy: 'Recreate', mode: 'Sidecar' },
];

export const VARIANT_NAMES: readonly string[] = VARIANTS.map(({ label }) => label);

export async function benchGroupRestart(report: Report, options: BenchOptions): Promise<void> {
  const { kubeconfig, signal } = options;
  if (kubeconfig === undefined) return compareVariants(report, options);
  const { client, close } = await connectTo({ kubeconfig }, signal);
  const definition = await expectDefinition(client);
  try {
    await compareVariants(report, options);
  } finally {
    await definition.restore();
    close();
  }
}

async function compareVariants(report: Report, options: BenchOptions): Promise<void> {
  const { agents = GROUP_SIZES, annotations, processes, kubeconfig, signal } = options;
  const { phases = processes === undefined ? VARIANT_NAMES : ['supervisor'] } = options;
  const variants = VARIANTS.filter(({ label }) => phases.includes(label));
  for (const size of agents) {
    const medians = new Map<string, number>();
    for (const { label, ...how } of variants) {
      const measured = await withWorkerGroup(
        { kubeconfig, signal },
        { size, annotations, processes, ...how },
        measure,
      );
      medians.set(label, median(measured.downMs));
      report({
        benchmark: `restart of ${size} workers${processes === undefined ? '' : ` of ${processes}`}, ${label}`,
        unit: 'ms',
        ...spread(measured.downMs),
        notes:
          `tenth / first ${((measured.downMs.at(-1) ?? 0) / (measured.downMs[0] ?? 1)).toFixed(1)}, ` +
          `operator ${measured.cpuMsPerRestart.toFixed(0)} ms CPU a restart, ${measured.peakMib} MiB`,
      });
    }
    if (processes !== undefined) {
      const downMs = await restartBareProcesses(size * processes, ROUNDS);
      const benchmark = `kill and start of ${size * processes} bare processes`;
      report({ benchmark, unit: 'ms', ...spread(downMs) });
      for (const [label, ms] of medians) {
        const times = ms / median(downMs);
        report({
          benchmark: `${label} / bare, ${size} workers of ${processes}`,
          unit: 'times',
          median: times,
        });
      }
    }
    const recreate = medians.get('Recreate');
    for (const [label, inPlace] of medians) {
      if (recreate === undefined || label === 'Recreate') continue;
      report({
        benchmark: `Recreate / ${label}, ${size} workers`,
        unit: 'times',
        median: recreate / inPlace,
      });
    }
  }
}

interface Measured {
  readonly downMs: readonly number[];
  readonly cpuMsPerRestart: number;
  readonly peakMib: number;
}

async function measure(group: WorkerGroup, cluster: LocalCluster): Promise<Measured> {
  const { ranks } = group;
  await group.started(ranks);
  const downMs: number[] = [];
  const before = processCost(cluster.operatorPid());
  for (let round = 1; round <= ROUNDS; round++) {
    const killedAt = performance.now();
    group.kill(round % ranks);
    await group.started((round + 1) * ranks);
    downMs.push(performance.now() - killedAt);
  }
  const after = processCost(cluster.operatorPid());
  return {
    downMs,
    cpuMsPerRestart: (after.cpuMs - before.cpuMs) / ROUNDS,
    peakMib: Math.round(after.peakBytes / KIB / KIB),
  };
}
