/** One cluster for the tests of a suite, and one group of workers at a time in it. */

import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { WorkerGroup, type WorkerGroupOptions } from '../../src/bench/worker-group.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

export interface WorkerGroups {
  /** From `beforeAll` to `afterAll`. */
  readonly cluster: ClusterUnderTest;
  /** Starts a group that is removed after the test. */
  start(options: Omit<WorkerGroupOptions, 'client' | 'directory'>): Promise<WorkerGroup>;
  /** Removes the group before the test ends. Resolves when its JobSet, Jobs and Pods are gone. */
  remove(): Promise<void>;
  /** Merges a patch into the JobSet of the group. */
  patch(group: WorkerGroup, patch: JsonObject): Promise<void>;
}

/** Call it at the top of a suite: it registers what the suite does before and after its tests. */
export function workerGroups(): WorkerGroups {
  let cluster: ClusterUnderTest | undefined;
  let group: WorkerGroup | undefined;
  const running = (): ClusterUnderTest => {
    if (cluster === undefined) throw new Error('the cluster does not run yet');
    return cluster;
  };
  beforeAll(async () => {
    cluster = await startCluster();
  });
  const remove = async (): Promise<void> => {
    await group?.remove();
    group = undefined;
  };
  afterEach(remove);
  afterAll(() => cluster?.stop());
  return {
    get cluster() {
      return running();
    },
    async start(options) {
      const { client, shared } = running();
      group = await WorkerGroup.start({ ...options, client, directory: shared });
      return group;
    },
    remove,
    async patch({ name }, patch) {
      await running().client.patch(
        JOBSETS,
        { namespace: 'default', name },
        { type: 'merge', patch },
      );
    },
  };
}
