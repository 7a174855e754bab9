/** The phase of a Pod from its containers' statuses. */

import type { ContainerRestartRule, PodSpec, RestartPolicy } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { phaseOf } from './pod-phase.ts';
import { statusesOf } from './statuses.fixture.ts';

function rules(action: ContainerRestartRule['action'], value: number) {
  return [{ action, exitCodes: { operator: 'In', values: [value] } }] as const;
}

function phase(spec: PodSpec, words: string, hasEnded = false): string {
  return phaseOf(spec, statusesOf(spec, words), hasEnded);
}

function twoContainers(restartPolicy: RestartPolicy): PodSpec {
  return { restartPolicy, containers: [{ name: 'a' }, { name: 'b' }] };
}

describe('the phase of a Pod of two containers', () => {
  it.each<[policy: RestartPolicy, words: string, expected: string]>([
    ['Always', '- -', 'Pending'],
    ['Always', 'w w', 'Pending'],
    ['Always', 'r w', 'Pending'],
    ['Always', 'r -', 'Pending'],
    ['Always', 'r r', 'Running'],
    ['Always', '0 1', 'Running'],
    ['Always', '1 r', 'Running'],
    ['Always', 'r w1', 'Running'],
    ['Always', 'w0 w1', 'Running'],
    ['OnFailure', '0 0', 'Succeeded'],
    ['OnFailure', '0 1', 'Running'],
    ['OnFailure', '0 w1', 'Running'],
    ['Never', '0 0', 'Succeeded'],
    ['Never', '0 1', 'Failed'],
    ['Never', '1 r', 'Running'],
    ['Never', 'r r', 'Running'],
    ['Never', 'wR wR', 'Running'],
    ['Never', 'TR TR', 'Running'],
  ])('under %s with %s is %s', (policy, words, expected) => {
    expect(phase(twoContainers(policy), words)).toBe(expected);
  });

  it.each([
    ['0 0', 'Succeeded'],
    ['0 1', 'Failed'],
    ['0 w1', 'Failed'],
    ['1 1', 'Failed'],
  ])('once it has ended for good with %s is %s, whatever its policy', (words, expected) => {
    expect(phase(twoContainers('Always'), words, true)).toBe(expected);
  });
});

describe('a container with a policy and rules of its own', () => {
  const spec = (own: RestartPolicy, rule: readonly ContainerRestartRule[] = []): PodSpec => ({
    restartPolicy: 'Never',
    containers: [{ name: 'a', restartPolicy: own, restartPolicyRules: rule }],
  });
  it.each<[name: string, spec: PodSpec, words: string, expected: string]>([
    ['Always keeps the Pod running', spec('Always'), '0', 'Running'],
    ['OnFailure does after a failure', spec('OnFailure'), '1', 'Running'],
    ['OnFailure does not after success', spec('OnFailure'), '0', 'Succeeded'],
    ['a Restart rule that matches does', spec('Never', rules('Restart', 42)), '42', 'Running'],
    ['one that does not match does not', spec('Never', rules('Restart', 42)), '1', 'Failed'],
    ['so does RestartPod', spec('Never', rules('RestartPod', 42)), '42', 'Running'],
    ['Terminate wins over Always', spec('Always', rules('Terminate', 9)), '9', 'Failed'],
  ])('%s', (_, pod, words, expected) => {
    expect(phase(pod, words)).toBe(expected);
  });
});

describe('a Pod with an init container', () => {
  const spec = (restartPolicy: RestartPolicy, own?: RestartPolicy): PodSpec => ({
    restartPolicy,
    initContainers: [{ name: 'i', ...(own === undefined ? {} : { restartPolicy: own }) }],
    containers: [{ name: 'a' }],
  });

  it.each<[spec: PodSpec, words: string, expected: string]>([
    [spec('Never'), '- -', 'Pending'],
    [spec('Never'), 'w w', 'Pending'],
    [spec('Never'), 'r w', 'Pending'],
    [spec('Never'), '0 w', 'Pending'],
    [spec('Never'), '0 r', 'Running'],
    [spec('Never'), '1 w', 'Failed'],
    [spec('Never'), 'w1 w', 'Failed'],
    [spec('Never'), 'TR w', 'Pending'],
    [spec('Never'), 'wR wR', 'Running'],
    [spec('Never'), 'r wR', 'Pending'],
    [spec('OnFailure'), '1 w', 'Pending'],
    [spec('Always'), '1 w', 'Pending'],
    [spec('Always', 'Never'), '1 w', 'Failed'],
    [spec('Never', 'OnFailure'), '1 w', 'Pending'],
  ])('%j with %s is %s', (pod, words, expected) => {
    expect(phase(pod, words)).toBe(expected);
  });
});

describe('a Pod with a sidecar', () => {
  const startupProbe = { exec: { command: ['true'] } };
  const spec = (probe: typeof startupProbe | undefined): PodSpec => ({
    restartPolicy: 'Never',
    initContainers: [
      {
        name: 's',
        restartPolicy: 'Always',
        ...(probe === undefined ? {} : { startupProbe: probe }),
      },
    ],
    containers: [{ name: 'a' }],
  });

  it.each<[name: string, words: string, expected: string]>([
    ['has not been seen', '- -', 'Pending'],
    ['is unknown in part', '- r', 'Pending'],
    ['waits with it', 'w w', 'Pending'],
    ['waits until what follows has started', 'r w', 'Pending'],
    ['waits again when all restart', 'r wR', 'Pending'],
    ['does not wait when what follows crashes', 'r w1', 'Running'],
    ['runs with it', 'r r', 'Running'],
    ['is running when it crashes', '1 r', 'Running'],
    ['does not fail with it', '1 0', 'Succeeded'],
    ['goes on until it is down', 'r 0', 'Running'],
  ])('%s', (_, words, expected) => {
    expect(phase(spec(undefined), words)).toBe(expected);
  });

  it('with a startup probe is pending until that succeeds, and running after', () => {
    expect(phase(spec(startupProbe), 'u wR')).toBe('Pending');
    expect(phase(spec(startupProbe), 'r wR')).toBe('Running');
    expect(phase(spec(startupProbe), 'u r')).toBe('Running');
  });
});
