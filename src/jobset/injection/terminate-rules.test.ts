import type { Container, ContainerRestartRule, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { matchingAction, restartsPod } from '@lockstep/kube/objects/restart-rule.ts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { terminateErrors, withoutTerminate } from './terminate-rules.ts';

type Action = ContainerRestartRule['action'];

function rule(action: Action, operator: 'In' | 'NotIn', ...values: number[]): ContainerRestartRule {
  return { action, exitCodes: { operator, values } };
}

/**
 * What a node that knows `Terminate` does with a regular container, or an init container if not 0.
 */
function outcome({ restartPolicy, restartPolicyRules = [] }: Container, code: number): string {
  const action = matchingAction(restartPolicyRules, code);
  if (action === 'Terminate') return 'stays';
  if (restartsPod(action)) return 'restarts the Pod';
  if (action === 'Restart' || restartPolicy === 'Always') return 'restarts';
  return restartPolicy === 'OnFailure' && code !== 0 ? 'restarts' : 'stays';
}

function translate(container: Container, others: Partial<PodSpec> = {}): Container {
  const template = {
    spec: { restartPolicy: 'Never', containers: [container], ...others },
  } as const;
  const [first] = withoutTerminate(template).spec.containers;
  if (first === undefined) throw new Error('the container is gone');
  return first;
}

const CODES = Array.from({ length: 256 }, (_, code) => code);

const RULES = fc.array(
  fc.record({
    action: fc.constantFrom<Action>('Restart', 'RestartPod', 'RestartAllContainers', 'Terminate'),
    exitCodes: fc.record({
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.oneof(
        fc.uniqueArray(fc.integer({ min: 0, max: 9 })),
        fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { maxLength: 255, size: 'max' }),
      ),
    }),
  }),
  { maxLength: 8 },
);

describe('rules without Terminate', () => {
  it('do for every exit code what the original rules do', () => {
    fc.assert(
      fc.property(
        RULES,
        fc.constantFrom('Always', 'OnFailure', 'Never'),
        (restartPolicyRules, restartPolicy) => {
          const original: Container = { name: 'worker', restartPolicy, restartPolicyRules };
          const translation = translate(original);
          const actions = (translation.restartPolicyRules ?? []).map(({ action }) => action);
          expect(actions).not.toContain('Terminate');
          for (const { exitCodes } of translation.restartPolicyRules ?? []) {
            expect(exitCodes?.values?.length).toBeLessThanOrEqual(255);
          }
          expect(CODES.map((code) => outcome(translation, code))).toEqual(
            CODES.map((code) => outcome(original, code)),
          );
        },
      ),
    );
  });

  const codes = (from: number, to: number): number[] => CODES.slice(from, to + 1);
  it.each<[string, Container['restartPolicy'], ContainerRestartRule[], ContainerRestartRule[]]>([
    [
      'a worker of the second story: codes 7 and 9 fail its Pod',
      'Never',
      [rule('Terminate', 'In', 7, 9), rule('RestartPod', 'NotIn', 0, 7, 9)],
      [rule('RestartPod', 'NotIn', 0, 7, 9)],
    ],
    [
      'codes are taken out of the rules after it, not of those before',
      'Never',
      [rule('Restart', 'In', 1, 2), rule('Terminate', 'In', 2, 3), rule('RestartPod', 'NotIn', 0)],
      [rule('Restart', 'In', 1, 2), rule('RestartPod', 'NotIn', 0, 2, 3)],
    ],
    [
      'a rule that becomes empty goes',
      'Never',
      [rule('Terminate', 'In', 5, 6), rule('Restart', 'In', 6), rule('RestartPod', 'In', 7)],
      [rule('RestartPod', 'In', 7)],
    ],
    [
      'all but some leave some',
      'Never',
      [rule('Terminate', 'NotIn', 3, 4), rule('RestartPod', 'NotIn', 4)],
      [rule('RestartPod', 'In', 3)],
    ],
    [
      'policy Always becomes a last rule',
      'Always',
      [rule('Terminate', 'In', 9)],
      [rule('Restart', 'NotIn', 9)],
    ],
    [
      'policy OnFailure too',
      'OnFailure',
      [rule('Terminate', 'NotIn', 0, 8)],
      [rule('Restart', 'In', 8)],
    ],
    [
      'a NotIn of more than 255 values is written as In',
      'Always',
      [rule('Terminate', 'In', ...codes(1, 254), 256, 257)],
      [rule('Restart', 'In', 0, 255)],
    ],
    [
      'an In of more than 255 values is split',
      'Always',
      [rule('Terminate', 'In', ...codes(0, 255).map((code) => code + 1000))],
      [rule('Restart', 'In', ...codes(0, 254)), rule('Restart', 'In', 255)],
    ],
  ])('%s', (_, restartPolicy, restartPolicyRules, expected) => {
    const original: Container = {
      name: 'worker',
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
      restartPolicyRules,
    };
    expect(translate(original)).toEqual({
      name: 'worker',
      restartPolicy: 'Never',
      restartPolicyRules: expected,
    });
  });

  it('leaves containers without it as they are', () => {
    const template = {
      spec: {
        containers: [
          { name: 'c', restartPolicy: 'Always', restartPolicyRules: [rule('Restart', 'In', 1)] },
        ],
      },
    } as const;
    expect(withoutTerminate(template)).toBe(template);
  });

  it('lets every exit of an agent sidecar restart its Pod', () => {
    const agent = {
      name: 'agent',
      env: [{ name: 'RESTART_POD_IN_PLACE_EXIT_CODE', value: '99' }],
      restartPolicy: 'Always',
      restartPolicyRules: [rule('RestartPod', 'In', 99), rule('Terminate', 'NotIn', 99)],
    } as const;
    const template = { spec: { initContainers: [agent], containers: [{ name: 'w' }] } };
    expect(terminateErrors(template, '')).toEqual([]);
    expect(withoutTerminate(template).spec.initContainers).toEqual([
      { ...agent, restartPolicyRules: [rule('RestartAllContainers', 'NotIn')] },
    ]);
  });
});

const TERMINATE: Pick<Container, 'restartPolicyRules'> = {
  restartPolicyRules: [rule('Restart', 'In', 1), rule('Terminate', 'In', 3)],
};
const PROBE = { tcpSocket: { port: 1 } };
const never: Container = { name: 'w', restartPolicy: 'Never', ...TERMINATE };
const always: Container = { name: 'w', restartPolicy: 'Always', ...TERMINATE };

test.each<[string, Partial<PodSpec>, string]>([
  [
    "a user's sidecar",
    { initContainers: [always], containers: [] },
    'initContainers[0].restartPolicyRules[1].action: for a sidecar, which is always restarted',
  ],
  [
    "an init container's exit 0",
    {
      initContainers: [{ ...never, restartPolicyRules: [rule('Terminate', 'NotIn', 3)] }],
      containers: [],
    },
    'initContainers[0].restartPolicyRules[0].action: for exit code 0 of an init container',
  ],
  [
    'a container with a liveness probe',
    { containers: [{ ...always, livenessProbe: PROBE }] },
    'containers[0].restartPolicyRules[1].action: on a container with a livenessProbe',
  ],
  [
    'a container with a startup probe',
    { containers: [{ ...always, startupProbe: PROBE }] },
    'containers[0].restartPolicyRules[1].action: on a container with a startupProbe',
  ],
  [
    'another regular container beside it',
    { containers: [{ name: 'other' }, always] },
    'containers[1].restartPolicyRules[1].action: beside another container',
  ],
  [
    'another regular container in a Pod that restarts on failure',
    { containers: [{ name: 'other' }, never], restartPolicy: 'OnFailure' },
    'containers[1].restartPolicyRules[1].action: beside another container',
  ],
])('Terminate is refused where nothing else says the same: %s', (_, spec, expected) => {
  const template = { spec: { restartPolicy: 'Never', containers: [], ...spec } } as const;
  const told = terminateErrors(template, 'T').map(
    ({ field, detail }) => `${field}: ${detail.replace(/^.*cannot replace it /, '')}`,
  );
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(`T.spec.${expected}`);
});

test.each<[string, Partial<PodSpec>]>([
  ['a lone container', { containers: [always] }],
  ['a probe under policy Never', { containers: [{ ...never, livenessProbe: PROBE }] }],
  ['others beside it where everything is Never', { containers: [never, { name: 'other' }] }],
  ['an init container', { initContainers: [never], containers: [] }],
])('Terminate is expressed for %s', (_, spec) => {
  const template = { spec: { restartPolicy: 'Never', containers: [], ...spec } } as const;
  expect(terminateErrors(template, 'T')).toEqual([]);
  expect(JSON.stringify(withoutTerminate(template))).not.toContain('Terminate');
});
