/** Whether a container that ended starts again, by policy and rules. */

import type { Container, ContainerRestartRule, RestartPolicy } from '@lockstep/kube/objects/pod.ts';
import { mayRestartAll } from '@lockstep/kube/objects/restart-rule.ts';
import { describe, expect, it } from 'vitest';
import type { ContainerKind } from '../pod-containers.ts';
import {
  findMatchingRule,
  type RuleAction,
  shouldRestart,
  terminatesPod,
  triggersRestartOfAll,
} from './restart-rules.ts';

function rule(
  action: ContainerRestartRule['action'],
  operator: 'In' | 'NotIn',
  ...values: readonly number[]
): ContainerRestartRule {
  return { action, exitCodes: { operator, values } };
}

interface Case {
  readonly it: string;
  readonly pod?: RestartPolicy;
  readonly own?: RestartPolicy;
  readonly rules?: readonly ContainerRestartRule[];
  readonly kind?: ContainerKind;
  readonly code: number;
  readonly restarts: boolean;
}

const CASES: readonly Case[] = [
  { it: 'follows the Pod without a policy of its own', pod: 'Always', code: 0, restarts: true },
  { it: 'takes Always for a Pod without policy', code: 0, restarts: true },
  { it: 'retries failures under OnFailure', pod: 'OnFailure', code: 1, restarts: true },
  { it: 'leaves success alone under OnFailure', pod: 'OnFailure', code: 0, restarts: false },
  { it: 'never restarts under Never', pod: 'Never', code: 1, restarts: false },
  { it: 'lets its own policy win', pod: 'Always', own: 'Never', code: 1, restarts: false },
  {
    it: 'lets its own policy win, the other way',
    pod: 'Never',
    own: 'Always',
    code: 0,
    restarts: true,
  },
  {
    it: 'restarts on a rule under Never',
    own: 'Never',
    rules: [rule('Restart', 'In', 42)],
    code: 42,
    restarts: true,
  },
  {
    it: 'restarts on exit 0 if a rule says so',
    own: 'Never',
    rules: [rule('Restart', 'In', 0)],
    code: 0,
    restarts: true,
  },
  {
    it: 'falls back to its policy',
    own: 'Never',
    rules: [rule('Restart', 'In', 42)],
    code: 1,
    restarts: false,
  },
  {
    it: 'ignores rules without a policy of its own',
    pod: 'Never',
    rules: [rule('Restart', 'In', 1)],
    code: 1,
    restarts: false,
  },
  {
    it: 'matches every code with NotIn nothing',
    own: 'Never',
    rules: [rule('RestartPod', 'NotIn')],
    code: 0,
    restarts: true,
  },
  {
    it: 'matches no code with In nothing',
    own: 'Never',
    rules: [rule('Restart', 'In')],
    code: 1,
    restarts: false,
  },
  {
    it: 'takes the first match',
    own: 'Always',
    rules: [rule('Terminate', 'In', 9), rule('Restart', 'NotIn')],
    code: 9,
    restarts: false,
  },
  {
    it: 'takes the first match, the other way',
    own: 'Never',
    rules: [rule('Restart', 'NotIn'), rule('Terminate', 'In', 9)],
    code: 9,
    restarts: true,
  },
  {
    it: 'skips a rule without exit codes',
    own: 'Never',
    rules: [{ action: 'Restart' }],
    code: 1,
    restarts: false,
  },
  {
    it: 'restarts a sidecar always',
    pod: 'Never',
    own: 'Always',
    kind: 'sidecar',
    code: 0,
    restarts: true,
  },
  {
    it: 'does not restart a terminated sidecar',
    own: 'Always',
    kind: 'sidecar',
    rules: [rule('Terminate', 'In', 9)],
    code: 9,
    restarts: false,
  },
];

describe('the first rule that matches an exit code', () => {
  const two = [rule('Restart', 'In', 1, 2), rule('RestartAllContainers', 'NotIn', 0)];

  it.each<
    [
      name: string,
      rules: readonly ContainerRestartRule[],
      code: number,
      expected: RuleAction | undefined,
    ]
  >([
    ['In, of its values', [rule('Restart', 'In', 42)], 42, 'Restart'],
    ['In, of no other', [rule('Restart', 'In', 42)], 43, undefined],
    ['NotIn, of another', [rule('Restart', 'NotIn', 0, 1, 2)], 99, 'Restart'],
    ['NotIn, of none of its values', [rule('Restart', 'NotIn', 0, 1, 2)], 1, undefined],
    ['the first of two', two, 2, 'Restart'],
    ['the second of two', two, 3, 'RestartAllContainers'],
    ['neither of two', two, 0, undefined],
    ['no rules', [], 1, undefined],
    ['In nothing', [rule('Restart', 'In')], 0, undefined],
    ['NotIn nothing', [rule('Restart', 'NotIn')], 0, 'Restart'],
    ['a rule without exit codes is skipped', [{ action: 'Terminate' }, ...two], 1, 'Restart'],
    [
      'an operator of a later API is skipped',
      [JSON.parse('{"action": "Terminate", "exitCodes": {"operator": "Between"}}'), ...two],
      1,
      'Restart',
    ],
    ['a success, too', [rule('RestartAllContainers', 'In', 0)], 0, 'RestartAllContainers'],
    ['both names of one action', [rule('RestartPod', 'In', 1)], 1, 'RestartAllContainers'],
  ])('%s', (_, restartPolicyRules, code, expected) => {
    const container: Container = { name: 'c', restartPolicy: 'Never', restartPolicyRules };
    expect(findMatchingRule(container, code)).toBe(expected);
  });

  it.each(['containers', 'initContainers'] as const)('may restart all from %s', (list) => {
    const none = { containers: [{ name: 'a' }] };
    const source: Container = {
      name: 'b',
      restartPolicy: 'Never',
      restartPolicyRules: [rule('RestartAllContainers', 'In', 1)],
    };
    expect(mayRestartAll(none)).toBe(false);
    expect(mayRestartAll({ ...none, [list]: [source] })).toBe(true);
  });
});

const POLICIES = ['Always', 'OnFailure', 'Never'] as const;

describe('what wins, by the rows of docs/reference/restart-rules.md', () => {
  const each = POLICIES.flatMap((pod) =>
    POLICIES.flatMap((own) => [0, 1, 42].map((code) => ({ pod, own, code }))),
  );
  const byPolicy = (policy: RestartPolicy, code: number): boolean =>
    policy === 'Always' || (policy === 'OnFailure' && code !== 0);
  const isRestarted = (pod: RestartPolicy, container: Partial<Container>, code: number): boolean =>
    shouldRestart({ name: 'c', ...container }, 'regular', { restartPolicy: pod }, code);
  const withRule = (own: RestartPolicy, action: ContainerRestartRule['action'], code: number) => ({
    restartPolicy: own,
    restartPolicyRules: [rule(action, 'In', code), rule('Terminate', 'NotIn', code)],
  });

  it.each(each)('no policy of its own: the policy of the Pod, %j', ({ pod, code }) => {
    expect(isRestarted(pod, {}, code)).toBe(byPolicy(pod, code));
  });

  it.each(each)('no rule that matches: its own policy, %j', ({ pod, own, code }) => {
    const rules = { restartPolicyRules: [rule('Restart', 'In', 7), rule('Terminate', 'In', 8)] };
    expect(isRestarted(pod, { restartPolicy: own, ...rules }, code)).toBe(byPolicy(own, code));
  });

  it.each(each)('Restart: started again, %j', ({ pod, own, code }) => {
    const container = withRule(own, 'Restart', code);
    expect(isRestarted(pod, container, code)).toBe(true);
    expect(triggersRestartOfAll({ name: 'c', ...container }, code)).toBe(false);
  });

  it.each(each)('RestartAllContainers and RestartPod: all are, %j', ({ own, code }) => {
    for (const action of ['RestartAllContainers', 'RestartPod'] as const) {
      expect(triggersRestartOfAll({ name: 'c', ...withRule(own, action, code) }, code)).toBe(true);
    }
  });

  it.each(each)('Terminate: it stays ended, %j', ({ pod, own, code }) => {
    expect(isRestarted(pod, withRule(own, 'Terminate', code), code)).toBe(false);
  });
});

describe('a container that ended', () => {
  it.each(CASES)('$it', ({ pod, own, rules, kind = 'regular', code, restarts }) => {
    const container: Container = {
      name: 'c',
      ...(own === undefined ? {} : { restartPolicy: own }),
      ...(rules === undefined ? {} : { restartPolicyRules: rules }),
    };
    const spec = pod === undefined ? {} : { restartPolicy: pod };
    expect(shouldRestart(container, kind, spec, code)).toBe(restarts);
  });

  it.each(['RestartPod', 'RestartAllContainers'] as const)('restarts all on %s', (action) => {
    const container: Container = {
      name: 'c',
      restartPolicy: 'Never',
      restartPolicyRules: [rule(action, 'In', 42)],
    };
    expect(triggersRestartOfAll(container, 42)).toBe(true);
    expect(triggersRestartOfAll(container, 1)).toBe(false);
  });

  it.each([
    ['init', true],
    ['sidecar', true],
    ['regular', false],
  ] as const)('with Terminate as %s container ends the Pod: %s', (kind, ends) => {
    const container: Container = {
      name: 'c',
      restartPolicy: 'Always',
      restartPolicyRules: [rule('Terminate', 'In', 9)],
    };
    expect(terminatesPod(container, kind, 9)).toBe(ends);
  });
});
