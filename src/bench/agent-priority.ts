/** The priority levels of an installation, for benchmarks on a real API server. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { PORTS } from '../cli/ports.ts';
import { apiPriority } from '../deploy/api-priority.ts';
import { FLOW_SCHEMAS } from '../deploy/kinds.ts';
import { defaultSettings } from '../deploy/settings.ts';
import { remove } from './bench-cluster.ts';

const ACCEPTED_TIMEOUT_MS = 30_000;

/**
 * Gives agents and operator their levels for the duration of the benchmark. Resolves, once the API
 * server uses them, with a function that removes them.
 */
export async function prioritiseAgents(
  client: Client,
  operatorNamespace: string,
): Promise<() => Promise<void>> {
  const objects = apiPriority({ ...defaultSettings(''), namespace: operatorNamespace });
  const made: (typeof objects)[number][] = [];
  const end = async (): Promise<void> => {
    for (const { of, object } of made.splice(0).reverse()) {
      await remove(client, of, object.metadata.name ?? '');
    }
  };
  try {
    for (const each of objects) {
      await client.create(each.of, each.object);
      made.push(each);
    }
    const options = { ...PORTS, timeoutMs: ACCEPTED_TIMEOUT_MS };
    for (const { of, object } of made.filter((each) => each.of === FLOW_SCHEMAS)) {
      const { name = '' } = object.metadata;
      await waitFor(client, of, { name }, (one) => one !== undefined && isAccepted(one), options);
    }
    return end;
  } catch (error) {
    await end();
    throw error;
  }
}

/** Whether the API server found its priority level. */
function isAccepted(schema: Stored<FlowSchema>): boolean {
  const conditions = schema.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Dangling' && status === 'False');
}

interface FlowSchema extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
