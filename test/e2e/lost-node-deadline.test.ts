/**
 * A group with a deadline for lost nodes
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`). One node loses power. On
 * another only the agent hangs, so its worker runs on until the worker's own agent, whose Pod is no
 * longer confirmed, stops it.
 */
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mark, rankOf, WorkerGroup } from '../../src/bench/worker-group.ts';
import { LOST_NODE_DEADLINE } from '../../src/jobset/names.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { type ClusterUnderTest, LOCKSTEP, startCluster } from './local-cluster.fixture.ts';

/** Short enough to notice a lost node soon, long enough for a busy machine to lose none. */
const GRACE = '12s';
/** The shortest that is allowed with the workers' two seconds of grace. */
const DEADLINE = '64s';
/** Silence, deadline and restart, one after the other, on a busy machine. */
const TEST_TIMEOUT_MS = 240_000;

describe.skipIf(EXCEPTIONS.nodesAreNotProcesses)('a group with a deadline for lost nodes', () => {
  let cluster: ClusterUnderTest;

  beforeAll(async () => {
    cluster = await startCluster('--nodes', '3', '--node-monitor-grace-period', GRACE);
  });

  afterAll(() => cluster.stop());

  async function act(action: 'kill' | 'stop' | 'start', node: string): Promise<void> {
    const state = dirname(cluster.kubeconfig);
    const args = [LOCKSTEP, 'node', action, node, '--state-dir', state];
    await promisify(execFile)(process.execPath, args);
  }

  it('continues by itself, and runs nothing twice', { timeout: TEST_TIMEOUT_MS }, async () => {
    const group = await WorkerGroup.start({
      client: cluster.client,
      directory: cluster.shared,
      name: 'patient',
      size: 3,
      mode: 'Supervisor',
      annotations: { [LOST_NODE_DEADLINE]: DEADLINE },
      tolerations: [
        {
          key: 'node.kubernetes.io/unreachable',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 1,
        },
      ],
    });
    await group.running(1);
    const onNode = new Map(group.livePods().map((pod) => [pod.spec.nodeName, pod]));
    expect(new Set(onNode.keys())).toEqual(new Set(['node-0', 'node-1', 'node-2']));
    const hung = onNode.get('node-2');
    const hungRank = hung === undefined ? -1 : rankOf(hung);

    await act('kill', 'node-1');
    await act('stop', 'node-2');
    await group.until('the Pods of both nodes are to end', () => group.livePods().length === 1);
    const waiting = (): string => {
      const { conditions = [] } = group.status;
      const found = conditions.find(({ type }) => type === 'WaitingForLostNode');
      return found?.status === 'True' ? (found.message ?? '') : '';
    };
    await group.until('a condition names both', () =>
      ['node-1', 'node-2'].every((node) => {
        const { name } = onNode.get(node)?.metadata ?? {};
        return waiting().includes(`Pod ${name} on node ${node} should have ended at`);
      }),
    );
    expect(waiting()).toContain('is deleted by force at');
    const isEnd = ({ what, rank }: Mark): boolean => what === 'end' && rank === hungRank;
    await group.until('the agent on the hung node stops its worker', () =>
      group.marks().some(isEnd),
    );
    expect(group.status.syncedEpoch).toBe(1);

    await group.running(2);
    const nodes = group.livePods().map(({ spec }) => spec.nodeName);
    expect(nodes).toEqual(['node-0', 'node-0', 'node-0']);
    const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
    const told = items.filter(({ reason }) => reason === 'LostPodDeleted').map(({ note }) => note);
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Pod \S+ on node node-1 .*: it is deleted by force/),
        expect.stringMatching(/^Pod \S+ on node node-2 .*: it is deleted by force/),
      ]),
    );

    await act('start', 'node-1');
    await act('start', 'node-2');
    await group.remove();
    expect(group.starts()).toHaveLength(6);
  });
});
