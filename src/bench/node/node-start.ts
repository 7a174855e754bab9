/**
 * Measures how long many Pods of one node take to start: from the first creation until the API
 * shows all as Running. Containers with and without namespaces.
 */

import { processCost } from '../process-cost.ts';
import { type BenchOptions, median, type Report, spread } from '../table.ts';
import { NAMESPACE_MODES, withNodeCluster } from './node-cluster.ts';

const POD_COUNTS = [100, 500] as const;
const ROUNDS = 3;

export async function benchNodeStart(report: Report, { signal }: BenchOptions): Promise<void> {
  for (const mode of NAMESPACE_MODES) {
    await withNodeCluster(mode, signal, async (cluster) => {
      for (const pods of POD_COUNTS) {
        const startMs: number[] = [];
        const agentMs: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const startedAt = performance.now();
          const before = processCost(cluster.agentPid).cpuMs;
          await cluster.create('start', pods, [cluster.idle('worker')]);
          await cluster.untilRunning(pods);
          startMs.push(performance.now() - startedAt);
          agentMs.push((processCost(cluster.agentPid).cpuMs - before) / pods);
          await cluster.clear();
        }
        report({
          benchmark: `node: start of ${pods} Pods, namespaces ${mode}`,
          unit: 'ms',
          ...spread(startMs),
          notes: `agent ${median(agentMs).toFixed(1)} ms CPU a Pod`,
        });
      }
    });
  }
}
