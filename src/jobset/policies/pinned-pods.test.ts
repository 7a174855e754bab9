import type { NodeSelectorTerm } from '@lockstep/kube/objects/affinity.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { pinOf } from './pinned-pods.ts';

const HOSTNAME = 'kubernetes.io/hostname';

function requiring(...nodeSelectorTerms: readonly NodeSelectorTerm[]): Partial<PodSpec> {
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  };
  return { affinity: { nodeAffinity } };
}

function on(...values: readonly string[]): NodeSelectorTerm {
  return { matchExpressions: [{ key: HOSTNAME, operator: 'In', values }] };
}

test.each<[string, Partial<PodSpec>, string | undefined]>([
  ['nothing', {}, undefined],
  [
    'a selector for a host name',
    { nodeSelector: { [HOSTNAME]: 'n1', pool: 'a' } },
    `its node selector ${HOSTNAME}=n1`,
  ],
  ['a selector for a rack', { nodeSelector: { 'example.com/rack': 'r1' } }, undefined],
  ['an affinity to one node', requiring(on('n1')), 'its required node affinity for n1'],
  [
    'an affinity to the name of one node',
    requiring({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }),
    'its required node affinity for n1',
  ],
  ['an affinity to two nodes', requiring(on('n1', 'n2')), undefined],
  ['an affinity to one node or another', requiring(on('n1'), on('n2')), undefined],
  [
    'an affinity to one node or a pool',
    requiring(on('n1'), { matchExpressions: [{ key: 'pool', operator: 'Exists' }] }),
    undefined,
  ],
  [
    'an affinity away from a node',
    requiring({ matchExpressions: [{ key: HOSTNAME, operator: 'NotIn', values: ['n1'] }] }),
    undefined,
  ],
])('a Pod with %s', (_what, spec, words) => {
  expect(pinOf({ containers: [], ...spec })).toBe(words);
});
