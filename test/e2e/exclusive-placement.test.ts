/** `lockstep up` with several nodes: every Job of an exclusive JobSet has a rack to itself. */

import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOB_NAME_LABEL } from '@lockstep/kube/objects/job.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

/** Refused Pods wait for the back-off of the Job controller: 63 s until the sixth try. */
const LIMIT_MS = 110_000;
const RACK = 'example.com/rack';
const JOBS = 3;
const PODS_OF_JOB = 3;

describe('exclusive placement', () => {
  let cluster: ClusterUnderTest;

  beforeAll(async () => {
    cluster = await startCluster('--nodes', '8', '--topology', `${RACK}=4`, '--topology', 'row=2');
  });

  afterAll(() => cluster.stop());

  it('has the nodes that were asked for, spread over the topologies', async () => {
    const { items } = await cluster.client.list(NODES);
    const places = items.map(({ metadata }) => {
      const labels = metadata.labels ?? {};
      return `${labels['kubernetes.io/hostname']} ${labels[RACK]} ${labels['row']}`;
    });
    expect(places.sort()).toEqual([
      'node-0 rack-0 row-0',
      'node-1 rack-0 row-0',
      'node-2 rack-1 row-0',
      'node-3 rack-1 row-0',
      'node-4 rack-2 row-1',
      'node-5 rack-2 row-1',
      'node-6 rack-3 row-1',
      'node-7 rack-3 row-1',
    ]);
  });

  it('gives each Job a rack, and lets the next JobSet wait for one', async () => {
    await createJobSet(cluster, 'first', JOBS);
    await untilRunning('first', JOBS * PODS_OF_JOB);
    await createJobSet(cluster, 'second', 2);
    await untilRunning('second', PODS_OF_JOB);
    const racks = await racksByJob();
    expect([...racks.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1]);
    expect(new Set([...racks.values()].flatMap((of) => [...of])).size).toBe(4);
    const hasSaidWhy = async (): Promise<boolean> => {
      const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
      return items.some(
        ({ reason, note }) =>
          reason === 'FailedScheduling' && note?.includes("didn't match pod anti-affinity rules"),
      );
    };
    await until('an Event says why', hasSaidWhy, LIMIT_MS);

    await cluster.client.delete(JOBSETS, { namespace: 'default', name: 'first' });
    await untilRunning('second', 2 * PODS_OF_JOB);
  });

  async function podsOf(jobSet: string): Promise<readonly Pod[]> {
    const labelSelector = `jobset.sigs.k8s.io/jobset-name=${jobSet}`;
    const { items } = await cluster.client.list(PODS, { namespace: 'default', labelSelector });
    return items;
  }

  async function untilRunning(jobSet: string, count: number): Promise<void> {
    const look = async (): Promise<void> => {
      const phases = (await podsOf(jobSet)).map(({ status }) => status?.phase);
      expect(phases.filter((phase) => phase === 'Running')).toHaveLength(count);
    };
    await until(`${count} Pods of ${jobSet} run`, look, LIMIT_MS);
  }

  /** The racks of Pods that have a node. */
  async function racksByJob(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const { items: nodes } = await cluster.client.list(NODES);
    const rackOf = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[RACK]]));
    const racks = new Map<string, Set<string>>();
    for (const { metadata, spec } of [...(await podsOf('first')), ...(await podsOf('second'))]) {
      const rack = rackOf.get(spec.nodeName ?? '');
      if (rack === undefined) continue;
      const job = metadata.labels?.[JOB_NAME_LABEL] ?? '';
      racks.set(job, (racks.get(job) ?? new Set()).add(rack));
    }
    return racks;
  }
});

async function createJobSet(cluster: ClusterUnderTest, name: string, jobs: number): Promise<void> {
  const container = { name: 'worker', image: 'none', command: ['sleep', '600'] };
  const template = {
    spec: {
      parallelism: PODS_OF_JOB,
      completions: PODS_OF_JOB,
      template: {
        spec: {
          restartPolicy: 'Never' as const,
          terminationGracePeriodSeconds: 1,
          containers: [container],
        },
      },
    },
  };
  await cluster.client.create(JOBSETS, {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name,
      namespace: 'default',
      annotations: { 'alpha.jobset.sigs.k8s.io/exclusive-topology': RACK },
    },
    spec: { replicatedJobs: [{ name: 'w', replicas: jobs, template }] },
  });
}
