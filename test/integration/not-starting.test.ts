/**
 * Why members of a group do not start, as a condition says it: within 10 s, for one read of a Pod in
 * 10 s, and without any in a restart.
 */

import type { Condition } from '@lockstep/kube/meta.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forbidden } from '@lockstep/kube/status-errors.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JobSetSpec } from '../../src/jobset/jobset.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { refusal } from './api-proxy.fixture.ts';
import { SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import { TrainingGroup } from './training-group.fixture.ts';

const PATIENCE_MS = 10_000;
const MINUTE_MS = 60_000;

let group: TrainingGroup;
/** Requests of the operator for Pods themselves. */
let reads: number;
beforeEach(async () => {
  group = new TrainingGroup();
  reads = 0;
  group.asOperator = (client) => countingReads(client);
  await group.start();
});
afterEach(() => group.stop());

function countingReads(client: Client): Client {
  return new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        if (args[0] === PODS && (name === 'get' || name === 'list')) reads++;
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** On nodes with that label. */
function specFor(nodeSelector: Readonly<Record<string, string>>): JobSetSpec {
  const job = replicatedJob('w', WORKERS);
  const { spec } = job.template;
  const pod = { ...spec.template.spec, nodeSelector };
  const template = { spec: { ...spec, template: { ...spec.template, spec: pod } } };
  return { ...THREE_WORKERS, replicatedJobs: [{ ...job, template }] };
}

async function told(): Promise<Condition | undefined> {
  const { status } = await group.jobSet();
  return status?.conditions?.find(({ type }) => type === 'MemberNotStarting');
}

it('no node fits: reported within 10 s, for a read in 10 s, until one does', async () => {
  await group.create(specFor({ gpu: 'yes' }), SUPERVISOR);
  const { cluster } = group;
  const beganMs = cluster.clock.now();
  await cluster.until(async () => (await told())?.status === 'True');
  expect(cluster.clock.now() - beganMs).toBeLessThanOrEqual(PATIENCE_MS);
  const condition = await told();
  expect(condition?.reason).toBe('Unschedulable');
  expect(condition?.message).toMatch(/^Pod train-w-0-\d-\w+ does not start: Unschedulable: .+/);
  const { resourceVersion } = (await group.jobSet()).metadata;
  reads = 0;
  await cluster.clock.advance(10 * MINUTE_MS);
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(61);
  expect((await group.jobSet()).metadata.resourceVersion).toBe(resourceVersion);

  await cluster.addNode('gpu', {}, { gpu: 'yes' });
  await group.allIn(1, WORKERS);
  await cluster.until(async () => (await told())?.status === 'False');
  reads = 0;
  await cluster.clock.advance(MINUTE_MS);
  expect(reads).toBe(0);
});

it('a member of a running group that is replaced and fits nowhere is reported', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  const { cluster } = group;
  const unschedulable = { spec: { unschedulable: true } };
  await cluster.client.patch(NODES, { name: 'n1' }, { type: 'merge', patch: unschedulable });
  const name = group.podNameIn('w/1');
  await cluster.client.delete(PODS, { namespace: 'default', name });
  await cluster.until(async () => (await told())?.status === 'True');
  expect((await told())?.reason).toBe('Unschedulable');
});

it('a Pod that may not be made is reported', async () => {
  const { cluster } = group;
  cluster.intercept = async (request, send) => {
    const isPod = request.method === 'POST' && request.path.endsWith('/pods');
    return isPod ? refusal(forbidden(PODS, '', 'exceeded quota')) : send();
  };
  await group.create(THREE_WORKERS, SUPERVISOR);
  const beganMs = cluster.clock.now();
  await cluster.until(async () => (await told())?.status === 'True');
  expect(cluster.clock.now() - beganMs).toBeLessThanOrEqual(PATIENCE_MS);
  expect(await told()).toMatchObject({
    reason: 'PodNotCreated',
    message: expect.stringContaining('kubectl describe job train-w-0 -n default'),
  });
  cluster.intercept = (_request, send) => send();
  await group.allIn(1, WORKERS);
  await cluster.until(async () => (await told())?.status === 'False');
});

it('a restart in place reads nothing for it, and tells nothing', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  await group.cluster.clock.advance(MINUTE_MS);
  group.exit('w/1', 1);
  await group.allIn(2, WORKERS);
  reads = 0;
  await group.cluster.clock.advance(MINUTE_MS);
  expect(reads).toBe(0);
  expect(await told()).toBeUndefined();
});
