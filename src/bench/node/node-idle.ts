/**
 * Measures what idle Pods cost: the node agent's share of a core while they run, and the memory for
 * each besides its own process, in the agent and in the processes that make a container's
 * namespaces. Read from /proc (Linux).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { processCost } from '../process-cost.ts';
import type { BenchOptions, Report } from '../table.ts';
import { NAMESPACE_MODES, type NodeCluster, withNodeCluster } from './node-cluster.ts';

const PODS = 200;
/** Time for work that the start or the end of Pods has begun. */
const REST_MS = 5_000;
const WATCHED_MS = 20_000;
const KIB = 1024;

export async function benchNodeIdle(report: Report, { signal }: BenchOptions): Promise<void> {
  for (const mode of NAMESPACE_MODES) {
    await withNodeCluster(mode, signal, async (cluster) => {
      // The first Pods load what a node needs only once.
      await cluster.create('first', PODS, [cluster.idle('worker')]);
      await cluster.untilRunning(PODS);
      const agentMib = residentMib(cluster.agentPid);
      await cluster.clear();
      await delay(REST_MS);
      const heapBytes = await cluster.liveHeapBytes();
      await cluster.create('idle', PODS, [cluster.idle('worker')]);
      await cluster.untilRunning(PODS);
      await delay(REST_MS);
      const cpuMs = processCost(cluster.agentPid).cpuMs;
      await delay(WATCHED_MS);
      report({
        benchmark: `node: CPU with ${PODS} idle Pods, namespaces ${mode}`,
        unit: '% of a core',
        median: (100 * (processCost(cluster.agentPid).cpuMs - cpuMs)) / WATCHED_MS,
      });
      report({
        benchmark: `node: agent's heap for a Pod, namespaces ${mode}`,
        unit: 'KiB',
        median: ((await cluster.liveHeapBytes()) - heapBytes) / PODS / KIB,
        notes: `the agent takes ${agentMib} MiB with them`,
      });
      report({
        benchmark: `node: processes beside a Pod's own, namespaces ${mode}`,
        unit: 'KiB',
        median: namespacesKib(cluster) / PODS,
        notes: 'their private pages',
      });
    });
  }
}

function residentMib(pid: number): number {
  return Math.round(kibOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS') / KIB);
}

/** Private pages of all processes of containers, except the containers' own. */
function namespacesKib(cluster: NodeCluster): number {
  const own = new Set(cluster.starts().map(({ pid }) => String(pid)));
  let sum = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (own.has(pid)) continue;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (!environment.includes(`LOCKSTEP_ROOT=${cluster.directory}/`)) continue;
      const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      sum += kibOf(memory, 'Private_Clean') + kibOf(memory, 'Private_Dirty');
    } catch {
      // The process has ended, or is not ours.
    }
  }
  return sum;
}

function kibOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}
