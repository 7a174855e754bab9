/**
 * Measures how long a Pod is down after one of its containers dies: from the SIGKILL of the worker
 * to the start of the last process of all its containers, under a rule that restarts all. If
 * several Pods restart at once, until the last of them has started. Containers with and without
 * namespaces.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchOptions, type Report, spread } from '../table.ts';
import { NAMESPACE_MODES, type NodeCluster, withNodeCluster } from './node-cluster.ts';

const POD_COUNTS = [1, 16, 64] as const;
const ROUNDS = 7;
/**
 * Restarts of one Pod begin at least half a second apart, and processes of the last one may still
 * be ending.
 */
const REST_MS = 700;
const CONTAINERS_PER_POD = 2;

export async function benchNodeRestart(report: Report, { signal }: BenchOptions): Promise<void> {
  for (const mode of NAMESPACE_MODES) {
    await withNodeCluster(mode, signal, async (cluster) => {
      for (const pods of POD_COUNTS) {
        const downMs = await measureRestarts(cluster, pods);
        report({
          benchmark: `node: restart of ${pods} Pods, namespaces ${mode}`,
          unit: 'ms',
          ...spread(downMs),
          notes: `${CONTAINERS_PER_POD} containers each`,
        });
        await cluster.clear();
      }
    });
  }
}

async function measureRestarts(cluster: NodeCluster, pods: number): Promise<readonly number[]> {
  const worker = cluster.idle('worker', {
    restartPolicy: 'Never',
    restartPolicyRules: [
      { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
    ],
  });
  await cluster.create('restart', pods, [worker, cluster.idle('helper')]);
  await cluster.untilRunning(pods);
  const downMs: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    await delay(REST_MS);
    const newest = new Map(
      cluster.starts().map(({ pod, container, pid }) => [`${pod}/${container}`, pid]),
    );
    const killedAt = performance.now();
    for (const [name, pid] of newest) {
      if (name.endsWith('/worker')) process.kill(pid, 'SIGKILL');
    }
    await cluster.until(`all run for the time ${round + 1}`, () => {
      return cluster.starts().length >= (round + 1) * pods * CONTAINERS_PER_POD;
    });
    downMs.push(performance.now() - killedAt);
  }
  return downMs;
}
