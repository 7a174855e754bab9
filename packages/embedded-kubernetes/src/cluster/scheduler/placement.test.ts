import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { NodeSelectorTerm } from '@lockstep/kube/objects/affinity.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Container, Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Neighbourhood } from './neighbours.ts';
import { NodeLoads } from './node-loads.ts';
import { placePod } from './placement.ts';
import { requestsOf } from './resource-amounts.ts';

function nodeOf(
  name: string,
  more: Pick<Node, 'spec' | 'status'> & { labels?: Record<string, string> } = {},
): Stored<Node> {
  const { labels = {}, spec, status } = more;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '', labels },
    ...defined({ spec }),
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
      ...status,
    },
  };
}

function containerOf(requests: Record<string, string>, more: Partial<Container> = {}): Container {
  return { name: 'c', resources: { requests }, ...more };
}

function podOf(spec: Partial<PodSpec> = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [], ...spec } };
}

function neighbourhoodOf(nodes: readonly Stored<Node>[]): Neighbourhood {
  return new Neighbourhood({
    nodeLabels: (name) => nodes.find((node) => node.metadata.name === name)?.metadata.labels,
    namespaceLabels: (namespace) => NAMESPACE_LABELS[namespace],
  });
}

const NAMESPACE_LABELS: Readonly<Record<string, StringMap>> = { default: {}, other: { team: 'a' } };

function place(pod: Pod, nodes: readonly Stored<Node>[], loads = new NodeLoads()) {
  return placePod(pod, requestsOf(pod), {
    nodes,
    loadOf: (node) => loads.of(node),
    survey: neighbourhoodOf(nodes).survey(pod),
  });
}

const notReady = {
  spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
};
const tainted = { spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] } };
const MISMATCH = "didn't match Pod's node affinity/selector";

const RESTARTS_ALL: Container = {
  name: 'c',
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartPod', exitCodes: { operator: 'In', values: [1] } }],
};

test('a Pod that may restart all its containers goes to a node that declares it', () => {
  const declaredFeatures = ['RestartAllContainersOnContainerExits'];
  const nodes = [nodeOf('a'), nodeOf('b', { status: { declaredFeatures } })];
  expect(place(podOf({ containers: [RESTARTS_ALL] }), nodes)).toMatchObject({ node: 'b' });
  expect(place(podOf({ containers: [{ name: 'c' }] }), nodes)).toMatchObject({ node: 'a' });
  const sidecar: Container = { ...RESTARTS_ALL, restartPolicy: 'Always' };
  const pod = podOf({ containers: [{ name: 'a' }], initContainers: [sidecar] });
  expect(place(pod, nodes)).toMatchObject({ node: 'b' });
});

test.each<[string, Pod, readonly Stored<Node>[], string]>([
  ['no node', podOf(), [], 'no nodes available to schedule pods'],
  [
    'a node that is not ready, as its taint says',
    podOf(),
    [nodeOf('a', notReady)],
    '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.',
  ],
  [
    'a cordoned node',
    podOf(),
    [nodeOf('a', { spec: { unschedulable: true } })],
    '0/1 nodes are available: 1 node(s) were unschedulable.',
  ],
  [
    'taints and selectors, counted by reason',
    podOf({ nodeSelector: { zone: '1' } }),
    [nodeOf('a', { ...tainted, labels: { zone: '1' } }), nodeOf('b'), nodeOf('c')],
    `0/3 nodes are available: 1 node(s) had untolerated taint {gpu: yes}, 2 node(s) ${MISMATCH}.`,
  ],
  [
    'a kubelet that cannot restart all containers',
    podOf({ containers: [RESTARTS_ALL] }),
    [nodeOf('a'), nodeOf('b', { status: { declaredFeatures: ['Other'] } })],
    '0/2 nodes are available: 2 node declared features check failed - unsatisfied requirements: RestartAllContainersOnContainerExits.',
  ],
  [
    'too much of two resources',
    podOf({ containers: [containerOf({ cpu: '4001m', memory: '9Gi' })] }),
    [nodeOf('a')],
    '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.',
  ],
  [
    'a resource that no node has',
    podOf({ containers: [containerOf({ 'nvidia.com/gpu': '1' })] }),
    [nodeOf('a')],
    '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.',
  ],
])('unschedulable: %s', (_, pod, nodes, message) => {
  expect(place(pod, nodes)).toMatchObject({ outcome: 'unschedulable', message });
});

test.each([
  ['exact', { key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }, true],
  ['by key', { key: 'gpu', operator: 'Exists' }, true],
  ['everything', { operator: 'Exists' }, true],
  ['operator left out', { key: 'gpu', value: 'yes' }, true],
  ['another value', { key: 'gpu', operator: 'Equal', value: 'no' }, false],
  ['another effect', { key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, false],
] as const)('a toleration (%s) lets the Pod on the node: %#', (_, toleration, fits) => {
  const { outcome } = place(podOf({ tolerations: [toleration] }), [nodeOf('a', tainted)]);
  expect(outcome === 'fits').toBe(fits);
});

test('a taint with PreferNoSchedule keeps no Pod off', () => {
  const taints = [{ key: 'k', effect: 'PreferNoSchedule' }];
  expect(place(podOf(), [nodeOf('a', { spec: { taints } })])).toEqual({
    outcome: 'fits',
    node: 'a',
  });
});

test('a node with a PreferNoSchedule taint comes last, unless it is tolerated', () => {
  const taints = [{ key: 'k', effect: 'PreferNoSchedule' }];
  const nodes = [nodeOf('a', { spec: { taints } }), nodeOf('b')];
  expect(place(podOf(), nodes)).toEqual({ outcome: 'fits', node: 'b' });
  const tolerations = [{ key: 'k', operator: 'Exists' }] as const;
  expect(place(podOf({ tolerations }), nodes)).toEqual({ outcome: 'fits', node: 'a' });
});

test('a Pod that tolerates it goes to a cordoned node', () => {
  const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] as const;
  const nodes = [nodeOf('a', { spec: { unschedulable: true } })];
  expect(place(podOf({ tolerations }), nodes).outcome).toBe('fits');
});

const sized = nodeOf('a', { labels: { size: '10', zone: 'z' } });
test.each<[string, NodeSelectorTerm[], boolean]>([
  ['In', [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['y', 'z'] }] }], true],
  ['In, no label', [{ matchExpressions: [{ key: 'x', operator: 'In', values: ['z'] }] }], false],
  ['NotIn', [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['z'] }] }], false],
  ['NotIn, no label', [{ matchExpressions: [{ key: 'x', operator: 'NotIn', values: [] }] }], true],
  ['Exists', [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }], true],
  ['DoesNotExist', [{ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }], false],
  ['Gt', [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['9'] }] }], true],
  ['Gt, equal', [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['10'] }] }], false],
  ['Lt', [{ matchExpressions: [{ key: 'size', operator: 'Lt', values: ['11'] }] }], true],
  [
    'Lt, no number',
    [{ matchExpressions: [{ key: 'zone', operator: 'Lt', values: ['1'] }] }],
    false,
  ],
  [
    'all expressions',
    [
      {
        matchExpressions: [
          { key: 'zone', operator: 'Exists' },
          { key: 'x', operator: 'Exists' },
        ],
      },
    ],
    false,
  ],
  [
    'any term',
    [
      { matchExpressions: [{ key: 'x', operator: 'Exists' }] },
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] },
    ],
    true,
  ],
  ['an empty term', [{}], false],
  ['no term', [], false],
  [
    'a field',
    [{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['a'] }] }],
    false,
  ],
])('node affinity: %s', (_, nodeSelectorTerms, fits) => {
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const placing = place(podOf({ affinity: { nodeAffinity: required } }), [sized]);
  expect(placing.outcome === 'fits').toBe(fits);
  if (placing.outcome !== 'fits') expect(placing.message).toContain(MISMATCH);
});

test('Pods spread over the nodes, and a node takes no more than its limit of Pods', () => {
  const loads = new NodeLoads();
  const small = { status: { allocatable: { pods: '1' } } };
  const nodes = [nodeOf('a'), nodeOf('b'), nodeOf('c', small)];
  const chosen = Array.from({ length: 5 }, (_, i) => {
    const placing = place(podOf(), nodes, loads);
    const node = placing.outcome === 'fits' ? placing.node : '-';
    loads.place(`p${i}`, node, requestsOf(podOf()));
    return node;
  });
  expect(chosen.join('')).toBe('abcab');
  const full = place(podOf(), [nodeOf('c', small)], loads);
  expect(full).toMatchObject({ message: '0/1 nodes are available: 1 Too many pods.' });
});

test('a Pod asks for what it needs at its worst moment', () => {
  const pod = podOf({
    initContainers: [
      containerOf({ cpu: '100m' }),
      containerOf({ cpu: '300m' }, { restartPolicy: 'Always' }),
      containerOf({ cpu: '2', memory: '1Gi' }),
    ],
    containers: [
      containerOf({ cpu: '1' }),
      { name: 'limited', resources: { limits: { cpu: '500m', memory: '64Mi' } } },
    ],
  });
  const requests = requestsOf(pod);
  // The last init container runs beside the sidecar; the two containers and the sidecar need less.
  expect(requests.get('cpu')).toBe(2_300_000_000n);
  expect(requests.get('memory')).toBe(1024n ** 3n * 1_000_000_000n);
});

test('the loads are the sum of the placements, after any sequence of changes', () => {
  const step = fc.record({
    pod: fc.nat(4),
    node: fc.constantFrom('a', 'b', undefined),
    cpu: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
      const loads = new NodeLoads();
      const expected = new Map<number, { node: string; cpu: bigint }>();
      for (const { pod, node, cpu } of steps) {
        if (node === undefined) {
          expect(loads.remove(`p${pod}`)).toBe(expected.delete(pod));
          continue;
        }
        loads.place(`p${pod}`, node, new Map([['cpu', BigInt(cpu)]]));
        expected.set(pod, { node, cpu: BigInt(cpu) });
      }
      for (const node of ['a', 'b']) {
        const own = [...expected.values()].filter((placement) => placement.node === node);
        expect(loads.of(node).pods).toBe(own.length);
        const sum = own.reduce((total, placement) => total + placement.cpu, 0n);
        expect(loads.of(node).requests.get('cpu') ?? 0n).toBe(sum);
      }
    }),
  );
});
