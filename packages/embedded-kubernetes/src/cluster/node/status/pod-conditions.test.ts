/** The conditions of a Pod, with the reasons and texts of a kubelet. */

import type { ConditionStatus } from '@lockstep/kube/meta.ts';
import type { Pod, PodCondition, PodPhase, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { type ConditionFacts, podConditions } from './pod-conditions.ts';
import { statusesOf } from './statuses.fixture.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T00:01:00Z';

const SPEC: PodSpec = {
  restartPolicy: 'Never',
  initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }],
  containers: [
    {
      name: 'a',
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'NotIn' } }],
    },
    { name: 'b' },
  ],
};

interface Given extends Partial<Omit<ConditionFacts, 'pod' | 'statuses'>> {
  readonly words: string;
  readonly spec?: PodSpec;
  /** Conditions in the API, from any writer. */
  readonly others?: readonly PodCondition[];
}

function conditions({
  words,
  spec = SPEC,
  others = [],
  ...given
}: Given): ReadonlyMap<string, PodCondition> {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generation: 2 },
    spec,
    status: { conditions: others },
  };
  const list = podConditions({
    pod,
    statuses: statusesOf(spec, words),
    phase: 'Running',
    isPrepared: true,
    preparationProblem: undefined,
    isRestartingAll: false,
    previous: [],
    now: NOW,
    ...given,
  });
  return new Map(list.map((condition) => [condition.type, condition]));
}

function text(condition: PodCondition | undefined): string | undefined {
  if (condition === undefined) return undefined;
  return [condition.status, condition.reason, condition.message].filter(Boolean).join(' ');
}

function was(type: string, status: ConditionStatus): readonly PodCondition[] {
  return [{ type, status, lastTransitionTime: BEFORE }];
}

describe('AllContainersRestarting', () => {
  const STARTED = 'True RestartAllContainersStarted container exited with restart policy rule';

  it.each<[name: string, phase: PodPhase, isRestartingAll: boolean, expected: string]>([
    ['nothing has run yet', 'Pending', false, 'False'],
    ['a rule has asked for it', 'Running', true, STARTED],
    ['that goes on', 'Pending', true, STARTED],
    ['all are removed', 'Running', false, 'False'],
    ['the Pod has failed', 'Failed', false, 'False PodFailed'],
    ['the Pod has failed meanwhile', 'Failed', true, 'False PodFailed'],
    ['the Pod has succeeded', 'Succeeded', false, 'False PodCompleted'],
  ])('when %s', (_, phase, isRestartingAll, expected) => {
    const given = { words: '0 r 0 0', phase, isRestartingAll };
    expect(text(conditions(given).get('AllContainersRestarting'))).toBe(expected);
  });

  it('is there only where a rule can ask for it, and of no generation', () => {
    const spec = { containers: [{ name: 'a' }] };
    expect(conditions({ words: 'r', spec }).has('AllContainersRestarting')).toBe(false);
    const all = conditions({ words: '0 r r r' });
    expect(all.get('AllContainersRestarting')?.observedGeneration).toBeUndefined();
    expect(all.get('Ready')?.observedGeneration).toBe(2);
  });
});

describe('Initialized', () => {
  const incomplete = (names: string) =>
    `False ContainersNotInitialized containers with incomplete status: [${names}]`;

  it.each<[name: string, given: Given, expected: string]>([
    ['nothing has run', { words: 'w w w w' }, incomplete('i s')],
    ['the sidecar has not started', { words: '0 u w w' }, incomplete('s')],
    ['all have done their part', { words: '0 r w w' }, 'True'],
    ['a container runs although a sidecar does not', { words: '0 1 r r' }, 'True'],
    [
      'all restart after that',
      { words: 'wR wR wR wR', previous: was('Initialized', 'True') },
      'True',
    ],
    ['the Pod has succeeded', { words: '0 0 0 0', phase: 'Succeeded' }, 'True PodCompleted'],
  ])('when %s', (_, given, expected) => {
    expect(text(conditions(given).get('Initialized'))).toBe(expected);
  });
});

describe.each(['Ready', 'ContainersReady'])('%s', (type) => {
  const unready = (names: string) =>
    `False ContainersNotReady containers with unready status: [${names}]`;

  it.each<[name: string, given: Given, expected: string]>([
    ['all run', { words: '0 r r r' }, 'True'],
    ['one does not', { words: '0 r r w1' }, unready('b')],
    ['a sidecar does not', { words: '0 u r r' }, unready('s')],
    ['all restart', { words: 'wR wR wR wR', isRestartingAll: true }, unready('s a b')],
    ['the Pod has failed', { words: '0 r 1 1', phase: 'Failed' }, 'False PodFailed'],
    ['the Pod has succeeded', { words: '0 r 0 0', phase: 'Succeeded' }, 'False PodCompleted'],
  ])('when %s', (_, given, expected) => {
    expect(text(conditions(given).get(type))).toBe(expected);
  });
});

describe('a readiness gate', () => {
  const spec: PodSpec = { ...SPEC, readinessGates: [{ conditionType: 'example.com/up' }] };
  const withGate = (status?: ConditionStatus): string | undefined => {
    const others = status === undefined ? [] : [{ type: 'example.com/up', status }];
    return text(conditions({ words: '0 r r r', spec, others }).get('Ready'));
  };

  it('keeps a Pod from being ready until somebody has opened it', () => {
    expect(withGate('True')).toBe('True');
    expect(withGate('False')).toBe(
      'False ReadinessGatesNotReady the status of pod readiness gate "example.com/up" is not "True", but False',
    );
    expect(withGate()).toBe(
      'False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/up" does not exist.',
    );
  });

  it('says nothing of the containers', () => {
    const all = conditions({ words: '0 r r r', spec });
    expect(text(all.get('ContainersReady'))).toBe('True');
    const unready = conditions({ words: '0 r r w1', spec });
    expect(unready.get('Ready')?.reason).toBe('ContainersNotReady');
  });
});

describe('PodReadyToStartContainers', () => {
  it('says why not', () => {
    const given = { words: 'w w w w', isPrepared: false, preparationProblem: 'no address' };
    const condition = conditions(given).get('PodReadyToStartContainers');
    expect(condition).toMatchObject({
      status: 'False',
      message: expect.stringContaining('no address'),
    });
  });

  it('stays while all containers restart', () => {
    const given = { words: 'wR wR wR wR', isRestartingAll: true };
    expect(text(conditions(given).get('PodReadyToStartContainers'))).toBe('True');
  });
});

describe('a condition', () => {
  it.each<[was: ConditionStatus, since: string]>([
    ['True', BEFORE],
    ['False', NOW],
  ])('that was %s and is True is so since %s', (status, since) => {
    const all = conditions({ words: '0 r r r', previous: was('Ready', status) });
    expect(all.get('Ready')?.lastTransitionTime).toBe(since);
  });
});
