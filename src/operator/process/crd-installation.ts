/** Creates or updates the JobSet definition and waits until the API server has established it. */

import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import {
  API_PATIENCE_MS,
  throughPassingFailures,
} from '@lockstep/kube/runtime/client/passing-failures.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';

/** Creates the JobSet CRD, or updates the existing one, and waits until it is served. */
export async function installCrd(
  options: ClientPorts & { readonly signal: AbortSignal },
): Promise<void> {
  const { client } = options;
  const of = CUSTOM_RESOURCE_DEFINITIONS;
  const name = JOBSET_CRD.metadata.name ?? '';
  const store = (signal: AbortSignal): Promise<unknown> => stored(client, name, signal);
  await throughPassingFailures('store the definition of JobSets', store, options);
  // `waitFor` continues after failures. A healthy API server needs a second or two.
  await waitFor(client, of, { name }, isEstablished, { ...options, timeoutMs: API_PATIENCE_MS });
}

/** It may exist because a creation whose answer was lost has succeeded. */
async function stored(client: Client, name: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD, { signal });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    const spec = { type: 'merge', patch: { spec: JOBSET_CRD.spec } } as const;
    return client.patch(CUSTOM_RESOURCE_DEFINITIONS, { name }, spec, { signal });
  }
}

function isEstablished(crd: CustomResourceDefinition | undefined): boolean {
  const conditions = crd?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}
