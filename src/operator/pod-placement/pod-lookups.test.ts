import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlacementCluster, RACK } from '../../../test/fixtures/placement-cluster.ts';
import { type PodLookups, startPodLookups } from './pod-lookups.ts';

let cluster: PlacementCluster;
let lookups: PodLookups & { stop(): Promise<void> };
/** Requests of the lookups, without the list and watch of their cache. */
let asked: string[];

beforeEach(async () => {
  cluster = new PlacementCluster();
  await cluster.start();
  await cluster.addNode('n1', {}, { [RACK]: 'r1' });
  asked = [];
  lookups = startPodLookups({ ...cluster.runtime, client: counted(cluster.client) });
});

afterEach(async () => {
  await cluster.reached(lookups.stop());
  await cluster.stop();
});

function counted(client: Client): Client {
  return new Proxy(client, {
    get: (target, property: keyof Client) => {
      const method = target[property].bind(target) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        const isOwn = property === 'get' || property === 'list';
        if (isOwn) asked.push(property);
        return method(...args);
      };
    },
  });
}

const leaderNode = async (): Promise<string | undefined> => {
  const finding = await cluster.reached(lookups.leaderOf(cluster.workerOf(1), 'default'));
  return finding.kind === 'Leader' ? finding.leader.spec?.nodeName : finding.why;
};

test('a leader that the cache shows is read once for its node, however many followers ask', async () => {
  await cluster.createWorker(0);
  await cluster.running(1);
  await cluster.clock.advance(1_000);
  const follower = cluster.workerOf(1);
  const questions = Array.from({ length: 20 }, () => lookups.leaderOf(follower, 'default'));
  const findings = await cluster.reached(Promise.all(questions));
  for (const finding of findings) {
    expect(finding).toMatchObject({ kind: 'Leader', leader: { spec: { nodeName: 'n1' } } });
  }
  expect(asked).toEqual(['get']);
  expect(await leaderNode()).toBe('n1');
  expect(asked).toEqual(['get']);
});

test('a leader that the cache does not show yet is found in the API', async () => {
  // No time passes in which the watch could bring the Pod.
  await cluster.createWorker(0, { nodeName: 'n1' });
  const finding = lookups.leaderOf(cluster.workerOf(1), 'default');
  expect(asked).toEqual(['list']);
  expect((await cluster.reached(finding)).kind).toBe('Leader');
});

test('a leader that gets its node later is read again until it has one', async () => {
  await cluster.client.create(PODS, {
    ...cluster.workerOf(0),
    spec: { ...cluster.workerOf(0).spec, schedulingGates: [{ name: 'quota' }] },
  });
  await cluster.clock.advance(1_000);
  expect(await leaderNode()).toBeUndefined();
  const at = { namespace: 'default', name: 'train-w-0-0-aaaaa' };
  await cluster.client.patch(PODS, at, { type: 'merge', patch: { spec: { schedulingGates: [] } } });
  await cluster.running(1);
  expect(await leaderNode()).toBe('n1');
});

test('a successor of a leader that failed is the leader', async () => {
  await cluster.createWorker(0);
  const [first] = await cluster.running(1);
  expect(await leaderNode()).toBe('n1');
  if (first !== undefined) await cluster.finish(first, 1);
  await cluster.clock.advance(1_000);
  expect(await leaderNode()).toMatch(/^expected 1 leader pod \(train-w-0-0\), but got 0/);
  await cluster.addNode('n2', {}, { [RACK]: 'r2' });
  await cluster.createWorker(0, { suffix: 'bbbbb', nodeName: 'n2' });
  await cluster.clock.advance(1_000);
  expect(await leaderNode()).toBe('n2');
});

test('a leader that succeeded has no successor, and still leads', async () => {
  await cluster.createWorker(0);
  const [leader] = await cluster.running(1);
  if (leader !== undefined) await cluster.finish(leader, 0);
  await cluster.clock.advance(1_000);
  expect(await leaderNode()).toBe('n1');
});

test('the leader of another Job of that name is not followed', async () => {
  await cluster.createWorker(0, { job: 'other' });
  await cluster.running(1);
  const [own, other] = [cluster.jobUids.get('train-w-0'), cluster.jobUids.get('other')];
  const why = `follower pod owner UID (${own}) != leader pod owner UID (${other})`;
  expect(await leaderNode()).toBe(why);
});

test('a node is read when it is asked for, and may be gone', async () => {
  const node = await cluster.reached(lookups.node('n1'));
  expect(node?.metadata.labels?.[RACK]).toBe('r1');
  expect(await cluster.reached(lookups.node('n9'))).toBeUndefined();
});
