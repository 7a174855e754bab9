import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import { expect, test } from 'vitest';
import { JOBSET_SCHEMA } from './schema.ts';

const { replicatedJobs, volumeClaimPolicies } =
  JOBSET_SCHEMA.properties?.['spec']?.properties ?? {};
const JOB = replicatedJobs?.items?.properties?.['template']?.properties?.['spec'] ?? {};
const CLAIM = volumeClaimPolicies?.items?.properties?.['templates']?.items ?? {};
const POLICIES = ['', 'Always', 'Never', 'OnFailure'];
const CONTAINER_LISTS = ['containers', 'initContainers'];
const ALL_LISTS = [...CONTAINER_LISTS, 'ephemeralContainers'];

test('templates have fixed values only where Lockstep acts on them', () => {
  expect(fixedValues(CLAIM)).toEqual([]);
  expect(new Map(fixedValues(JOB))).toEqual(
    new Map<string, unknown>([
      ['completionMode', ['', 'Indexed', 'NonIndexed']],
      ['template.spec.restartPolicy', POLICIES],
      ...CONTAINER_LISTS.map((list) => [`template.spec.${list}.restartPolicy`, POLICIES] as const),
      ...ALL_LISTS.flatMap((list): [string, unknown][] => [
        [
          `template.spec.${list}.restartPolicyRules.action`,
          ['Restart', 'RestartAllContainers', 'RestartPod', 'Terminate'],
        ],
        [`template.spec.${list}.restartPolicyRules.exitCodes.operator`, ['In', 'NotIn']],
      ]),
    ]),
  );
});

test('values of a newer Kubernetes and empty texts pass, and other types do not', () => {
  const job = (container: object, pod: object = {}): object => ({
    completionMode: '',
    podReplacementPolicy: '',
    template: {
      spec: {
        restartPolicy: '',
        dnsPolicy: 'FromNode',
        containers: [{ name: 'w', restartPolicy: '', ...container }],
        ...pod,
      },
    },
  });
  const ports = [{ containerPort: 80, protocol: 'QUIC' }];
  expect(validate(JOB, job({ imagePullPolicy: '', ports }))).toEqual([]);
  expect(validate(JOB, job({ imagePullPolicy: 'Lazy' }, { preemptionPolicy: '' }))).toEqual([]);
  expect(validate(JOB, job({ imagePullPolicy: 1 }))).toMatchObject([
    { type: 'FieldValueTypeInvalid', field: 'template.spec.containers[0].imagePullPolicy' },
  ]);
});

function fixedValues(schema: JsonSchema, path = ''): [string, unknown][] {
  const { properties = {}, items, additionalProperties } = schema;
  const below = Object.entries(properties).flatMap(([name, property]) =>
    fixedValues(property, path === '' ? name : `${path}.${name}`),
  );
  const values = typeof additionalProperties === 'object' ? additionalProperties : {};
  return [
    ...(schema.enum === undefined ? [] : [[path, schema.enum] as [string, unknown]]),
    ...below,
    ...(items === undefined ? [] : fixedValues(items, path)),
    ...(values === additionalProperties ? fixedValues(values, path) : []),
  ];
}
