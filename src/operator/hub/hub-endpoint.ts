/**
 * Leads the hub's Service, which has no selector, to the leader. Writes one EndpointSlice with the
 * leader's address. The slice stays when the leader ends, because the next leader overwrites it and
 * an earlier one writes no more.
 */

import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  MANAGED_BY,
  SERVICE_NAME,
} from '@lockstep/kube/objects/endpoint-slice.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import { type Controller, startController } from '@lockstep/kube/runtime/controller/controller.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';

export interface HubEndpointOptions extends MeasuredPorts {
  readonly namespace: string;
  readonly service: string;
  /** IP address of this Pod. */
  readonly address: string;
  readonly port: number;
  /** Nothing is written after it aborts. */
  readonly signal?: AbortSignal | undefined;
}

export function publishHubEndpoint(options: HubEndpointOptions): Controller {
  const controller = startController({
    ...options,
    name: 'hub-endpoint',
    workers: 1,
    reconcile: async (_key, signal) => {
      await write(options, signal);
      return { requeueAfterMs: REPAIR_INTERVAL_MS };
    },
  });
  controller.enqueue('endpoint');
  return controller;
}

/** How long agents can be cut off after a user deletes or changes the slice. */
const REPAIR_INTERVAL_MS = 30_000;

async function write(options: HubEndpointOptions, signal: AbortSignal): Promise<void> {
  const { client, namespace, service: name, logger } = options;
  const wanted = sliceOf(options);
  try {
    await client.create(ENDPOINT_SLICES, wanted, { signal });
    logger.info('leads the Service of the hub here', { service: name });
    return;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const held = await client.get(ENDPOINT_SLICES, { namespace, name }, { signal });
  if (leadsHere(held, wanted)) return;
  if (held.addressType === wanted.addressType) {
    await client.update(ENDPOINT_SLICES, { ...wanted, metadata: held.metadata }, { signal });
  } else {
    // The type of addresses is immutable.
    await client.delete(ENDPOINT_SLICES, { namespace, name }, { signal });
    await client.create(ENDPOINT_SLICES, wanted, { signal });
  }
  logger.info('leads the Service of the hub here', { service: name });
}

function sliceOf({ namespace, service, address, port }: HubEndpointOptions): EndpointSlice {
  return {
    ...typeMetaOf(ENDPOINT_SLICES),
    metadata: {
      namespace,
      name: service,
      labels: { [SERVICE_NAME]: service, [MANAGED_BY]: 'lockstep' },
    },
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'hub', port, protocol: 'TCP' }],
  };
}

function leadsHere(held: EndpointSlice, wanted: EndpointSlice): boolean {
  const of = ({ addressType, endpoints, ports }: EndpointSlice): string =>
    JSON.stringify([
      addressType,
      endpoints.map(({ addresses }) => addresses),
      ports?.map(({ port }) => port),
    ]);
  return of(held) === of(wanted);
}
