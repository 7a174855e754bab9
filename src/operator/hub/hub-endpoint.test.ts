import { ENDPOINT_SLICES, type EndpointSlice } from '@lockstep/kube/objects/endpoint-slice.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { expect, it } from 'vitest';
import { publishHubEndpoint } from './hub-endpoint.ts';

const AT = { namespace: 'lockstep-system', name: 'lockstep-hub' };

class Scene {
  readonly client = new MemoryClient();
  readonly clock = new VirtualClock();

  lead(address: string) {
    return publishHubEndpoint({
      client: this.client,
      clock: this.clock,
      random: new SeededRandom(1),
      logger: SILENT,
      namespace: AT.namespace,
      service: AT.name,
      address,
      port: 9445,
    });
  }

  async addresses(): Promise<readonly string[]> {
    const slice = await this.client.get<EndpointSlice>(ENDPOINT_SLICES, AT);
    return [slice.addressType, ...slice.endpoints.flatMap(({ addresses }) => addresses)];
  }

  get writes(): number {
    return this.client.calls.filter((call) => /^(POST|PUT|DELETE)/.test(call)).length;
  }
}

it('leads the Service to the leader, and to the next one after it', async () => {
  const scene = new Scene();
  const first = scene.lead('10.0.0.1');
  await scene.clock.advance(100);
  const slice = await scene.client.get<EndpointSlice>(ENDPOINT_SLICES, AT);
  expect(slice).toMatchObject({
    metadata: { labels: { 'kubernetes.io/service-name': 'lockstep-hub' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ port: 9445 }],
  });
  const stopping = first.stop();
  await scene.clock.advance(5000);
  await stopping;
  scene.lead('10.0.0.2');
  await scene.clock.advance(100);
  expect(await scene.addresses()).toEqual(['IPv4', '10.0.0.2']);
});

it('changes over to the other family of addresses', async () => {
  const scene = new Scene();
  scene.lead('10.0.0.1');
  await scene.clock.advance(100);
  scene.lead('fd00::2');
  await scene.clock.advance(100);
  expect(await scene.addresses()).toEqual(['IPv6', 'fd00::2']);
});

it('repairs what somebody broke, and writes nothing while all is well', async () => {
  const scene = new Scene();
  scene.lead('10.0.0.1');
  await scene.clock.advance(100);
  const slice = await scene.client.get<EndpointSlice>(ENDPOINT_SLICES, AT);
  const before = scene.writes;
  await scene.client.update(ENDPOINT_SLICES, { ...slice, endpoints: [] });
  await scene.clock.advance(31_000);
  expect(await scene.addresses()).toEqual(['IPv4', '10.0.0.1']);
  const after = scene.writes;
  expect(after).toBeGreaterThan(before);
  await scene.clock.advance(95_000);
  // Detected by a refused creation.
  expect(scene.client.calls.filter((call) => call.startsWith('PUT'))).toHaveLength(2);
});
