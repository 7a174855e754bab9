import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { describe } from 'vitest';
import { EPOCH, NOTICE } from '../jobset/names.ts';
import { parseNotice } from '../jobset/worker-end/notice.ts';
import { type ChannelUnderTest, channelConformance } from './channel.conformance.ts';
import { apiChannelOf, FakeApi } from './fake-api.fixture.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { createFallbackChannel } from './fallback-channel.ts';
import { createHubChannel } from './hub-channel.ts';

const random = new SeededRandom(7);

function overApi(): ChannelUnderTest {
  const api = new FakeApi();
  const clock = new VirtualClock();
  return {
    clock,
    channel: apiChannelOf(api, clock, random),
    setStatus: (deprecated, released) => api.setStatus(deprecated, released),
    annotate: (annotations) => api.annotate(annotations),
    announced: () => Number(api.annotations[EPOCH] ?? 0),
    end: () => parseNotice(api.annotations[NOTICE] ?? '')?.end,
    breakConnections: () => api.closeWatches(),
    goDark: () => {
      api.closeWatches();
      api.fault = () => Promise.reject(new TransportError('refused', { code: 'ECONNREFUSED' }));
    },
    restore: () => {
      api.fault = () => undefined;
    },
    sayNonsense: () => api.emit({ type: 'SURPRISE', object: {} }),
    deletePod: () => api.setPod({ deletionTimestamp: '2026-01-01T00:00:00Z' }),
  };
}

function overHub(): ChannelUnderTest {
  const clock = new VirtualClock();
  const hub = new FakeHub(clock);
  const connector = hub.streams.connector();
  const options = { connector, clock, random, logger: SILENT, jobSetUid: 'jobset-uid' };
  return { ...hubWorld(hub), clock, channel: createHubChannel(options) };
}

function overHubOrApi(): ChannelUnderTest {
  const clock = new VirtualClock();
  const hub = new FakeHub(clock);
  const api = overApi();
  const connector = hub.streams.connector();
  const runtime = { clock, random, logger: SILENT };
  const channel = createFallbackChannel({
    ...runtime,
    hub: (contact) => createHubChannel({ ...runtime, connector, jobSetUid: 'jobset-uid', contact }),
    api: () => api.channel,
  });
  api.goDark();
  return { ...hubWorld(hub), clock, channel };
}

function hubWorld(hub: FakeHub): Omit<ChannelUnderTest, 'clock' | 'channel'> {
  return {
    setStatus: (deprecated, released) => hub.setStatus(deprecated, released),
    annotate: (annotations) => hub.annotate(annotations),
    announced: () => hub.announced?.epoch ?? 0,
    end: () => hub.announced?.end,
    breakConnections: () => hub.streams.breakAll(),
    goDark: () => {
      hub.streams.isCut = true;
    },
    restore: () => {
      hub.streams.isCut = false;
    },
    sayNonsense: () => hub.sayNonsense(),
    deletePod: () => {
      hub.api.setPod({ deletionTimestamp: '2026-01-01T00:00:00Z' });
      hub.hub.podEnding('pod-uid');
    },
  };
}

describe('the channel over the API server', () => channelConformance(overApi));
describe('the channel over the hub', () => channelConformance(overHub));
describe('the hub with the API server behind it', () => channelConformance(overHubOrApi));
