import type { Lease } from '@lockstep/kube/objects/lease.ts';
import type { Node, Taint } from '@lockstep/kube/objects/node.ts';
import { describe, expect, it } from 'vitest';
import { type Eviction, lastHeartbeatMs, silentConditions, wantedTaints } from './node-health.ts';

const NOW = '2026-01-01T00:10:00Z';
const NOW_MS = Date.parse(NOW);

function nodeOf(conditions: Readonly<Record<string, string>>, spec: Node['spec'] = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
    status: {
      conditions: Object.entries(conditions).map(([type, status]) => ({
        type,
        status: status as 'True',
        lastHeartbeatTime: '2026-01-01T00:01:00Z',
      })),
    },
  };
}

describe('the last sign of life', () => {
  const lease = (renewTime: string): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'n1' },
    spec: { renewTime },
  });

  it.each([
    ['the Lease', { Ready: 'True' }, lease('2026-01-01T00:02:00.000000Z'), '00:02:00'],
    ['the status, if newer', { Ready: 'True' }, lease('2026-01-01T00:00:30.000000Z'), '00:01:00'],
    ['the status, without a Lease', { Ready: 'True' }, undefined, '00:01:00'],
    ['its creation, if it never said anything', {}, undefined, '00:00:00'],
  ])('is %s', (_, conditions, of, expected) => {
    expect(lastHeartbeatMs(nodeOf(conditions), of)).toBe(Date.parse(`2026-01-01T${expected}Z`));
  });
});

describe('the conditions of a silent node', () => {
  it('are unknown, with the words of Kubernetes', () => {
    const conditions = silentConditions(nodeOf({ Other: 'True', Ready: 'True' }), NOW_MS);
    expect(conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Other', 'True', undefined],
      ['Ready', 'Unknown', 'NodeStatusUnknown'],
      ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ]);
    expect(conditions?.[1]).toMatchObject({
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: NOW,
      lastHeartbeatTime: '2026-01-01T00:01:00Z',
    });
  });

  it('are written once', () => {
    const node = nodeOf({});
    const conditions = silentConditions(node, NOW_MS) ?? [];
    expect(silentConditions({ ...node, status: { conditions } }, NOW_MS + 60_000)).toBeUndefined();
  });
});

describe('taints', () => {
  const own: Taint = { key: 'team', value: 'a', effect: 'NoExecute' };
  const texts = (taints: readonly Taint[] | undefined): readonly string[] | undefined =>
    taints?.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`);

  it.each<[string, Node, Eviction, readonly string[] | undefined]>([
    ['a ready node has none', nodeOf({ Ready: 'True' }), 'Evict', undefined],
    [
      'a silent node drives its Pods away',
      nodeOf({ Ready: 'Unknown' }),
      'Evict',
      ['unreachable:NoSchedule', 'unreachable:NoExecute'],
    ],
    [
      'a node that says that it is not ready does too',
      nodeOf({ Ready: 'False' }),
      'Evict',
      ['not-ready:NoSchedule', 'not-ready:NoExecute'],
    ],
    [
      'where all are silent, none drives its Pods away',
      nodeOf({ Ready: 'Unknown' }),
      'Spare',
      ['unreachable:NoSchedule'],
    ],
    [
      'pressure and a cordon keep new Pods away',
      nodeOf({ Ready: 'True', MemoryPressure: 'True' }, { unschedulable: true }),
      'Evict',
      ['memory-pressure:NoSchedule', 'unschedulable:NoSchedule'],
    ],
    [
      'those of others stay',
      nodeOf({ Ready: 'Unknown' }, { taints: [own] }),
      'Spare',
      ['team:NoExecute', 'unreachable:NoSchedule'],
    ],
    [
      'they go when the node is back',
      nodeOf({ Ready: 'True' }, { taints: [taint('NoSchedule'), own, taint('NoExecute')] }),
      'Evict',
      ['team:NoExecute'],
    ],
    [
      'those that are there keep their time',
      nodeOf({ Ready: 'Unknown' }, { taints: [taint('NoSchedule'), taint('NoExecute')] }),
      'Evict',
      undefined,
    ],
    [
      'one that is lost keeps its Pods until it has its turn',
      nodeOf({ Ready: 'Unknown' }),
      'Keep',
      ['unreachable:NoSchedule'],
    ],
    [
      'one whose Pods are driven away needs no other turn when it is lost in another way',
      nodeOf({ Ready: 'False' }, { taints: [taint('NoSchedule'), taint('NoExecute')] }),
      'Keep',
      ['not-ready:NoSchedule', 'not-ready:NoExecute'],
    ],
  ])('%s', (_, node, eviction, expected) => {
    expect(texts(wantedTaints(node, eviction, NOW_MS))).toEqual(expected);
  });

  it('record the time if they evict Pods', () => {
    const taints = wantedTaints(nodeOf({ Ready: 'Unknown' }), 'Evict', NOW_MS);
    expect(taints?.map(({ timeAdded }) => timeAdded)).toEqual([undefined, NOW]);
  });

  function taint(effect: string): Taint {
    return { key: 'node.kubernetes.io/unreachable', effect };
  }
});
