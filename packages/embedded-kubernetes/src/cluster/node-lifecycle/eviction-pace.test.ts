import type { Node } from '@lockstep/kube/objects/node.ts';
import { describe, expect, it } from 'vitest';
import { EvictionPace, evictionRate, zoneOf, zoneState } from './eviction-pace.ts';

function nodes(ready: number, lost: number): readonly Node[] {
  return Array.from({ length: ready + lost }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `n${i}` },
    status: { conditions: [{ type: 'Ready', status: i < ready ? 'True' : 'Unknown' }] },
  }));
}

describe('a zone', () => {
  it.each<[number, number, ReturnType<typeof zoneState>, number]>([
    [3, 0, 'Normal', 0.1],
    [1, 1, 'Normal', 0.1],
    // Two lost nodes mean nothing, even if they are a large share.
    [1, 2, 'Normal', 0.1],
    [3, 3, 'Normal', 0.1],
    [2, 3, 'PartialDisruption', 0],
    [9, 11, 'PartialDisruption', 0],
    [10, 11, 'Normal', 0.1],
    [22, 28, 'PartialDisruption', 0],
    [22, 29, 'PartialDisruption', 0.01],
    [0, 1, 'FullDisruption', 0.1],
    [0, 60, 'FullDisruption', 0.1],
  ])('of %i ready and %i lost nodes: %s, %d a second', (ready, lost, state, rate) => {
    expect(zoneState(nodes(ready, lost))).toBe(state);
    expect(evictionRate(nodes(ready, lost))).toBe(rate);
  });

  it.each<[Record<string, string>, string]>([
    [{}, ''],
    [{ 'topology.kubernetes.io/zone': 'a' }, ':a'],
    [{ 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'a' }, 'r:a'],
  ])('is read from labels: %j', (labels, zone) => {
    expect(zoneOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } })).toBe(zone);
  });
});

it('each zone has a pace of its own, and one node at once', () => {
  const pace = new EvictionPace();
  expect(pace.take('a', 0.1, 0)).toBe(0);
  expect(pace.take('b', 0.1, 0)).toBe(0);
  expect(pace.take('a', 0.1, 1000)).toBe(9000);
  expect(pace.take('a', 0.01, 1000)).toBe(99_000);
  expect(pace.take('a', 0, 1000)).toBe(Number.POSITIVE_INFINITY);
  expect(pace.take('a', 0.1, 10_000)).toBe(0);
  expect(pace.take('a', 0.1, 10_000)).toBe(10_000);
});
