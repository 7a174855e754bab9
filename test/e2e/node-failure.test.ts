/**
 * Nodes that fail under a group that restarts in place
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`). A node that loses power is
 * replaced once it is known to be off, and a node whose agent only hangs costs nothing.
 */

import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rankOf, WorkerGroup } from '../../src/bench/worker-group.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { type ClusterUnderTest, LOCKSTEP, startCluster } from './local-cluster.fixture.ts';

const SIZE = 4;
const LIMIT_MS = 60_000;
/** Short enough to notice a lost node soon, long enough for a busy machine to lose none. */
const GRACE = '12s';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

describe.skipIf(EXCEPTIONS.nodesAreNotProcesses)('a group of which a node fails', () => {
  let cluster: ClusterUnderTest;
  let group: WorkerGroup | undefined;

  beforeAll(async () => {
    cluster = await startCluster('--nodes', '2', '--node-monitor-grace-period', GRACE);
  });

  afterEach(async () => {
    await group?.remove();
    group = undefined;
  });

  afterAll(() => cluster.stop());

  async function startGroup(name: string): Promise<WorkerGroup> {
    const toleration = { key: UNREACHABLE, operator: 'Exists', effect: 'NoExecute' } as const;
    group = await WorkerGroup.start({
      client: cluster.client,
      directory: cluster.shared,
      name,
      size: SIZE,
      mode: 'Supervisor',
      tolerations: [{ ...toleration, tolerationSeconds: name === 'lost' ? 1 : 300 }],
    });
    await group.running(1);
    return group;
  }

  async function act(action: 'kill' | 'stop' | 'start', node: string): Promise<void> {
    const state = dirname(cluster.kubeconfig);
    const args = [LOCKSTEP, 'node', action, node, '--state-dir', state];
    await promisify(execFile)(process.execPath, args);
  }

  async function becomes(node: string, ready: 'True' | 'Unknown'): Promise<void> {
    const status = async (): Promise<string | undefined> => {
      const { status: of } = await cluster.client.get(NODES, { name: node });
      return of?.conditions?.find(({ type }) => type === 'Ready')?.status;
    };
    await until(`${node} is ${ready}`, async () => expect(await status()).toBe(ready), LIMIT_MS);
  }

  async function setOutOfService(node: string, isOut: boolean): Promise<void> {
    const { spec } = await cluster.client.get(NODES, { name: node });
    const others = (spec?.taints ?? []).filter(({ key }) => key !== OUT_OF_SERVICE);
    const taint = { key: OUT_OF_SERVICE, value: 'nodeshutdown', effect: 'NoExecute' };
    const patch = { spec: { taints: isOut ? [...others, taint] : others } };
    await cluster.client.patch(NODES, { name: node }, { type: 'merge', patch });
  }

  it('comes back on another node when the lost one is taken out of service', async () => {
    const of = await startGroup('lost');
    const before = of.livePods();
    const lost = before.filter(({ spec }) => spec.nodeName === 'node-1');
    expect(lost.length).toBe(SIZE / 2);

    await act('kill', 'node-1');
    // The lost node confirms no end, so its Pods stay, and the group waits for them.
    await of.until('the Pods of the lost node are to end', () => of.livePods().length === SIZE / 2);
    expect(of.status.syncedEpoch).toBe(1);
    expect([...of.pods.store.values()].length).toBe(SIZE);

    await setOutOfService('node-1', true);
    await of.running(2);
    const after = of.livePods();
    expect(after.map(rankOf)).toEqual([0, 1, 2, 3]);
    expect(new Set(after.map(({ spec }) => spec.nodeName))).toEqual(new Set(['node-0']));
    const stayed = before.filter((pod) => !lost.includes(pod)).map(({ metadata }) => metadata.uid);
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(stayed));

    await act('start', 'node-1');
    await becomes('node-1', 'True');
    await setOutOfService('node-1', false);
  });

  it('continues, in its epoch, while an agent hangs and comes back', async () => {
    const of = await startGroup('hung');
    const before = of.livePods().map(({ metadata }) => metadata.uid);
    await act('stop', 'node-1');
    await becomes('node-1', 'Unknown');
    await act('start', 'node-1');
    await becomes('node-1', 'True');
    await of.until('all Pods are ready again', () =>
      of
        .livePods()
        .every(({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        ),
    );
    expect(of.livePods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(of.starts().length).toBe(SIZE);
    expect(of.status).toMatchObject({ syncedEpoch: 1, deprecatedEpoch: 0 });
  });

  it('says what it cannot do', async () => {
    await expect(act('kill', 'node-9')).rejects.toThrow(
      'there is no node "node-9", only node-0, node-1',
    );
  });
});
