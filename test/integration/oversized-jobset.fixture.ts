/** JobSets that are too large, as older definitions allowed them. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { CustomResourceDefinition } from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { JOBSET_SCHEMA } from '../../src/jobset/schema/schema.ts';
import { define } from '../fixtures/cluster-under-test.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';

/** Enough to exhaust the memory of a process that makes them all at once. */
export const HUGE = 2_000_000_000;

export function jobSetOfJobs(
  name: string,
  replicas: number,
  metadata: JobSet['metadata'] = {},
): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { replicatedJobs: [replicatedJob('w', 1, replicas)] },
  };
}

/**
 * Stores JobSets of any size, as was possible before the definition bounded them, and then installs
 * the definition that does. `until` waits for what the server accepts.
 */
export async function storeOversized(
  client: Client,
  jobSets: readonly JobSet[],
  until: (what: string, isSo: () => Promise<boolean>) => Promise<unknown>,
): Promise<readonly Stored<JobSet>[]> {
  await define(client, withoutBounds(JOBSET_CRD));
  await until('any size is accepted', () => isAccepted(client));
  const stored = await Promise.all(jobSets.map((jobSet) => client.create(JOBSETS, jobSet)));
  await define(client, JOBSET_CRD);
  await until('a size is refused', async () => !(await isAccepted(client)));
  return stored;
}

async function isAccepted(client: Client): Promise<boolean> {
  try {
    const patch = jobSetOfJobs('probe', HUGE);
    const how = { type: 'apply', patch, fieldManager: 'test', dryRun: 'All' } as const;
    await client.patch(JOBSETS, { namespace: 'default', name: 'probe' }, how);
    return true;
  } catch (error) {
    if (!isReason(error, 'Invalid')) throw error;
    return false;
  }
}

function withoutBounds({
  spec,
  ...definition
}: CustomResourceDefinition): CustomResourceDefinition {
  const { spec: ofSpec = {}, ...properties } = JOBSET_SCHEMA.properties ?? {};
  const openAPIV3Schema = {
    ...unbounded(JOBSET_SCHEMA),
    properties: { ...properties, spec: unbounded(ofSpec) },
  };
  const versions = spec.versions.map((version) => ({ ...version, schema: { openAPIV3Schema } }));
  return { ...definition, spec: { ...spec, versions } };
}

function unbounded(schema: JsonSchema): JsonSchema {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return {
    ...schema,
    'x-kubernetes-validations': rules.filter(
      ({ message }) => message?.startsWith('the sum') !== true,
    ),
  };
}
