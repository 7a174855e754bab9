import { formatFieldErrors } from '@lockstep/kube/field-error.ts';
import type {
  Affinity,
  NodeSelectorRequirement,
  PodAffinityTerm,
} from '@lockstep/kube/objects/affinity.ts';
import { expect, test } from 'vitest';
import { affinityErrors } from './affinity.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodes(requirement: NodeSelectorRequirement, list = 'matchExpressions'): Affinity {
  return { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ [list]: [requirement] }] } } };
}

function pods(term: PodAffinityTerm): Affinity {
  return { podAntiAffinity: { [REQUIRED]: [term] } };
}

const AT = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
const EXPRESSION = `${AT}[0].matchExpressions[0]`;
const FIELD = `${AT}[0].matchFields[0]`;
const TERM = `spec.affinity.podAntiAffinity.${REQUIRED}[0]`;

test.each<[string, Affinity, string]>([
  [
    'no term',
    { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } },
    `${AT}: Required value: must have at least one node selector term`,
  ],
  [
    'In without values',
    nodes({ key: 'a', operator: 'In' }),
    `${EXPRESSION}.values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  ],
  [
    'Exists with values',
    nodes({ key: 'a', operator: 'Exists', values: ['b'] }),
    `${EXPRESSION}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
  ],
  [
    'Gt with two values',
    nodes({ key: 'a', operator: 'Gt', values: ['1', '2'] }),
    `${EXPRESSION}.values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
  ],
  [
    'no label',
    nodes({ key: 'a b', operator: 'Exists' }),
    `${EXPRESSION}.key: Invalid value: "a b": `,
  ],
  [
    'no label value',
    nodes({ key: 'a', operator: 'In', values: ['-'] }),
    `${EXPRESSION}.values[0]: Invalid value: "-": `,
  ],
  [
    'a field that is none',
    nodes({ key: 'spec.x', operator: 'In', values: ['a'] }, 'matchFields'),
    `${FIELD}.key: Invalid value: "spec.x": not a valid field selector key`,
  ],
  [
    'a field that exists',
    nodes({ key: 'metadata.name', operator: 'Exists' }, 'matchFields'),
    `${FIELD}.operator: Invalid value: "Exists": not a valid selector operator`,
  ],
  [
    'two names',
    nodes({ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }, 'matchFields'),
    `${FIELD}.values: Required value: must be only one value when \`operator\` is 'In' or 'NotIn' for node field selector`,
  ],
  [
    'a weight of nothing',
    { podAffinity: { [PREFERRED]: [{ weight: 0, podAffinityTerm: { topologyKey: 'zone' } }] } },
    `spec.affinity.podAffinity.${PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100`,
  ],
  [
    'no topology',
    pods({ topologyKey: '' }),
    `${TERM}.topologyKey: Required value: can not be empty`,
  ],
  [
    'no namespace',
    pods({ topologyKey: 'zone', namespaces: ['A'] }),
    `${TERM}.namespace: Invalid value: "A": `,
  ],
  [
    'no selector',
    pods({
      topologyKey: 'zone',
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
    }),
    `${TERM}.labelSelector.matchExpressions[0].values: Required value: `,
  ],
])('refused: %s', (_, affinity, expected) => {
  const [first] = affinityErrors(affinity, 'spec.affinity');
  expect(first === undefined ? '' : formatFieldErrors([first])).toContain(expected);
});

test('accepts what is well-formed', () => {
  const affinity: Affinity = {
    nodeAffinity: {
      [REQUIRED]: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'example.com/size', operator: 'Lt', values: ['4'] }] },
          { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['node-0'] }] },
        ],
      },
      [PREFERRED]: [
        { weight: 100, preference: {} },
        {
          weight: 1,
          preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] },
        },
      ],
    },
    podAffinity: {
      [PREFERRED]: [{ weight: 1, podAffinityTerm: { topologyKey: 'zone', namespaceSelector: {} } }],
    },
  };
  expect(affinityErrors(affinity, 'spec.affinity')).toEqual([]);
  expect(affinityErrors(undefined, 'spec.affinity')).toEqual([]);
});
