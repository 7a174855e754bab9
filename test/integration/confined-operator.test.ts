/**
 * An operator that is confined to some namespaces, with the rights that such an installation gives
 * it. It acts there as usual, requests nothing else, and touches nothing elsewhere.
 */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLUSTER_RULES } from '../../src/deploy/permissions.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import type { Account } from '../fixtures/cluster-under-test.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import { Restriction } from './restricted-client.fixture.ts';

const WATCHED = ['default', 'second'];
const ELSEWHERE = 'elsewhere';
const CALM_MS = 10_000;

const GRANTED = CLUSTER_RULES.flatMap((rule) =>
  rule.scope === 'Cluster' ? [{ rule }] : WATCHED.map((namespace) => ({ rule, namespace })),
);
const operator = new Restriction(GRANTED);

let group: GroupUnderTest;
let account: Account;
beforeAll(async () => {
  group = new GroupUnderTest();
  group.namespaces = WATCHED;
  group.asOperator = () => operator.applyTo(account.client);
  await group.start(async (cluster) => {
    for (const name of ['second', ELSEWHERE]) await cluster.createNamespace(name);
    account = await cluster.as('confined', GRANTED);
  });
});
afterAll(() => group.stop());

function inPlace(namespace: string, name: string) {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { namespace, name },
    spec: {
      failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' as const },
      replicatedJobs: [replicatedJob('w', 2)],
    },
  };
}

test('restarts groups in its namespaces, and leaves those elsewhere alone', async () => {
  const { client } = group.cluster;
  await client.create(JOBSETS, inPlace(ELSEWHERE, 'ignored'));
  await group.create(inPlace('default', 'train').spec);
  await group.allIn(1, 2);
  group.exit('w/0', 3);
  await group.allIn(2, 2);
  await client.create(JOBSETS, inPlace('second', 'other'));
  await group.cluster.until(async () => {
    const { status } = await client.get(JOBSETS, { namespace: 'second', name: 'other' });
    return status?.syncedEpoch === 1;
  });
  await group.cluster.calm(CALM_MS);
  const ignored = await client.get(JOBSETS, { namespace: ELSEWHERE, name: 'ignored' });
  expect(ignored.status, 'as the definition begins it').toEqual({ observedGeneration: -1 });
  expect((await client.list(JOBS, { namespace: ELSEWHERE })).items).toEqual([]);
  expect([...operator.refused, ...account.refused]).toEqual([]);
});
