/**
 * A lost node whose Pods tolerate for ever that it is unreachable
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`): Kubernetes would never
 * delete them, and nothing would follow. With a deadline they are deleted, and the deadline starts
 * with the taint.
 */

import { NODES, UNREACHABLE_TAINT } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JobSetSpec } from '../../src/jobset/jobset.ts';
import { LOST_NODE_DEADLINE } from '../../src/jobset/names.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { TrainingGroup } from './training-group.fixture.ts';

const DEADLINE_MS = 120_000;
const HOUR_MS = 3_600_000;

let group: TrainingGroup;
beforeEach(async () => {
  group = new TrainingGroup();
  await group.start();
  await group.cluster.addNode('n2');
});
afterEach(() => group.stop());

function specOf(): JobSetSpec {
  const job = replicatedJob('w', 2);
  const { spec } = job.template;
  // Tolerated to stay, not to be placed there.
  const forEver = { key: UNREACHABLE_TAINT, operator: 'Exists', effect: 'NoExecute' } as const;
  const pod = { ...spec.template.spec, tolerations: [forEver] };
  const template = { spec: { ...spec, template: { ...spec.template, spec: pod } } };
  return {
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
    replicatedJobs: [{ ...job, template }],
  };
}

/**
 * Starts the group and loses the node of one of its Pods; returns the Pod and when it was tainted.
 */
async function lose(deadline: string | undefined) {
  const { cluster } = group;
  await group.create(specOf(), deadline === undefined ? {} : { [LOST_NODE_DEADLINE]: deadline });
  await group.allIn(1, 2);
  const [pod] = await cluster.pods();
  const node = pod?.spec.nodeName ?? '';
  const taintedMs = async (): Promise<number | undefined> => {
    const { spec } = await cluster.client.get(NODES, { name: node });
    const taint = spec?.taints?.find(
      ({ key, effect }) => key === UNREACHABLE_TAINT && effect === 'NoExecute',
    );
    return taint === undefined ? undefined : Date.parse(taint.timeAdded ?? '');
  };
  await cluster.silence(node);
  await cluster.until(async () => (await taintedMs()) !== undefined);
  const at = { namespace: 'default', name: pod?.metadata.name ?? '' };
  return { at, node, sinceMs: (await taintedMs()) ?? 0 };
}

async function podAt(at: { readonly namespace: string; readonly name: string }) {
  try {
    return await group.cluster.client.get(PODS, at);
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

it('is deleted with its deadline, and by force a deadline after that', async () => {
  const { at, sinceMs } = await lose('2m');
  const { cluster } = group;
  const { clock } = cluster;
  await cluster.until(async () => (await podAt(at))?.metadata.deletionTimestamp !== undefined);
  expect(clock.now() - sinceMs).toBeGreaterThanOrEqual(DEADLINE_MS);
  expect(clock.now() - sinceMs).toBeLessThan(DEADLINE_MS + 10_000);
  const endMs = Date.parse((await podAt(at))?.metadata.deletionTimestamp ?? '');
  expect((await group.jobSet()).status?.syncedEpoch).toBe(1);
  await clock.advance(DEADLINE_MS);
  expect(await podAt(at)).toBeDefined();
  await cluster.until(async () => (await podAt(at)) === undefined);
  expect(clock.now()).toBeGreaterThanOrEqual(endMs + DEADLINE_MS);
  await group.allIn(2, 2);
  const told = (await group.events()).map(({ reason }) => reason);
  expect(told).toContain('LostPodDeleted');
});

it('is not deleted where the node is back before the deadline', async () => {
  const { at, node } = await lose('2m');
  const { clock } = group.cluster;
  await clock.advance(DEADLINE_MS / 2);
  await group.cluster.recover(node);
  await clock.advance(HOUR_MS);
  expect((await podAt(at))?.metadata.deletionTimestamp).toBeUndefined();
  expect((await group.jobSet()).status?.syncedEpoch).toBe(1);
});

it('stays where there is no deadline', async () => {
  const { at } = await lose(undefined);
  await group.cluster.clock.advance(HOUR_MS);
  expect((await podAt(at))?.metadata.deletionTimestamp).toBeUndefined();
});

it('names the lost node for a member that fails there, and counts the failure as usual', async () => {
  const { at, node } = await lose(undefined);
  const pod = await podAt(at);
  const index = pod?.metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? '';
  const notReady = async (): Promise<boolean> => {
    const conditions = (await podAt(at))?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'False');
  };
  await group.cluster.until(notReady);
  group.exit(`w/${index}`, 3);
  await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
  const { status } = await group.jobSet();
  expect(status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
  expect(status?.restartHistory?.[0]).toMatchObject({
    cause: 'WorkerFailed',
    counted: true,
    witness: { pod: at.name, node, reason: 'NodeLost' },
  });
});
