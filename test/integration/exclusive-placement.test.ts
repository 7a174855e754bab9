import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../../src/cluster/memory-cluster.fixture.ts';
import { type FailurePolicy, JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { EXCLUSIVE_TOPOLOGY, JOBSET_NAME } from '../../src/jobset/names.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import type { Stored, StringMap } from '../../src/kube/meta.ts';
import type { AdmissionRequest } from '../../src/kube/objects/admission-webhooks.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/kube/objects/custom-resource-definition.ts';
import { EVENTS } from '../../src/kube/objects/event.ts';
import { COMPLETION_INDEX, JOB_NAME_LABEL } from '../../src/kube/objects/job.ts';
import { NODES } from '../../src/kube/objects/node.ts';
import { PODS, type Pod } from '../../src/kube/objects/pod.ts';
import { failure } from '../../src/kube/status.ts';
import { actOn, type Operator } from '../../src/operator/operator.ts';
import { startPodLookups } from '../../src/operator/pod-placement/pod-lookups.ts';
import { type OperatorCaches, startCaches } from '../../src/operator/tracking/caches.ts';
import { nodeAvoider, podMutator, podValidator } from '../../src/operator/webhooks/pod-webhooks.ts';
import { sha1 } from '../../src/runtime/adapters/sha1.ts';
import { SeededRandom } from '../../src/runtime/memory/seeded-random.ts';
import { SILENT } from '../../src/runtime/ports/logger.ts';
import type { HttpResponse } from '../../src/runtime/ports/transport.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';

/** Exclusive placement on a cluster in memory: 8 nodes in 4 racks. */
const RACK = 'rack';
const NODE_COUNT = 8;
/** The first Jobs get other racks. */
const EMPTY = 'rack-3';

/** What happens to a Pod after the webhooks. */
let tamper: (pod: Pod) => Pod;
let cluster: MemoryCluster;
let caches: OperatorCaches;
let operator: Operator;
let lookups: ReturnType<typeof startPodLookups>;

beforeEach(async () => {
  tamper = (pod) => pod;
  cluster = new MemoryCluster();
  await cluster.start();
  for (let i = 0; i < NODE_COUNT; i++) {
    await cluster.addNode(`node-${i}`, {}, { [RACK]: `rack-${i >> 1}` });
  }
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  const { client, clock } = cluster;
  const options = { client, clock, random: new SeededRandom(3), logger: SILENT };
  caches = startCaches(options);
  lookups = startPodLookups({ ...options, caches: () => caches });
  admitPods();
  await reached(caches.whenSynced());
  operator = actOn(caches, { ...options, sha1, config: { agentImage: 'agent' } });
});

afterEach(async () => {
  await reached(operator.stop());
  await reached(lookups.stop());
  await reached(caches.stop());
  await cluster.stop();
});

async function reached<T>(work: Promise<T>): Promise<T> {
  let hasEnded = false;
  const ended = work.finally(() => {
    hasEnded = true;
  });
  await cluster.clock.runUntil(() => hasEnded, 60_000);
  return ended;
}

/** Lets every Pod that the Job controller makes pass the webhooks, as an API server does. */
function admitPods(): void {
  const handlers = [podMutator(lookups), nodeAvoider(lookups), podValidator(lookups)];
  const { signal } = new AbortController();
  cluster.intercept = async (http, send) => {
    if (http.method !== 'POST' || !/\/namespaces\/[^/]+\/pods(\?|$)/.test(http.path)) return send();
    let pod: Pod = JSON.parse(new TextDecoder().decode(http.body));
    pod = { ...pod, spec: { ...pod.spec, priority: 0 } };
    for (const handler of handlers) {
      const answer = await handler(reviewOf(pod), signal);
      if (answer.kind === 'Denied') return refusal(answer.status.message ?? '');
      pod = (answer.object as Pod | undefined) ?? pod;
    }
    return cluster.send({ ...http, body: Buffer.from(JSON.stringify(tamper(pod))) });
  };
}

function reviewOf(object: Pod): AdmissionRequest {
  const { group, version, kind, plural } = PODS;
  return {
    uid: 'review',
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    namespace: 'default',
    operation: 'CREATE',
    userInfo: {},
    object,
  };
}

function refusal(message: string): HttpResponse {
  const { status } = failure('Forbidden', message);
  return {
    status: status.code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(status)),
  };
}

async function createJobSet(
  jobs: number,
  pods: number,
  name = 'train',
  more: { readonly annotations?: StringMap; readonly failurePolicy?: FailurePolicy } = {},
): Promise<void> {
  const job = replicatedJob('w', pods, jobs);
  const { annotations, failurePolicy } = more;
  const jobSet: JobSet = {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name,
      namespace: 'default',
      annotations: { [EXCLUSIVE_TOPOLOGY]: RACK, ...annotations },
    },
    spec: { replicatedJobs: [job], failurePolicy: { maxRestarts: 3, ...failurePolicy } },
  };
  await cluster.client.create(JOBSETS, jobSet);
}

/** The racks of each Job's living Pods. */
async function racksByJob(pods: readonly Stored<Pod>[]): Promise<ReadonlyMap<string, Set<string>>> {
  const { items: nodes } = await cluster.client.list(NODES);
  const rackOf = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[RACK]]));
  const racks = new Map<string, Set<string>>();
  for (const { metadata, spec } of pods) {
    const job = metadata.labels?.[JOB_NAME_LABEL] ?? '';
    const rack = rackOf.get(spec.nodeName ?? '') ?? 'none';
    racks.set(job, (racks.get(job) ?? new Set()).add(rack));
  }
  return racks;
}

async function expectOneRackEach(pods: readonly Stored<Pod>[], jobs: number): Promise<void> {
  const racks = [...(await racksByJob(pods)).values()];
  expect(racks.map((of) => of.size)).toEqual(Array(jobs).fill(1));
  expect(new Set(racks.flatMap((of) => [...of])).size).toBe(jobs);
}

test('each Job ends alone in a rack, its followers with the leader', async () => {
  await createJobSet(4, 3);
  const pods = await cluster.running(12);
  await expectOneRackEach(pods, 4);
  const followers = pods.filter(({ metadata }) => metadata.labels?.[COMPLETION_INDEX] !== '0');
  for (const { spec } of followers) expect(Object.keys(spec.nodeSelector ?? {})).toEqual([RACK]);

  // A fifth Job finds no free rack, and reports it.
  await createJobSet(1, 2, 'late');
  const late = async () =>
    (await cluster.pods()).filter(({ metadata }) => metadata.labels?.[JOBSET_NAME] === 'late');
  await cluster.until(async () => {
    const conditions = (await late())[0]?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'PodScheduled' && status === 'False');
  });
  const [leader] = await late();
  expect(leader?.status?.conditions?.[0]?.message).toBe(
    "0/8 nodes are available: 8 node(s) didn't match pod anti-affinity rules.",
  );
  // Its follower is refused until the leader has a node, and the Job controller says why.
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  const notes = items.filter(({ reason }) => reason === 'FailedCreate').map(({ note }) => note);
  expect(notes.some((note) => note?.includes('follower pod node selector not set'))).toBe(true);

  // It gets the first rack that is free.
  await cluster.client.delete(JOBSETS, { namespace: 'default', name: 'train' });
  await cluster.until(async () => {
    const pods = await late();
    return pods.length === 2 && pods.every(({ status }) => status?.phase === 'Running');
  });
  await expectOneRackEach(await late(), 1);
});

test('a follower in the wrong rack: only the followers of its Job are recreated', async () => {
  // The webhooks saw a leader that is gone by now: the follower goes to its old rack.
  let misplaced: string | undefined;
  tamper = (pod) => {
    const { [RACK]: rack } = pod.spec.nodeSelector ?? {};
    const { labels } = pod.metadata;
    if (misplaced !== undefined || rack === undefined || labels?.[COMPLETION_INDEX] !== '2') {
      return pod;
    }
    misplaced = labels[JOB_NAME_LABEL];
    return {
      ...pod,
      spec: { ...pod.spec, nodeSelector: { [RACK]: rack === EMPTY ? 'rack-2' : EMPTY } },
    };
  };
  await createJobSet(2, 3);
  const before = await cluster.running(6);
  const ofJob = (pods: readonly Stored<Pod>[]) =>
    pods.filter(({ metadata }) => metadata.labels?.[JOB_NAME_LABEL] === misplaced);
  expect((await racksByJob(before)).get(misplaced ?? '')?.size).toBe(2);

  await cluster.until(async () => {
    const pods = await cluster.pods();
    const racks = [...(await racksByJob(pods)).values()];
    const isRunning = pods.every(({ status }) => status?.phase === 'Running');
    return pods.length === 6 && isRunning && racks.every(({ size }) => size === 1);
  });
  const after = await cluster.pods();
  await expectOneRackEach(after, 2);
  const kept = new Set(before.map(({ metadata }) => metadata.uid));
  const indexOfKept = ofJob(after)
    .filter(({ metadata }) => kept.has(metadata.uid))
    .map(({ metadata }) => metadata.labels?.[COMPLETION_INDEX]);
  expect(indexOfKept).toEqual(['0']);
  const others = after.filter((pod) => !ofJob(after).includes(pod));
  expect(others.every(({ metadata }) => kept.has(metadata.uid))).toBe(true);

  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  const repair = items.find(({ reason }) => reason === 'ExclusivePlacementViolation');
  expect(repair?.regarding).toMatchObject({ kind: 'Job', name: misplaced });
  expect(repair?.note).toContain('deleting 2 follower pods');
});

test.each(['0', '1'])('member %s leaves its node for the other one of its rack', async (index) => {
  await createJobSet(1, 2, 'train', {
    annotations: { 'lockstep/replace-after': '3/1h' },
    failurePolicy: { restartStrategy: 'InPlaceRestart' },
  });
  const before = await cluster.running(2);
  const leaving = before.find(({ metadata }) => metadata.labels?.[COMPLETION_INDEX] === index);
  const { name = '', uid } = leaving?.metadata ?? {};
  const { nodeName: node = '' } = leaving?.spec ?? {};
  const left = { node, pod: name, worker: `worker ${index}`, reason: 'broken', time: NOW };
  await cluster.client.patch(
    JOBSETS,
    { namespace: 'default', name: 'train' },
    { type: 'merge', patch: { status: { avoidedNodes: [left] } } },
    { subresource: 'status' },
  );
  await cluster.clock.advance(100);
  await cluster.client.delete(PODS, { namespace: 'default', name });
  await cluster.until(async () => {
    const pods = await cluster.pods();
    const isNew = pods.every(({ metadata }) => metadata.uid !== uid);
    return isNew && pods.filter(({ status }) => status?.phase === 'Running').length === 2;
  });
  const after = await cluster.pods();
  await expectOneRackEach(after, 1);
  expect(after.map(({ spec }) => spec.nodeName)).not.toContain(node);
});

const NOW = '2026-01-01T00:00:00Z';
