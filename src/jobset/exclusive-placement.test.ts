import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import {
  followerProblem,
  leaderAmong,
  placedFollower,
  placedLeader,
  placementRole,
  planRepair,
  withPriorityLabel,
} from './exclusive-placement.ts';

const TOPOLOGY = 'example.com/rack';
const JOBSET_NAME = 'jobset.sigs.k8s.io/jobset-name';
const JOB_KEY = 'jobset.sigs.k8s.io/job-key';
const PRIORITY = 'jobset.sigs.k8s.io/priority';
const EXCLUSIVE = 'alpha.jobset.sigs.k8s.io/exclusive-topology';
const NODE_SELECTOR = 'alpha.jobset.sigs.k8s.io/node-selector';
const INDEX = 'batch.kubernetes.io/job-completion-index';

interface PodOptions {
  readonly index?: string;
  readonly annotations?: StringMap;
  readonly labels?: StringMap;
  readonly spec?: Partial<PodSpec>;
  readonly phase?: 'Running' | 'Failed' | 'Succeeded';
  readonly isDeleting?: boolean;
  readonly owner?: string | undefined;
}

/** A Pod of Job `train-w-0` of an exclusive JobSet. */
function podOf(options: PodOptions = {}): Pod {
  const { index = '0', annotations = {}, labels = {}, spec, phase, isDeleting } = options;
  const owner = 'owner' in options ? options.owner : 'job-1';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `train-w-0-${index}-x7k2p`,
      namespace: 'ns',
      annotations: {
        [JOBSET_NAME]: 'train',
        [EXCLUSIVE]: TOPOLOGY,
        [INDEX]: index,
        ...annotations,
      },
      labels: {
        [JOBSET_NAME]: 'train',
        'jobset.sigs.k8s.io/replicatedjob-name': 'w',
        'jobset.sigs.k8s.io/job-index': '0',
        [JOB_KEY]: 'key',
        ...labels,
      },
      ...(isDeleting === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(owner === undefined
        ? {}
        : {
            ownerReferences: [
              {
                apiVersion: 'batch/v1',
                kind: 'Job',
                name: 'train-w-0',
                uid: owner,
                controller: true,
              },
            ],
          }),
    },
    spec: { containers: [], ...spec },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

const scheduled = { nodeName: 'node-1' };
const inRack = (rack: string) => ({ nodeSelector: { [TOPOLOGY]: rack } });

describe('6.2 the Pod mutating webhook', () => {
  test.each<[string, PodOptions, string]>([
    ['index 0 leads', {}, 'Leader'],
    ['any other index follows', { index: '1' }, 'Follower'],
    ['the node-selector strategy is left alone', { annotations: { [NODE_SELECTOR]: 'x' } }, 'Free'],
  ])('%s', (_, options, kind) => {
    expect(placementRole(podOf(options)).kind).toBe(kind);
  });

  test('Pods without a topology, and Pods of no JobSet, are left alone', () => {
    const { metadata, ...rest } = podOf();
    const { [EXCLUSIVE]: _, ...notExclusive } = metadata.annotations ?? {};
    const { [JOBSET_NAME]: __, ...noJobSet } = metadata.annotations ?? {};
    for (const annotations of [notExclusive, noJobSet]) {
      expect(placementRole({ ...rest, metadata: { ...metadata, annotations } }).kind).toBe('Free');
    }
  });

  test.each([
    [0, '0'],
    [1000, '1000'],
    // A negative priority gets a valid label value.
    [-1, 'n1'],
    [-2_147_483_648, 'n2147483648'],
  ])('priority %d is shown as label %j', (priority, label) => {
    const labels = withPriorityLabel(podOf({ spec: { priority } })).metadata.labels;
    expect(labels?.[PRIORITY]).toBe(label);
    expect(labels?.[JOB_KEY]).toBe('key');
  });

  test('no priority, no JobSet or the node-selector strategy: no label', () => {
    const selected = podOf({ spec: { priority: 1 }, annotations: { [NODE_SELECTOR]: '' } });
    const stranger: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: { containers: [], priority: 1 },
    };
    for (const pod of [podOf(), selected, stranger]) expect(withPriorityLabel(pod)).toBe(pod);
  });

  test('a leader attracts its own Job and repels others of its priority, everywhere', () => {
    const pod = podOf({ labels: { [PRIORITY]: '7' } });
    const own = { key: JOB_KEY, operator: 'In', values: ['key'] };
    expect(placedLeader(pod, TOPOLOGY).spec.affinity).toEqual({
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            labelSelector: { matchExpressions: [own] },
            topologyKey: TOPOLOGY,
          },
        ],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            labelSelector: {
              matchExpressions: [
                { key: JOB_KEY, operator: 'Exists' },
                { key: JOB_KEY, operator: 'NotIn', values: ['key'] },
                { key: PRIORITY, operator: 'In', values: ['7'] },
              ],
            },
            topologyKey: TOPOLOGY,
            namespaceSelector: {},
          },
        ],
      },
    });
  });

  test('affinity terms of the template are kept', () => {
    const required = [{ labelSelector: {}, topologyKey: 'zone' }];
    const preferred = [{ weight: 1, podAffinityTerm: { topologyKey: 'zone' } }];
    const nodeAffinity = {};
    const affinity = {
      nodeAffinity,
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred },
    };
    const placed = placedLeader(podOf({ spec: { affinity } }), TOPOLOGY).spec.affinity;
    expect(placed?.nodeAffinity).toBe(nodeAffinity);
    const attraction = placed?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    expect(attraction?.map((term) => term.topologyKey)).toEqual(['zone', TOPOLOGY]);
    expect(placed?.podAntiAffinity).toMatchObject(affinity.podAntiAffinity);
  });

  test('a follower keeps its selectors and gets the topology', () => {
    const pod = podOf({ index: '3', spec: { nodeSelector: { gpu: 'yes' } } });
    const { nodeSelector } = placedFollower(pod, TOPOLOGY, 'rack-2').spec;
    expect(nodeSelector).toEqual({ gpu: 'yes', [TOPOLOGY]: 'rack-2' });
  });

  const transient = 'this is an expected, transient error';
  const none = `expected 1 leader pod (train-w-0-0), but got 0. ${transient}`;
  test.each<[string, PodOptions, readonly PodOptions[], string | undefined]>([
    ['the living leader', {}, [{}], undefined],
    ['one that failed is ignored', {}, [{ phase: 'Failed' }, {}], undefined],
    ['nobody', {}, [], none],
    ['only followers', {}, [{ index: '2' }], none],
    ['one that is being deleted', {}, [{ isDeleting: true }], none],
    ['one that succeeded', {}, [{ phase: 'Succeeded' }], undefined],
    ['one that failed', {}, [{ phase: 'Failed' }], none],
    ['two', {}, [{}, {}], `expected 1 leader pod (train-w-0-0), but got 2. ${transient}`],
    [
      'the leader of a former Job',
      {},
      [{ owner: 'job-0' }],
      'follower pod owner UID (job-1) != leader pod owner UID (job-0)',
    ],
    [
      'a follower without an owner',
      { owner: undefined },
      [{}],
      'follower pod has no owner reference',
    ],
    [
      'a leader without an owner',
      {},
      [{ owner: undefined }],
      'leader pod "train-w-0-0-x7k2p" has no owner reference',
    ],
  ])('finding the leader: %s', (_, follower, pods, why) => {
    const finding = leaderAmong(podOf({ index: '1', ...follower }), pods.map(podOf));
    expect(finding.kind === 'NoLeader' ? finding.why : undefined).toBe(why);
  });

  test.each([JOBSET_NAME, 'jobset.sigs.k8s.io/replicatedjob-name', 'jobset.sigs.k8s.io/job-index'])(
    'a follower without label %s has no leader',
    (key) => {
      const pod = podOf({ index: '1' });
      const { [key]: _, ...labels } = pod.metadata.labels ?? {};
      const follower = { ...pod, metadata: { ...pod.metadata, labels } };
      const why = `pod missing label: ${key}`;
      expect(leaderAmong(follower, [podOf()])).toEqual({ kind: 'NoLeader', why });
    },
  );
});

describe('6.3 the Pod validating webhook', () => {
  const leader = { kind: 'Leader', leader: podOf({ spec: scheduled }) } as const;
  test.each([
    ['no selector', {}, leader, 'follower pod node selector not set'],
    [
      'a selector without the topology',
      { nodeSelector: { gpu: 'yes' } },
      leader,
      `follower pod node selector for topology domain not found. missing selector: ${TOPOLOGY}`,
    ],
    ['no leader', inRack('a'), { kind: 'NoLeader', why: 'nobody' } as const, 'nobody'],
    [
      'a leader without a node',
      inRack('a'),
      { kind: 'Leader', leader: podOf() } as const,
      'leader pod not yet scheduled, not creating follower pod. this is an expected, transient error',
    ],
    ['all is there', inRack('a'), leader, undefined],
  ])('%s', (_, spec, finding, problem) => {
    expect(followerProblem(podOf({ index: '1', spec }), TOPOLOGY, finding)).toBe(problem);
  });
});

describe('6.4 the repair', () => {
  const leader = podOf({ spec: scheduled });
  const node = (labels: StringMap) => ({ metadata: { name: 'node-1', labels } });
  const rackA = node({ [TOPOLOGY]: 'a' });
  const follower = (index: string, rack: string, more: PodOptions = {}) =>
    podOf({ index, spec: inRack(rack), ...more });

  test('deletes all living followers if one is out of place, never the leader', () => {
    const followers = [follower('1', 'a'), follower('2', 'b')];
    const ended = follower('3', 'b', { phase: 'Succeeded' });
    const foreign = follower('4', 'b', { owner: 'job-0' });
    const pods = [leader, ...followers, ended, foreign];
    expect(planRepair(leader, TOPOLOGY, pods, rackA)).toEqual({
      kind: 'Delete',
      topology: 'a',
      followers,
    });
  });

  test.each<[string, readonly Pod[], ReturnType<typeof node> | undefined, string | undefined]>([
    ['all in place', [follower('1', 'a'), follower('2', 'a')], rackA, undefined],
    ['there are no followers yet', [], undefined, undefined],
    [
      'only ended or ending Pods are out of place',
      [follower('1', 'b', { phase: 'Failed' }), follower('2', 'b', { isDeleting: true })],
      rackA,
      undefined,
    ],
    [
      'the node is gone',
      [follower('1', 'a')],
      undefined,
      'leader topology is unknown (node not found)',
    ],
    [
      'the node lost its label',
      [follower('1', 'a')],
      node({}),
      `node does not have topology label: ${TOPOLOGY}`,
    ],
  ])('deletes nothing: %s', (_, followers, at, why) => {
    const repair = planRepair(leader, TOPOLOGY, [leader, ...followers], at);
    expect(repair).toEqual(why === undefined ? { kind: 'None' } : { kind: 'Undecided', why });
  });

  test('a follower without the selector is out of place', () => {
    const pods = [leader, podOf({ index: '1' })];
    expect(planRepair(leader, TOPOLOGY, pods, rackA).kind).toBe('Delete');
  });

  test('Pods of the node-selector strategy are never repaired', () => {
    const annotations = { [NODE_SELECTOR]: 'x' };
    const pods = [podOf({ annotations, spec: scheduled }), podOf({ index: '1', annotations })];
    expect(planRepair(leader, TOPOLOGY, pods, rackA)).toEqual({ kind: 'None' });
  });
});
