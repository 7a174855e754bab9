/** Members that leave a node, and nodes that are lost, where there are two real nodes. */
import { NODES } from '@lockstep/kube/objects/node.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import { JOBSET_NAME, PREFLIGHT, REPLACE_AFTER, RESTART_MODE } from '../../src/jobset/names.ts';
import { lockstep, NAMESPACE, signalProgram } from './node.ts';
import { type NodeGroup, nodeGroups } from './node-group.fixture.ts';

const SIZE = 2;
/** The node controller waits 30 s for a kubelet. */
const LOSS_PATIENCE_MS = 180_000;
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

const groups = nodeGroups();

function spread(name: string): object {
  const topologyKey = 'kubernetes.io/hostname';
  const labelSelector = { matchLabels: { [JOBSET_NAME]: name } };
  const constraint = {
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector,
  };
  return { topologySpreadConstraints: [constraint] };
}

async function nodesOf(group: NodeGroup): Promise<readonly (string | undefined)[]> {
  return (await group.pods()).map(({ spec }) => spec?.nodeName);
}

it('a member whose machine is unfit leaves its node, and the other one stays', async () => {
  const name = 'unfit';
  const group = await groups.start({
    name,
    size: SIZE,
    annotations: {
      [RESTART_MODE]: 'Supervisor',
      [REPLACE_AFTER]: '1/1h',
      [PREFLIGHT]: 'echo no device; exit 1',
    },
  });
  await group.running(1);
  const uids = await group.uids();
  const nodes = await nodesOf(group);
  await group.kill(1);
  await until(
    'the group runs in epoch 2',
    async () => {
      expect(await group.status()).toMatchObject({ syncedEpoch: 2, deprecatedEpoch: 1 });
    },
    LOSS_PATIENCE_MS,
  );
  expect((await group.uids())[0]).toBe(uids[0]);
  expect((await group.uids())[1]).not.toBe(uids[1]);
  const [kept, left] = nodes;
  const [stayed, moved] = await nodesOf(group);
  expect(stayed).toBe(kept);
  expect(moved).not.toBe(left);
  expect(await lockstep('nodes', name, '-n', NAMESPACE)).toContain('no device');
});

/** Both ways of docs/lost-nodes.md to say that a node is off. */
const CURES = [
  {
    cure: 'deleted',
    apply: (node: string): Promise<unknown> => groups.client.delete(NODES, { name: node }),
  },
  {
    cure: 'tainted as out of service',
    apply: async (node: string): Promise<unknown> => {
      const { spec } = await groups.client.get(NODES, { name: node });
      const taint = { key: OUT_OF_SERVICE, value: 'nodeshutdown', effect: 'NoExecute' };
      return await setTaints(node, [...(spec?.taints ?? []), taint]);
    },
  },
];

async function setTaints(node: string, taints: readonly object[]): Promise<unknown> {
  const patch = { spec: { taints } };
  return await groups.client.patch(NODES, { name: node }, { type: 'merge', patch });
}

async function bringBack(node: string): Promise<void> {
  // A kubelet registers its node when it starts.
  signalProgram(node, 'kubelet', 'SIGKILL');
  await until(
    'the node is back',
    async () => {
      const { status } = await groups.client.get(NODES, { name: node });
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      expect(ready?.status).toBe('True');
    },
    LOSS_PATIENCE_MS,
  );
  await setTaints(node, []);
}

it.each(CURES)('a group waits for a lost node, and continues when it is $cure', async (how) => {
  const name = `lost-${how.cure.slice(0, 7)}`;
  const tolerations = ['not-ready', 'unreachable'].map((taint) => ({
    key: `node.kubernetes.io/${taint}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }));
  const pod = { ...spread(name), tolerations };
  const group = await groups.start({ name, size: SIZE, pod });
  await group.running(1);
  const pods = await group.pods();
  const [kept, lost] = pods.map(({ spec }) => spec?.nodeName ?? '');
  if (lost === undefined) throw new Error('the second Pod has no node');
  expect(lost).not.toBe(kept);
  signalProgram(lost, 'kubelet', 'SIGSTOP');
  try {
    await until(
      'the Pod is to go',
      async () => {
        expect(await group.uids()).not.toContain(pods[1]?.metadata.uid);
      },
      LOSS_PATIENCE_MS,
    );
    await until(
      'a condition says what to do',
      async () => {
        const { conditions = [] } = await group.status();
        const waiting = conditions.find(({ type }) => type === 'WaitingForLostNode');
        expect(waiting).toMatchObject({ status: 'True' });
        expect(waiting?.message).toContain('if the node is off, delete the Node');
      },
      LOSS_PATIENCE_MS,
    );
    await how.apply(lost);
    await until(
      'the group runs in epoch 2',
      async () => {
        expect(await group.status()).toMatchObject({ syncedEpoch: 2, deprecatedEpoch: 1 });
      },
      LOSS_PATIENCE_MS,
    );
    expect(await nodesOf(group)).toEqual([kept, kept]);
    expect((await group.uids())[0]).toBe(pods[0]?.metadata.uid);
  } finally {
    await bringBack(lost);
  }
});
