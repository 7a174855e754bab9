/**
 * Measures how long a group is down after one worker dies: from the SIGKILL of the worker to the
 * start of the last new worker process, on an embedded cluster with real processes. The strategies
 * take turns on one machine in one run. The operator's own cost is read from /proc (Linux).
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { connectTo } from '../cli/cluster-connection.ts';
import { type LocalCluster, startLocalCluster } from '../cli/local-cluster/local-cluster.ts';
import { temporaryStateDirectory } from '../cli/state-directory.ts';
import type { RestartStrategy } from '../jobset/jobset.ts';
import { expectDefinition } from './bench-cluster.ts';
import { processCost } from './process-cost.ts';
import { median, type Row, spread } from './table.ts';
import { type Mode, WorkerGroup } from './worker-group.ts';

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

export interface GroupBenchOptions {
  /** Sizes of groups. */
  readonly agents?: readonly number[] | undefined;
  /** The kubeconfig of a running cluster, which a node of this machine joins. */
  readonly kubeconfig?: string | undefined;
  /** Limits the run to these of `VARIANTS`. */
  readonly phases?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

export async function benchGroupRestart(
  report: (row: Row) => void,
  options: GroupBenchOptions,
): Promise<void> {
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

async function compareVariants(
  report: (row: Row) => void,
  { agents = GROUP_SIZES, phases = VARIANT_NAMES, ...where }: GroupBenchOptions,
): Promise<void> {
  const variants = VARIANTS.filter(({ label }) => phases.includes(label));
  for (const size of agents) {
    const medians = new Map<string, number>();
    for (const variant of variants) {
      const measured = await measureVariant(size, variant, where);
      medians.set(variant.label, median(measured.downMs));
      report({
        benchmark: `restart of ${size} workers, ${variant.label}`,
        unit: 'ms',
        ...spread(measured.downMs),
        notes:
          `tenth / first ${((measured.downMs.at(-1) ?? 0) / (measured.downMs[0] ?? 1)).toFixed(1)}, ` +
          `operator ${measured.cpuMsPerRestart.toFixed(0)} ms CPU a restart, ${measured.peakMib} MiB`,
      });
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

/** Each variant gets its own cluster, so that none pays for the leftovers of another. */
async function measureVariant(
  size: number,
  variant: (typeof VARIANTS)[number],
  where: Pick<GroupBenchOptions, 'kubeconfig' | 'signal'>,
): Promise<Measured> {
  const state = temporaryStateDirectory();
  const cluster = await startLocalCluster({ state, remove: true, ...where });
  try {
    return await measureRounds(cluster, size, variant);
  } finally {
    await cluster.stop();
    state.release(true);
  }
}

async function measureRounds(
  cluster: LocalCluster,
  size: number,
  variant: (typeof VARIANTS)[number],
): Promise<Measured> {
  const directory = join(cluster.stateDirectory, 'bench');
  await mkdir(directory, { recursive: true });
  const { mode, strategy } = variant;
  const group = await WorkerGroup.start({
    client: cluster.client,
    directory,
    name: 'bench',
    size,
    mode,
    strategy,
  });
  const started = (times: number): Promise<void> =>
    group.until(`${times} starts`, () => group.starts().length >= times);
  await started(size);
  const downMs: number[] = [];
  const before = processCost(cluster.operatorPid());
  for (let round = 1; round <= ROUNDS; round++) {
    const killedAt = performance.now();
    group.kill(round % size);
    await started((round + 1) * size);
    downMs.push(performance.now() - killedAt);
  }
  const after = processCost(cluster.operatorPid());
  await group.remove();
  return {
    downMs,
    cpuMsPerRestart: (after.cpuMs - before.cpuMs) / ROUNDS,
    peakMib: Math.round(after.peakBytes / KIB / KIB),
  };
}
