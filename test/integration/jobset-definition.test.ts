/**
 * The definition of JobSet on a server without the rest of Lockstep: it is accepted, takes every
 * example, and refuses invalid objects. Exact answers are compared in `test/conformance`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { CustomResourceDefinition } from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  JOBSETS,
  type JobSet,
  type JobSetSpec,
  type ReplicatedJob,
} from '../../src/jobset/jobset.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import {
  MAX_FAILURE_POLICY_RULES,
  MAX_REPLICATED_JOBS,
} from '../../src/jobset/schema/schema-rules.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type ApiUnderTest, installJobSets, startApi } from './api-server.fixture.ts';

const EXAMPLES = new URL('../../examples/policies/', import.meta.url);
const AT = { namespace: 'default', name: 'defined' };

let api: ApiUnderTest;
let client: Client;
let definition: CustomResourceDefinition;
beforeAll(async () => {
  api = await startApi();
  ({ client } = api);
  definition = await installJobSets(client);
});
afterAll(() => api.stop());

function jobSet(spec: JobSetSpec): JobSet {
  return { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: AT, spec };
}

it('is served with nothing to complain of, and kept whole', () => {
  const conditions = definition.status?.conditions?.map(({ type, status }) => [type, status]);
  expect(Object.fromEntries(conditions ?? [])).toEqual({
    Established: 'True',
    NamesAccepted: 'True',
  });
  expect(definition.status?.storedVersions).toEqual(['v1alpha2']);
  expect(definition.spec).toMatchObject(JOBSET_CRD.spec);
});

it.each(readdirSync(EXAMPLES))('takes %s, and keeps all that it says', async (name) => {
  const example = parse(readFileSync(new URL(name, EXAMPLES), 'utf8')) as JobSet;
  const metadata = { ...example.metadata, namespace: AT.namespace };
  const stored = await client.create(JOBSETS, { ...example, metadata });
  await client.delete(JOBSETS, { ...AT, name: stored.metadata.name });
  expect(stored.spec).toMatchObject(example.spec);
});

it('says of a JobSet that nobody has looked at that no spec is observed', async () => {
  const { metadata, status } = await client.create(JOBSETS, {
    ...jobSet({ replicatedJobs: [replicatedJob('w')] }),
    status: { restarts: 3 },
  });
  expect(metadata.generation).toBe(1);
  expect(status).toEqual({ observedGeneration: -1 });
  expect((await client.get(JOBSETS, AT)).status).toEqual({ observedGeneration: -1 });
  const seen = { ...(await client.get(JOBSETS, AT)), status: { restarts: 0 } };
  const written = await client.update(JOBSETS, seen, { subresource: 'status' });
  await client.delete(JOBSETS, AT);
  // It stands for a status that is missing, and adds nothing to one that somebody wrote.
  expect(written.status).toEqual({ restarts: 0 });
});

describe('takes without a webhook', () => {
  const claims = { templates: [{ ...claim('data'), status: {} }] };
  it.each<readonly [string, JobSetSpec]>([
    [
      'rules whose names Go wrote as empty texts',
      {
        replicatedJobs: [replicatedJob('w')],
        failurePolicy: {
          rules: [
            { name: '', action: 'FailJobSet' },
            { name: '', action: 'RestartJobSet' },
          ],
        },
      },
    ],
    [
      'a coordinator whose template leaves completions to the API server',
      {
        replicatedJobs: [withoutCompletions('w')],
        coordinator: { replicatedJob: 'w' },
      },
    ],
    [
      'values that a newer Kubernetes may know, and empty texts',
      { replicatedJobs: [withValues('w', { imagePullPolicy: 'Lazy', restartPolicy: '' })] },
    ],
    [
      'empty texts of the fields on which Lockstep acts',
      { replicatedJobs: [withValues('w', { imagePullPolicy: '' }, { restartPolicy: '' })] },
    ],
    ['a failure policy with thousands of targets', policyOf(128)],
    [
      'claims without a retention policy, applied again and again',
      { replicatedJobs: [replicatedJob('w')], volumeClaimPolicies: [claims] },
    ],
  ])('%s', async (_what, spec) => {
    const apply = { type: 'apply', patch: jobSet(spec), fieldManager: 'trainer' } as const;
    const first = await client.patch(JOBSETS, AT, apply);
    try {
      const second = await client.patch(JOBSETS, AT, apply);
      expect(second.metadata.generation).toBe(first.metadata.generation);
      expect(second.spec).toEqual(first.spec);
    } finally {
      await client.delete(JOBSETS, AT);
    }
  });

  function withValues(name: string, inContainer: object, inPod: object = {}): ReplicatedJob {
    const { template, ...job } = replicatedJob(name);
    const { template: pod, ...rest } = template.spec;
    const ports = [{ containerPort: 80, protocol: '' }];
    const containers = pod.spec.containers.map((each) => ({ ...each, ports, ...inContainer }));
    const podSpec = { ...pod.spec, dnsPolicy: 'FromNode', ...inPod, containers };
    const spec: object = { ...rest, completionMode: '', template: { ...pod, spec: podSpec } };
    return { ...job, template: { ...template, spec: spec as typeof template.spec } };
  }

  function policyOf(targets: number): JobSetSpec {
    const replicatedJobs = Array.from({ length: MAX_REPLICATED_JOBS }, (_, index) =>
      replicatedJob(`workers-of-group-${index}`),
    );
    const targetReplicatedJobs = replicatedJobs.slice(-targets).map(({ name }) => name);
    const rules = Array.from({ length: MAX_FAILURE_POLICY_RULES }, (_, index) => {
      return { name: `r${index}`, action: 'FailJobSet', targetReplicatedJobs } as const;
    });
    return { replicatedJobs, failurePolicy: { rules } };
  }

  function withoutCompletions(name: string): ReplicatedJob {
    const { template, ...job } = replicatedJob(name);
    const { completions: _, parallelism: __, ...rest } = template.spec;
    return { ...job, template: { ...template, spec: rest } };
  }

  function claim(name: string): PersistentVolumeClaim {
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    };
  }
});

describe('refuses without a webhook', () => {
  it.each<readonly [string, JobSetSpec, string]>([
    [
      'a name of a Job that would be too long',
      { replicatedJobs: [{ ...replicatedJob('w'), name: 'w'.repeat(60) }] },
      'JobSet name is too long, job names generated for this JobSet will exceed 63 characters',
    ],
    [
      'a dependency on itself',
      { replicatedJobs: [{ ...replicatedJob('w'), dependsOn: [{ name: 'w', status: 'Ready' }] }] },
      'replicatedJob: w cannot depend on replicatedJob: w',
    ],
    [
      'a target that is not there',
      {
        replicatedJobs: [replicatedJob('w')],
        failurePolicy: {
          rules: [{ name: 'r', action: 'FailJobSet', targetReplicatedJobs: ['w', 'v'] }],
        },
      },
      'invalid replicatedJob name in failure policy does not appear in .spec.ReplicatedJobs',
    ],
    [
      'a coordinator that is not there',
      { replicatedJobs: [replicatedJob('w')], coordinator: { replicatedJob: 'v' } },
      'coordinator replicatedJob v does not exist',
    ],
  ])('%s', async (_what, spec, why) => {
    // Before 1.36 the type of the value stands in between.
    const message = expect.stringMatching(new RegExp(`^Invalid value: ("object": )?${why}$`));
    const cause = expect.objectContaining({ message });
    await expect(client.create(JOBSETS, jobSet(spec))).rejects.toMatchObject({
      status: { code: 422, details: { causes: expect.arrayContaining([cause]) } },
    });
  });

  it('a change of what cannot change, and takes one of what can', async () => {
    await client.create(JOBSETS, jobSet({ replicatedJobs: [replicatedJob('w')] }));
    try {
      const renamed = { spec: { replicatedJobs: [replicatedJob('v')] } };
      await expect(
        client.patch(JOBSETS, AT, { type: 'merge', patch: renamed }),
      ).rejects.toMatchObject({ status: { code: 422, reason: 'Invalid' } });
      const suspended = { spec: { suspend: true } };
      const { spec } = await client.patch(JOBSETS, AT, { type: 'merge', patch: suspended });
      expect(spec.suspend).toBe(true);
    } finally {
      await client.delete(JOBSETS, AT);
    }
  });

  it('a status that is written along with the rest, without a word', async () => {
    const wishful = {
      ...jobSet({ replicatedJobs: [replicatedJob('w')] }),
      status: { restarts: 7 },
    };
    const stored = await client.create(JOBSETS, wishful);
    await client.delete(JOBSETS, AT);
    expect(stored.status).toEqual({ observedGeneration: -1 });
  });
});
