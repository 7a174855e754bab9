/**
 * An operator that is confined to some namespaces, with the rights that such an installation gives
 * it. It acts there as usual, requests nothing else, and touches nothing elsewhere.
 */

import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLUSTER_RULES } from '../../src/deploy/permissions.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { Restriction } from './restricted-client.fixture.ts';
import { TrainingGroup } from './training-group.fixture.ts';

const WATCHED = ['default', 'second'];
const ELSEWHERE = 'elsewhere';
const CALM_MS = 10_000;

const operator = new Restriction(
  CLUSTER_RULES.flatMap((rule) =>
    rule.scope === 'Cluster' ? [{ rule }] : WATCHED.map((namespace) => ({ rule, namespace })),
  ),
);

let group: TrainingGroup;
beforeAll(async () => {
  group = new TrainingGroup();
  group.asOperator = (client) => operator.applyTo(client);
  group.namespaces = WATCHED;
  await group.start();
  for (const name of ['second', ELSEWHERE]) {
    await group.cluster.client.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
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
  const { client, clock } = group.cluster;
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
  await clock.advance(CALM_MS);
  const ignored = await client.get(JOBSETS, { namespace: ELSEWHERE, name: 'ignored' });
  expect(ignored.status, 'as the definition begins it').toEqual({ observedGeneration: -1 });
  expect((await client.list(JOBS, { namespace: ELSEWHERE })).items).toEqual([]);
  expect([...operator.refused]).toEqual([]);
});
