import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Affinity, PodAffinityTerm } from '@lockstep/kube/objects/affinity.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import { Neighbourhood } from './neighbours.ts';
import { NodeLoads } from './node-loads.ts';
import { placePod } from './placement.ts';

const NODES: readonly Stored<Node>[] = ['a1', 'a2', 'b1', 'c1'].map((name, i) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '',
    // The last node is in no zone.
    labels: { host: name, size: `${i}`, ...(name === 'c1' ? {} : { zone: name.slice(0, 1) }) },
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}));
const NAMESPACES: Readonly<Record<string, StringMap>> = { default: {}, blue: { team: 'blue' } };

interface PodOptions {
  readonly labels?: StringMap;
  readonly namespace?: string;
  readonly affinity?: Affinity;
}

function podOf({ labels = {}, namespace = 'default', affinity }: PodOptions): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, labels },
    spec: { containers: [], ...defined({ affinity }) },
  };
}

/** Puts `placed` on their nodes; returns the node for `pod`, or why there is none. */
function place(pod: PodOptions, placed: readonly (readonly [string, PodOptions])[]): string {
  const neighbourhood = new Neighbourhood({
    nodeLabels: (name) => NODES.find(({ metadata }) => metadata.name === name)?.metadata.labels,
    namespaceLabels: (namespace) => NAMESPACES[namespace],
  });
  placed.forEach(([node, options], i) => {
    neighbourhood.place(`p${i}`, podOf(options), node);
  });
  const loads = new NodeLoads();
  const placing = placePod(podOf(pod), new Map(), {
    nodes: NODES,
    loadOf: (node) => loads.of(node),
    survey: neighbourhood.survey(podOf(pod)),
  });
  return placing.outcome === 'fits' ? placing.node : placing.message;
}

const web = { app: 'web' };
const toWeb: PodAffinityTerm = { labelSelector: { matchLabels: web }, topologyKey: 'zone' };

function near(...terms: readonly PodAffinityTerm[]): Affinity {
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

function awayFrom(...terms: readonly PodAffinityTerm[]): Affinity {
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

const blue = { labels: web, namespace: 'blue' };
const NO_FRIEND = "0/4 nodes are available: 4 node(s) didn't match pod affinity rules.";

describe('required affinity between Pods', () => {
  const onlyB = [['b1', { labels: web }]] as const;
  test.each<[string, PodOptions, readonly (readonly [string, PodOptions])[], string]>([
    ['goes to the zone of its friend', { affinity: near(toWeb) }, onlyB, 'b1'],
    ['waits for its friend', { affinity: near(toWeb) }, [], NO_FRIEND],
    ['is its own friend, where there is a zone', { labels: web, affinity: near(toWeb) }, [], 'a1'],
    [
      'is not its own friend once there is one',
      { labels: web, affinity: near(toWeb) },
      onlyB,
      'b1',
    ],
    ['means its own namespace', { affinity: near(toWeb) }, [['b1', blue]], NO_FRIEND],
    [
      'or the namespaces that are named',
      { affinity: near({ ...toWeb, namespaces: ['blue'] }) },
      [['b1', blue]],
      'b1',
    ],
    [
      'or those that a selector selects',
      { affinity: near({ ...toWeb, namespaceSelector: { matchLabels: { team: 'blue' } } }) },
      [
        ['a1', { labels: web }],
        ['b1', blue],
      ],
      'b1',
    ],
    [
      'or all of them',
      { affinity: near({ ...toWeb, namespaceSelector: {} }) },
      [['b1', { ...blue, namespace: 'unknown' }]],
      'b1',
    ],
    [
      'needs one Pod that matches all terms',
      {
        affinity: near(toWeb, { labelSelector: { matchLabels: { db: 'x' } }, topologyKey: 'zone' }),
      },
      [
        ['a1', { labels: web }],
        ['a1', { labels: { db: 'x' } }],
      ],
      NO_FRIEND,
    ],
    ['no selector is no Pod', { affinity: near({ topologyKey: 'zone' }) }, onlyB, NO_FRIEND],
    [
      'nor is one that the API would refuse',
      {
        affinity: near({
          labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: [] }] },
          topologyKey: 'zone',
        }),
      },
      onlyB,
      NO_FRIEND,
    ],
    [
      'matchLabelKeys compare with the own value',
      { labels: { v: '2' }, affinity: near({ ...toWeb, matchLabelKeys: ['v', 'none'] }) },
      [
        ['a1', { labels: { ...web, v: '1' } }],
        ['b1', { labels: { ...web, v: '2' } }],
      ],
      'b1',
    ],
  ])('%s', (_, pod, placed, expected) => {
    expect(place(pod, placed)).toBe(expected);
  });
});

describe('required anti-affinity', () => {
  const full = [
    ['a1', { labels: web }],
    ['b1', { labels: web }],
  ] as const;
  test('keeps away from zones, not from nodes without one', () => {
    expect(place({ affinity: awayFrom(toWeb) }, full.slice(0, 1))).toBe('b1');
    expect(place({ affinity: awayFrom(toWeb) }, full)).toBe('c1');
    const hosts = NODES.map(({ metadata }) => [metadata.name, { labels: web }] as const);
    expect(place({ affinity: awayFrom({ ...toWeb, topologyKey: 'host' }) }, hosts)).toBe(
      "0/4 nodes are available: 4 node(s) didn't match pod anti-affinity rules.",
    );
  });

  test('of a placed Pod keeps others away too', () => {
    const guard = { affinity: awayFrom({ ...toWeb, namespaceSelector: {} }) };
    expect(place({ labels: web }, [['a2', guard]])).toBe('b1');
    expect(place(blue, [['a2', guard]])).toBe('b1');
    expect(place({ labels: { app: 'db' } }, [['a2', guard]])).toBe('a1');
    const everywhere = { affinity: awayFrom({ ...toWeb, topologyKey: 'host' }) };
    const guards = NODES.map(({ metadata }) => [metadata.name, everywhere] as const);
    expect(place({ labels: web }, guards)).toBe(
      "0/4 nodes are available: 4 node(s) didn't satisfy existing pods anti-affinity rules.",
    );
  });

  test('mismatchLabelKeys leave Pods of the same value alone', () => {
    const affinity = awayFrom({
      labelSelector: { matchExpressions: [{ key: 'job', operator: 'Exists' }] },
      mismatchLabelKeys: ['job'],
      topologyKey: 'zone',
    });
    const placed = [
      ['a1', { labels: { job: '1' } }],
      ['b1', { labels: { job: '2' } }],
    ] as const;
    expect(place({ labels: { job: '2' }, affinity }, placed)).toBe('b1');
  });
});

describe('preferences', () => {
  const weighted = (weight: number) => [{ weight, podAffinityTerm: toWeb }];
  test('a neighbour attracts, or repels, without being required', () => {
    const friend = [['b1', { labels: web }]] as const;
    const likes = { preferredDuringSchedulingIgnoredDuringExecution: weighted(5) };
    expect(place({ affinity: { podAffinity: likes } }, friend)).toBe('b1');
    expect(place({ affinity: { podAffinity: likes } }, [])).toBe('a1');
    const rival = [['a1', { labels: web }]] as const;
    expect(place({ affinity: { podAntiAffinity: likes } }, rival)).toBe('b1');
  });

  test('labels of nodes attract by their weights', () => {
    const preference = (size: string) => ({
      matchExpressions: [{ key: 'size', operator: 'In', values: [size] } as const],
    });
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: preference('1') },
        { weight: 10, preference: preference('2') },
      ],
    };
    expect(place({ affinity: { nodeAffinity } }, [])).toBe('b1');
  });
});
