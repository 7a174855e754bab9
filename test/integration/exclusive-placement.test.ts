import { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { COMPLETION_INDEX, JOB_NAME_LABEL } from '@lockstep/kube/objects/job.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { EXCLUSIVE_TOPOLOGY, JOBSET_NAME } from '../../src/jobset/names.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { actOn, type Operator } from '../../src/operator/operator.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { PodAdmission } from './pod-admission.fixture.ts';

/** Exclusive placement on a cluster in memory: 8 nodes in 4 racks. */
const RACK = 'rack';
const NODE_COUNT = 8;
/** The first Jobs get other racks. */
const EMPTY = 'rack-3';

/** What happens to a Pod after the webhooks. */
let tamper: (pod: Pod) => Pod;
let cluster: MemoryCluster;
let admission: PodAdmission;
let operator: Operator;

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
  admission = new PodAdmission(cluster);
  await admission.start((pod) => tamper(pod));
  operator = actOn(admission.caches, { ...options, sha1, config: { agentImage: 'agent' } });
});

afterEach(async () => {
  let hasStopped = false;
  const stopped = operator.stop().finally(() => {
    hasStopped = true;
  });
  await cluster.clock.runUntil(() => hasStopped, 60_000);
  await stopped;
  await admission.stop();
  await cluster.stop();
});

async function createJobSet(jobs: number, pods: number, name = 'train'): Promise<void> {
  const job = replicatedJob('w', pods, jobs);
  const jobSet: JobSet = {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name,
      namespace: 'default',
      annotations: { [EXCLUSIVE_TOPOLOGY]: RACK },
    },
    spec: { replicatedJobs: [job], failurePolicy: { maxRestarts: 3 } },
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
