/** A plan is carried out again if it is not known how far it came: that must change nothing. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, SERVICES } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { JOB_INDEX } from '../../src/jobset/names.ts';
import type { Action } from '../../src/jobset/plan/decision.ts';
import { carryOut } from '../../src/operator/reconciling/carry-out.ts';
import type { ClusterUnderTest } from '../fixtures/cluster-under-test.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { clusterUnderTest } from './group-under-test.fixture.ts';

const NAMESPACE = 'default';
/** A controller that does not exist, so that nothing else changes these Jobs. */
const MANAGED_BY = 'example.com/absent';
/** Time for the garbage collector. */
const CALM_MS = 10_000;

const SERVICE: Action = {
  kind: 'CreateService',
  service: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'train', namespace: NAMESPACE },
    spec: { clusterIP: 'None' },
  },
};
const CLAIM: Action = {
  kind: 'CreateClaim',
  claim: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-train', namespace: NAMESPACE },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
};

let cluster: ClusterUnderTest;

beforeEach(async () => {
  cluster = clusterUnderTest();
  await cluster.start();
  await cluster.calm(CALM_MS);
});

afterEach(() => cluster.stop());

test('the actions of a plan change nothing when they are carried out again', async () => {
  const { client, clock } = cluster;
  const jobSet = await client.create(JOBSETS, {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: { name: 'train', namespace: NAMESPACE },
    spec: { replicatedJobs: [replicatedJob('w')] },
  });
  const actions = [SERVICE, CLAIM, ...(await jobActions(jobSet))];
  const carriedOut = async (): Promise<readonly Stored<KubeObject>[]> => {
    const { signal } = new AbortController();
    const context = { client, clock, jobSet, signal };
    expect(await carryOut(context, actions, () => undefined)).toEqual([]);
    await cluster.calm(CALM_MS);
    const lists = [
      client.list(JOBS, { namespace: NAMESPACE }),
      client.list(SERVICES, { namespace: NAMESPACE }),
      client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: NAMESPACE }),
    ];
    return (await Promise.all(lists)).flatMap(({ items }): readonly Stored<KubeObject>[] => items);
  };
  const once = await carriedOut();
  const names = once.map((object) => object.metadata.name);
  expect(names).toEqual(expect.arrayContaining(['train', 'data-train', 'new', 'a', 'b', 'c', 'd']));
  expect(names).not.toContain('e');
  expect(await carriedOut()).toEqual(once);
});

async function jobActions(jobSet: Stored<JobSet>): Promise<readonly Action[]> {
  const { apiVersion, kind, metadata } = jobSet;
  const owner = { apiVersion, kind, name: 'train', uid: metadata.uid, controller: true };
  return [
    {
      kind: 'CreateJob',
      job: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name: 'new',
          namespace: NAMESPACE,
          ownerReferences: [owner],
        },
        spec: {
          managedBy: MANAGED_BY,
          template: {
            spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'none' }] },
          },
        },
      },
    },
    { kind: 'SuspendJob', job: await cluster.createJob({ managedBy: MANAGED_BY }, 'a') },
    {
      kind: 'ResumeJob',
      job: await cluster.createJob({ managedBy: MANAGED_BY, suspend: true }, 'b'),
      resume: {
        clearsStartTime: false,
        changesResources: false,
        patch: { spec: { suspend: false } },
      },
    },
    {
      kind: 'RelabelJob',
      job: await cluster.createJob({ managedBy: MANAGED_BY }, 'c'),
      labels: { [JOB_INDEX]: '7' },
    },
    {
      kind: 'ResizeJob',
      job: await cluster.createJob({ managedBy: MANAGED_BY }, 'd'),
      size: { parallelism: 4, completions: 4 },
    },
    { kind: 'DeleteJob', job: await cluster.createJob({ managedBy: MANAGED_BY }, 'e') },
  ];
}
