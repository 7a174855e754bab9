import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { podErrors } from './pod.ts';
import { defaultPod } from './pod-defaults.ts';
import { podUpdateErrors } from './pod-update.ts';

type List = 'containers' | 'initContainers' | 'ephemeralContainers';

/** A Pod whose container `x`, in the given list, has these fields. */
function podOf(list: List, fields: JsonObject): Pod {
  const tested = { name: 'x', image: 'i', ...fields };
  return defaultPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'a', image: 'i' }], [list]: [tested] },
  }) as Pod;
}

function problems(pod: Pod): readonly string[] {
  return podErrors(pod).map(formatFieldError);
}

const RESTART = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } };
const ACTIONS = '"Restart", "RestartAllContainers", "RestartPod", "Terminate"';

const REFUSED: readonly (readonly [name: string, fields: JsonObject, problem: string])[] = [
  [
    'rules without a policy',
    { restartPolicyRules: [RESTART] },
    'restartPolicy: Required value: must specify restartPolicy when restart rules are used',
  ],
  [
    'an unknown policy',
    { restartPolicy: 'Sometimes' },
    'restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
  ],
  [
    'an empty policy',
    { restartPolicy: '' },
    'restartPolicy: Unsupported value: "": supported values: "Always", "Never", "OnFailure"',
  ],
  [
    'more than 20 rules',
    { restartPolicy: 'Never', restartPolicyRules: Array.from({ length: 21 }, () => RESTART) },
    'restartPolicyRules: Too many: 21: must have at most 20 items',
  ],
  [
    'an unknown action',
    { restartPolicy: 'Never', restartPolicyRules: [{ ...RESTART, action: 'Reboot' }] },
    `restartPolicyRules[0].action: Unsupported value: "Reboot": supported values: ${ACTIONS}`,
  ],
  [
    'no action',
    { restartPolicy: 'Never', restartPolicyRules: [{ exitCodes: RESTART.exitCodes }] },
    `restartPolicyRules[0].action: Unsupported value: "": supported values: ${ACTIONS}`,
  ],
  [
    'no exit codes',
    { restartPolicy: 'Never', restartPolicyRules: [RESTART, { action: 'Restart' }] },
    'restartPolicyRules[1].exitCodes: Required value: must be specified',
  ],
  [
    'no operator',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { values: [1] } }],
    },
    'restartPolicyRules[0].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"',
  ],
  [
    'an unknown operator',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'Exists' } }],
    },
    'restartPolicyRules[0].exitCodes.operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
  ],
  [
    'more than 255 values',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [
        {
          action: 'Restart',
          exitCodes: { operator: 'In', values: Array.from({ length: 256 }, () => 0) },
        },
      ],
    },
    'restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items',
  ],
];

const KINDS = ['containers', 'initContainers'] as const;

describe.each(KINDS)('restart policies and rules in %s', (list) => {
  it.each(REFUSED)('are refused with %s', (_, fields, problem) => {
    expect(problems(podOf(list, fields))).toEqual([`spec.${list}[0].${problem}`]);
  });

  it.each<[name: string, exitCodes: JsonObject]>([
    ['values out of range', { operator: 'In', values: [-1, 256, 300] }],
    ['0 with In', { operator: 'In', values: [0] }],
    ['0 with NotIn', { operator: 'NotIn', values: [0] }],
    ['no values', { operator: 'NotIn' }],
    ['an empty list of values', { operator: 'In', values: [] }],
    ['values in no order, some twice', { operator: 'In', values: [3, 1, 3] }],
    ['255 values', { operator: 'In', values: Array.from({ length: 255 }, (_, i) => i) }],
  ])('are accepted with %s', (_, exitCodes) => {
    const restartPolicyRules = [
      { action: 'Restart', exitCodes },
      { action: 'Restart', exitCodes },
      { action: 'Terminate', exitCodes },
    ];
    expect(problems(podOf(list, { restartPolicy: 'OnFailure', restartPolicyRules }))).toEqual([]);
  });

  it.each(['Always', 'OnFailure', 'Never'])('are accepted under %s, each action', (policy) => {
    const rules = ['Restart', 'RestartAllContainers', 'RestartPod', 'Terminate'].map((action) => ({
      ...RESTART,
      action,
    }));
    const fields = { restartPolicy: policy, restartPolicyRules: rules };
    expect(problems(podOf(list, fields))).toEqual([]);
  });

  it('are reported with everything else that is wrong', () => {
    const fields = {
      restartPolicy: 'Sometimes',
      restartPolicyRules: [{ action: 'Reboot', exitCodes: { operator: 'Exists' } }],
    };
    expect(problems(podOf(list, fields))).toHaveLength(3);
  });

  const policies = 'spec: Forbidden: pod updates may not change fields other than';
  it.each<[name: string, before: JsonObject, after: JsonObject]>([
    ['a policy', {}, { restartPolicy: 'Never' }],
    ['another policy', { restartPolicy: 'Never' }, { restartPolicy: 'OnFailure' }],
    ['no policy', { restartPolicy: 'Never' }, {}],
    [
      'another rule',
      { restartPolicy: 'Never', restartPolicyRules: [RESTART] },
      { restartPolicy: 'Never', restartPolicyRules: [{ ...RESTART, action: 'Terminate' }] },
    ],
    [
      'no rule',
      { restartPolicy: 'Never', restartPolicyRules: [RESTART] },
      { restartPolicy: 'Never' },
    ],
  ])('cannot be changed to %s', (_, before, after) => {
    const errors = podUpdateErrors(podOf(list, after), podOf(list, before));
    expect(errors.map(formatFieldError)).toEqual([expect.stringContaining(policies)]);
  });
});

describe('an ephemeral container', () => {
  const CANNOT = 'Forbidden: cannot be set for an Ephemeral Container';
  const ON_CREATE = 'spec.ephemeralContainers: Forbidden: cannot be set on create';

  it.each<[field: string, value: JsonObject[keyof JsonObject]]>([
    ['ports', [{ containerPort: 1, protocol: 'TCP' }]],
    ['resources', { limits: { cpu: '1' } }],
    ['restartPolicy', 'Always'],
    ['restartPolicyRules', [RESTART]],
    ['livenessProbe', { exec: { command: ['true'] } }],
    ['readinessProbe', { exec: { command: ['true'] } }],
    ['startupProbe', { exec: { command: ['true'] } }],
    ['lifecycle', { preStop: { exec: { command: ['true'] } } }],
  ])('has no %s', (field, value) => {
    expect(problems(podOf('ephemeralContainers', { [field]: value }))).toEqual([
      `spec.ephemeralContainers[0].${field}: ${CANNOT}`,
      ON_CREATE,
    ]);
  });

  it('mounts no part of a volume, and looks into a container of its Pod', () => {
    const pod = podOf('ephemeralContainers', {
      targetContainerName: 'z',
      volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 's' }],
    });
    expect(problems(pod)).toEqual([
      'spec.ephemeralContainers[0].volumeMounts[0].name: Not found: "v"',
      'spec.ephemeralContainers[0].targetContainerName: Not found: "z"',
      `spec.ephemeralContainers[0].volumeMounts[0].subPath: ${CANNOT}`,
      ON_CREATE,
    ]);
  });

  it('has a name that no other container has', () => {
    const pod = podOf('ephemeralContainers', { name: 'a', targetContainerName: 'a' });
    expect(problems(pod)).toEqual([
      'spec.ephemeralContainers[0].name: Duplicate value: "a"',
      ON_CREATE,
    ]);
  });
});
