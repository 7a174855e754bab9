import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LocalCluster, startLocalCluster } from '../cli/local-cluster/local-cluster.ts';
import { temporaryStateDirectory } from '../cli/state-directory.ts';
import type { BenchOptions } from './table.ts';
import { WorkerGroup, type WorkerGroupOptions } from './worker-group.ts';

/**
 * Runs `work` with a group on a cluster of its own, so that no measurement pays for the leftovers of
 * another, and ends both.
 */
export async function withWorkerGroup<T>(
  where: Pick<BenchOptions, 'kubeconfig' | 'signal'>,
  options: Omit<WorkerGroupOptions, 'client' | 'directory' | 'name'>,
  work: (group: WorkerGroup, cluster: LocalCluster) => Promise<T>,
): Promise<T> {
  const state = temporaryStateDirectory();
  const cluster = await startLocalCluster({ state, remove: true, ...where });
  try {
    const { client } = cluster;
    const directory = join(cluster.stateDirectory, 'bench');
    await mkdir(directory, { recursive: true });
    const group = await WorkerGroup.start({ ...options, client, directory, name: 'bench' });
    const result = await work(group, cluster);
    await group.remove();
    return result;
  } finally {
    await cluster.stop();
    state.release(true);
  }
}
