/** Creates or updates the JobSet definition and waits until the API server has established it. */
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../../kube/objects/custom-resource-definition.ts';
import { isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';
import { waitFor } from '../../runtime/informer/wait-for.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';

/** From the creation to the Established condition; an API server needs a second or two. */
const ESTABLISH_TIMEOUT_MS = 30_000;

/** Creates the JobSet CRD, or updates the existing one, and waits until it is served. */
export async function installCrd(options: {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { client, signal } = options;
  const name = JOBSET_CRD.metadata.name ?? '';
  try {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD, { signal });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    const spec = { type: 'merge', patch: { spec: JOBSET_CRD.spec } } as const;
    await client.patch(CUSTOM_RESOURCE_DEFINITIONS, { name }, spec, { signal });
  }
  const of = CUSTOM_RESOURCE_DEFINITIONS;
  await waitFor(client, of, { name }, isEstablished, {
    ...options,
    timeoutMs: ESTABLISH_TIMEOUT_MS,
  });
}

function isEstablished(crd: CustomResourceDefinition | undefined): boolean {
  const conditions = crd?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}
