import { defined } from '@lockstep/kube/json/defined.ts';
import type { Node, Taint } from '@lockstep/kube/objects/node.ts';
import type { Pod, Toleration } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { evictionMs, garbageReason } from './pod-eviction.ts';

const SEEN_MS = Date.parse('2026-01-01T00:10:00Z');
const ADDED = '2026-01-01T00:05:00Z';
const ADDED_MS = Date.parse(ADDED);
const UNREACHABLE: Taint = {
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  timeAdded: ADDED,
};
const OWN: Taint = { key: 'team', value: 'a', effect: 'NoExecute' };

function podOf(tolerations: readonly Toleration[], more: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...more },
    spec: { nodeName: 'n1', containers: [], tolerations },
  };
}

const tolerate = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...defined({ tolerationSeconds }),
});

describe('a Pod is driven away', () => {
  it.each<[string, readonly Toleration[], readonly Taint[], number | undefined]>([
    ['at once by a taint that it does not tolerate', [], [UNREACHABLE], ADDED_MS],
    [
      'never by a taint that only keeps others away',
      [],
      [{ ...OWN, effect: 'NoSchedule' }],
      undefined,
    ],
    ['never by what it tolerates for ever', [tolerate(UNREACHABLE.key)], [UNREACHABLE], undefined],
    [
      'after the time that it tolerates, from when the taint was added',
      [tolerate(UNREACHABLE.key, 300)],
      [UNREACHABLE],
      ADDED_MS + 300_000,
    ],
    [
      'by the first of its tolerations that fits',
      [tolerate(OWN.key, 5), tolerate(UNREACHABLE.key, 300), tolerate('', 20)],
      [UNREACHABLE],
      ADDED_MS + 300_000,
    ],
    [
      'never by what the first that fits tolerates for ever',
      [tolerate(''), tolerate(UNREACHABLE.key, 300)],
      [UNREACHABLE],
      undefined,
    ],
    [
      'by the most pressing of several taints',
      [tolerate(UNREACHABLE.key, 300)],
      [UNREACHABLE, OWN],
      SEEN_MS,
    ],
    [
      'at once by a toleration of no or negative time',
      [tolerate(UNREACHABLE.key, -5)],
      [UNREACHABLE],
      ADDED_MS,
    ],
  ])('%s', (_, tolerations, taints, expected) => {
    expect(evictionMs(podOf(tolerations), taints, SEEN_MS)).toBe(expected);
  });

  it('not twice', () => {
    expect(evictionMs(podOf([], { deletionTimestamp: ADDED }), [UNREACHABLE], SEEN_MS)).toBe(
      undefined,
    );
  });
});

describe('a Pod is given up', () => {
  const ending = { deletionTimestamp: ADDED };
  const outOfService: Taint = {
    key: 'node.kubernetes.io/out-of-service',
    value: 'nodeshutdown',
    effect: 'NoExecute',
  };

  it.each<[string, Pod, Node | undefined, string | undefined]>([
    ['when its node is gone', podOf([]), undefined, 'NodeIsGone'],
    ['not while its node is merely silent', podOf([], ending), nodeOf('Unknown', []), undefined],
    [
      'when it was to end on a node that is out of service',
      podOf([], ending),
      nodeOf('Unknown', [outOfService]),
      'NodeIsOutOfService',
    ],
    ['not before it is to end', podOf([]), nodeOf('Unknown', [outOfService]), undefined],
    ['not on a node that lives', podOf([], ending), nodeOf('True', [outOfService]), undefined],
  ])('%s', (_, pod, node, expected) => {
    expect(garbageReason(pod, node)).toBe(expected);
  });

  it('never before it has a node', () => {
    const { nodeName: _, ...spec } = podOf([]).spec;
    expect(garbageReason({ ...podOf([]), spec }, undefined)).toBeUndefined();
  });

  function nodeOf(ready: 'True' | 'Unknown', taints: readonly Taint[]): Node {
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      spec: { taints },
      status: { conditions: [{ type: 'Ready', status: ready }] },
    };
  }
});
