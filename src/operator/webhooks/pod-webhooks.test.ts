import type { StringMap } from '@lockstep/kube/meta.ts';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import type { LeaderFinding } from '../../jobset/exclusive-placement.ts';
import { EXCLUSIVE_TOPOLOGY, JOBSET_NAME, PRIORITY } from '../../jobset/names.ts';
import type { PodLookups } from '../pod-placement/pod-lookups.ts';
import type { AdmissionAnswer } from './admission-handler.ts';
import { nodeAvoider, podMutator, podValidator } from './pod-webhooks.ts';

const RACK = 'rack';
const EXCLUSIVE = { [JOBSET_NAME]: 'train', [EXCLUSIVE_TOPOLOGY]: RACK };

function podOf(annotations: StringMap, nodeSelector?: StringMap): Pod {
  const selector = nodeSelector === undefined ? {} : { nodeSelector };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'train-w-0-1-', annotations },
    spec: { containers: [], priority: -5, ...selector },
  };
}

const follower = { ...EXCLUSIVE, [COMPLETION_INDEX]: '1' };

function request(object: Pod, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const { group, version, kind, plural } = PODS;
  return {
    uid: 'u',
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    namespace: 'ns',
    operation: 'CREATE',
    userInfo: {},
    object,
    ...more,
  };
}

/** A cluster whose leader is on `nodeName`; nodes by name with their labels. */
function cluster(nodeName: string | undefined, nodes: Readonly<Record<string, StringMap>> = {}) {
  const asked: string[] = [];
  const spec = nodeName === undefined ? {} : { spec: { nodeName } };
  const leader = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'leader' }, ...spec };
  return {
    asked,
    leaderOf: async (_: Pod, namespace: string): Promise<LeaderFinding> => {
      asked.push(namespace);
      return { kind: 'Leader', leader };
    },
    node: async (name: string) => {
      const labels = nodes[name];
      return labels === undefined ? undefined : { metadata: { name, labels } };
    },
    avoidedNodes: async () => [],
  };
}

const noLeader: PodLookups = {
  leaderOf: async () => ({ kind: 'NoLeader', why: 'there is no leader' }),
  node: async () => undefined,
  avoidedNodes: async () => [],
};
const never: PodLookups = {
  leaderOf: () => Promise.reject(new Error('asked for a leader')),
  node: () => Promise.reject(new Error('asked for a node')),
  avoidedNodes: () => Promise.reject(new Error('asked for avoided nodes')),
};
const { signal } = new AbortController();

const changedPod = (answer: AdmissionAnswer) =>
  answer.kind === 'Allowed' ? (answer.object as Pod | undefined) : undefined;
const denial = (answer: AdmissionAnswer) =>
  answer.kind === 'Denied' ? [answer.status.code, answer.status.message] : undefined;

describe('6.2 the mutating webhook', () => {
  const mutate = (lookups: PodLookups, pod: Pod, more: Partial<AdmissionRequest> = {}) =>
    podMutator(lookups)(request(pod, more), signal);

  test('a Pod of no JobSet is left as it is', async () => {
    expect(await mutate(never, podOf({}))).toEqual({ kind: 'Allowed' });
  });

  test('a Pod without a topology gets its label, and nothing is asked', async () => {
    const pod = changedPod(await mutate(never, podOf({ [JOBSET_NAME]: 'train' })));
    expect(pod?.metadata.labels).toEqual({ [PRIORITY]: 'n5' });
    expect(pod?.spec.affinity).toBeUndefined();
  });

  test('a leader gets affinity in terms of its label, and nothing is asked', async () => {
    const pod = changedPod(await mutate(never, podOf({ ...EXCLUSIVE, [COMPLETION_INDEX]: '0' })));
    const [term] =
      pod?.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(term?.labelSelector?.matchExpressions).toContainEqual({
      key: PRIORITY,
      operator: 'In',
      values: ['n5'],
    });
  });

  test("a follower goes to its leader's topology", async () => {
    const lookups = cluster('n1', { n1: { [RACK]: 'r7' } });
    const pod = changedPod(await mutate(lookups, podOf(follower, { gpu: 'a' })));
    expect(pod?.spec.nodeSelector).toEqual({ gpu: 'a', [RACK]: 'r7' });
    expect(lookups.asked).toEqual(['ns']);
  });

  test.each([
    ['no leader', noLeader],
    ['a leader without a node', cluster(undefined)],
  ])('a follower with %s passes, for the other webhook to refuse', async (_, lookups) => {
    const pod = changedPod(await mutate(lookups, podOf(follower)));
    expect(pod?.spec.nodeSelector).toBeUndefined();
    expect(pod?.metadata.labels).toEqual({ [PRIORITY]: 'n5' });
  });

  test.each([
    ['a node that is gone', cluster('n1'), 'nodes "n1" not found'],
    [
      'a node without the label',
      cluster('n1', { n1: {} }),
      'node does not have topology label: rack',
    ],
  ])('a follower of a leader on %s is refused', async (_, lookups, message) => {
    expect(denial(await mutate(lookups, podOf(follower)))).toEqual([403, message]);
  });

  test.each<Partial<AdmissionRequest>>([
    { operation: 'UPDATE' },
    { subResource: 'binding' },
    { resource: { group: 'batch', version: 'v1', resource: 'jobs' } },
  ])('requests that create no Pod pass: %o', async (more) => {
    expect(await mutate(never, podOf(follower), more)).toEqual({ kind: 'Allowed' });
  });

  test('an API that cannot be asked is no refusal', async () => {
    await expect(mutate(never, podOf(follower))).rejects.toThrow('asked for a leader');
  });
});

describe('6.3 the validating webhook', () => {
  const validate = (lookups: PodLookups, pod: Pod, more: Partial<AdmissionRequest> = {}) =>
    podValidator(lookups)(request(pod, more), signal);
  const placed = podOf(follower, { [RACK]: 'r7' });

  test.each([
    ['no selector', noLeader, podOf(follower), 'follower pod node selector not set'],
    ['no leader', noLeader, placed, 'there is no leader'],
    [
      'a leader without a node',
      cluster(undefined),
      placed,
      'leader pod not yet scheduled, not creating follower pod. this is an expected, transient error',
    ],
  ])('a follower with %s is refused', async (_, lookups, pod, message) => {
    expect(denial(await validate(lookups, pod))).toEqual([403, message]);
  });

  test('a follower that was placed passes', async () => {
    expect(await validate(cluster('n1'), placed)).toEqual({ kind: 'Allowed' });
  });

  test.each([
    ['a leader', podOf({ ...EXCLUSIVE, [COMPLETION_INDEX]: '0' }), {}],
    ['a Pod without a topology', podOf({ [JOBSET_NAME]: 'train' }), {}],
    ['an update', podOf(follower), { operation: 'UPDATE' } as const],
  ])('%s passes unasked', async (_, pod, more) => {
    expect(await validate(never, pod, more)).toEqual({ kind: 'Allowed' });
  });
});

describe('the webhook that keeps Pods away from nodes', () => {
  const lookups = (...nodes: string[]): PodLookups => ({
    ...never,
    avoidedNodes: async () => nodes,
  });
  const admit = async (pod: Pod, ...nodes: string[]) =>
    changedPod(await nodeAvoider(lookups(...nodes))(request(pod), signal)) ?? pod;
  const AWAY = {
    weight: 100,
    preference: {
      matchFields: [
        { key: 'metadata.name', operator: 'NotIn', values: ['n1'] },
        { key: 'metadata.name', operator: 'NotIn', values: ['n2'] },
      ],
    },
  };
  const ZONE = { key: 'zone', operator: 'In', values: ['z'] } as const;
  const OTHER = { weight: 5, preference: { matchExpressions: [ZONE] } };
  const choosy: Pod = {
    ...podOf({}, { gpu: 'a' }),
    spec: {
      containers: [],
      nodeSelector: { gpu: 'a' },
      affinity: {
        podAntiAffinity: {},
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [ZONE] }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [OTHER],
        },
      },
    },
  };

  test('adds one preference, and leaves everything else that the Pod says', async () => {
    expect(await admit(choosy, 'n1', 'n2')).toEqual({
      ...choosy,
      spec: {
        ...choosy.spec,
        affinity: {
          ...choosy.spec.affinity,
          nodeAffinity: {
            ...choosy.spec.affinity?.nodeAffinity,
            preferredDuringSchedulingIgnoredDuringExecution: [OTHER, AWAY],
          },
        },
      },
    });
    expect((await admit(podOf({}), 'n1', 'n2')).spec.affinity).toEqual({
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [AWAY] },
    });
  });

  test('adds it once, and none where no node is avoided', async () => {
    const once = await admit(choosy, 'n1', 'n2');
    expect(await admit(once, 'n1', 'n2')).toBe(once);
    expect(await admit(choosy)).toBe(choosy);
  });

  test('names at most sixteen nodes, the newest', async () => {
    const nodes = Array.from({ length: 20 }, (_, i) => `n${i}`);
    const [term] =
      (await admit(podOf({}), ...nodes)).spec.affinity?.nodeAffinity
        ?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(term?.preference.matchFields?.map(({ values }) => values?.[0])).toEqual(
      nodes.slice(0, 16),
    );
  });

  test('asks nothing about requests that create no Pod', async () => {
    const answer = nodeAvoider(never)(request(podOf({}), { operation: 'UPDATE' }), signal);
    expect(await answer).toEqual({ kind: 'Allowed' });
  });
});
