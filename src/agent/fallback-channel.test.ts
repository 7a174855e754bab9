import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { StreamAcceptor } from '@lockstep/kube/runtime/ports/stream.ts';
import { describe, expect, it } from 'vitest';
import { EPOCH } from '../jobset/names.ts';
import { startAgent } from './agent.ts';
import { apiChannelOf, FakeApi } from './fake-api.fixture.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { createFallbackChannel } from './fallback-channel.ts';
import { createHubChannel } from './hub-channel.ts';
import { NO_MARKER, processMarkerStore } from './marker.ts';
import { MemberProgress } from './progress/member-progress.ts';

/** Agents of one Pod each, a hub and an API server, which may show different states. */
class Scene {
  readonly clock = new VirtualClock();
  readonly hub = new FakeHub(this.clock);
  readonly api = new FakeApi();
  /** When the API server was asked for the JobSet. */
  readonly reads: number[] = [];
  /** Epochs that the agents' Pods announced, on either channel, in order. */
  readonly announced: number[] = [];
  readonly #random = new SeededRandom(23);

  constructor() {
    this.api.fault = ({ path }) => {
      if (path.includes('/jobsets')) this.reads.push(this.clock.monotonic());
      return undefined;
    };
  }

  #agents = 0;
  /** Epochs in which workers were started. */
  readonly lifted: number[] = [];

  startAgent(leaseMs?: number): void {
    const { clock } = this;
    const token = `pod-${this.#agents++}`;
    const random = this.#random;
    const runtime = { clock, random, logger: SILENT };
    const channel = createFallbackChannel({
      ...runtime,
      hub: (contact) =>
        createHubChannel({
          ...runtime,
          connector: this.hub.streams.connector(() => token),
          jobSetUid: 'jobset-uid',
          contact,
        }),
      api: () => apiChannelOf(this.api, clock, random),
    });
    const announce = channel.announce.bind(channel);
    channel.announce = (announcement) => {
      this.announced.push(announcement.epoch);
      announce(announcement);
    };
    startAgent({
      jobSetUid: 'jobset-uid',
      marker: NO_MARKER,
      markers: processMarkerStore(),
      channel,
      body: {
        mode: 'Supervisor',
        lift: (epoch) => this.lifted.push(epoch),
        progress: new MemberProgress(),
        stopWorker: () => undefined,
        killHung: () => undefined,
        hurry: () => undefined,
      },
      clock,
      logger: SILENT,
      ...(leaseMs === undefined ? {} : { lease: { random, leaseMs } }),
    });
  }

  get readsPerSecond(): readonly number[] {
    const counts: number[] = [];
    for (const atMs of this.reads) {
      const second = Math.floor(atMs / 1000);
      counts[second] = (counts[second] ?? 0) + 1;
    }
    return Array.from(counts, (count) => count ?? 0);
  }

  until(condition: () => boolean, limitMs = 60_000): Promise<void> {
    return this.clock.runUntil(condition, limitMs);
  }
}

const REFUSES_ALL: StreamAcceptor = () =>
  Promise.resolve({ kind: 'Refuse', status: 503, reason: 'this replica does not lead yet' });

describe('an agent that starts', () => {
  it('asks the API server for nothing while the hub answers', async () => {
    const scene = new Scene();
    for (let i = 0; i < 50; i++) scene.startAgent();
    await scene.clock.advance(60_000);
    expect(scene.api.requests).toEqual([]);
    expect(scene.hub.announced?.epoch).toBe(1);
  });

  it('waits some seconds for a hub that takes its time, as one does that thousands ask', async () => {
    const scene = new Scene();
    const { acceptor } = scene.hub.streams;
    scene.hub.streams.acceptor = async (request) => {
      await new Promise<void>((resolve) => scene.clock.setTimer(4500, resolve));
      return (await acceptor?.(request)) ?? REFUSES_ALL(request);
    };
    for (let i = 0; i < 50; i++) scene.startAgent();
    await scene.clock.advance(60_000);
    expect(scene.api.requests).toEqual([]);
    expect(scene.hub.announced?.epoch).toBe(1);
  });

  it.each<[string, (scene: Scene) => void]>([
    ['the port is closed', ({ hub }) => (hub.streams.acceptor = undefined)],
    ['there is no leader', ({ hub }) => (hub.streams.acceptor = REFUSES_ALL)],
  ])('turns to the API server after a second or two where %s', async (_why, prepare) => {
    const scene = new Scene();
    prepare(scene);
    scene.startAgent();
    await scene.clock.advance(999);
    expect(scene.reads).toEqual([]);
    await scene.until(() => scene.api.annotations[EPOCH] === '1', 1500);
  });

  it('turns to the API server after 5.5 seconds if the hub is unreachable', async () => {
    const scene = new Scene();
    scene.hub.streams.isCut = true;
    scene.startAgent();
    await scene.clock.advance(4999);
    expect(scene.reads).toEqual([]);
    await scene.until(() => scene.api.annotations[EPOCH] === '1', 3000);
  });

  it('turns to the API server once, and with a hundred others not at one moment', async () => {
    const scene = new Scene();
    scene.hub.streams.acceptor = undefined;
    for (let i = 0; i < 100; i++) scene.startAgent();
    await scene.clock.advance(10_000);
    expect(scene.readsPerSecond).toEqual([0, 100]);
    const tenths = Array.from({ length: 10 }, (_, i) => 1000 + 100 * i);
    for (const fromMs of tenths) {
      const here = scene.reads.filter((atMs) => atMs >= fromMs && atMs < fromMs + 100);
      expect(here.length).toBeLessThan(25);
    }
  });

  it('leaves the API server when the hub answers, and never goes back to an older epoch', async () => {
    const scene = new Scene();
    const { acceptor } = scene.hub.streams;
    scene.hub.streams.acceptor = undefined;
    scene.api.setStatus(2, 2);
    scene.startAgent();
    await scene.until(() => scene.api.annotations[EPOCH] === '3');
    // The hub has read an older state, as if from an outdated copy of the storage.
    scene.hub.setStatus(1, 1);
    scene.hub.streams.acceptor = acceptor;
    await scene.until(() => scene.hub.announced !== undefined);
    await scene.until(() => scene.api.openWatches === 0);
    await scene.clock.advance(60_000);
    expect(scene.announced).toEqual([3]);
    expect(scene.hub.announced?.epoch).toBe(3);
    scene.hub.setStatus(3, 3);
    await scene.until(() => scene.hub.announced?.epoch === 4);
  });
});

describe('an agent that has lost its hub', () => {
  it('gives it ten seconds, then turns to the API server, and comes back', async () => {
    const scene = new Scene();
    scene.startAgent();
    await scene.until(() => scene.hub.announced?.epoch === 1);
    const { acceptor } = scene.hub.streams;
    scene.hub.streams.acceptor = undefined;
    scene.hub.streams.breakAll();
    await scene.clock.advance(9900);
    expect(scene.reads).toEqual([]);
    await scene.until(() => scene.api.annotations[EPOCH] === '1', 5200);
    scene.hub.streams.acceptor = acceptor;
    await scene.until(() => scene.api.openWatches === 0);
    scene.hub.setStatus(1, 0);
    await scene.until(() => scene.hub.announced?.epoch === 2);
    expect(scene.api.annotations[EPOCH]).toBe('1');
  });

  it.each([0, 3000, 4500, 7000])(
    'turns to the API server within 15 s where packets are dropped silently, %i ms into its stream',
    async (intoMs) => {
      const scene = new Scene();
      for (let i = 0; i < 50; i++) scene.startAgent();
      await scene.until(() => scene.hub.hub.streamCount === 50);
      await scene.clock.advance(intoMs);
      const cutMs = scene.clock.monotonic();
      scene.hub.streams.isCut = true;
      await scene.clock.advance(15_000);
      expect(scene.reads).toHaveLength(50);
      expect(Math.min(...scene.reads)).toBeGreaterThanOrEqual(cutMs + 4000);
      scene.hub.streams.isCut = false;
      await scene.until(() => scene.api.openWatches === 0);
      scene.hub.setStatus(1, 0);
      await scene.until(() => scene.hub.announced?.epoch === 2);
    },
  );

  it('leaves the API server again for a stream that was only late', async () => {
    const scene = new Scene();
    scene.startAgent();
    await scene.until(() => scene.hub.announced?.epoch === 1);
    const stream = scene.hub.hub.streamCount;
    scene.hub.streams.isCut = true;
    await scene.until(() => scene.api.openWatches > 0);
    scene.hub.streams.isCut = false;
    await scene.until(() => scene.api.openWatches === 0, 6000);
    expect(scene.hub.hub.streamCount).toBe(stream);
  });

  it('has forgotten the API server if the hub is back within that time', async () => {
    const scene = new Scene();
    scene.startAgent();
    await scene.until(() => scene.hub.announced?.epoch === 1);
    for (let i = 0; i < 20; i++) {
      scene.hub.streams.breakAll();
      await scene.clock.advance(3000);
    }
    expect(scene.api.requests).toEqual([]);
  });
});

it('asks the API server for its Pod where the hub does not know that question', async () => {
  const scene = new Scene();
  // The hub's API shows another Pod, so this hub never answers.
  scene.startAgent(60_000);
  await scene.clock.runUntil(() => scene.announced.length > 0, 10_000);
  scene.hub.setStatus(0, 1);
  await scene.clock.advance(5000);
  expect(scene.lifted).toEqual([]);
  await scene.clock.runUntil(() => scene.lifted.length > 0, 30_000);
  await scene.clock.advance(600_000);
  expect(scene.lifted).toEqual([1]);
});

it('leaves the API server when the hub answers that question again', async () => {
  const scene = new Scene();
  scene.startAgent(60_000);
  await scene.clock.runUntil(() => scene.api.openWatches > 0, 60_000);
  scene.hub.api.setPod({ uid: 'pod-0' });
  await scene.clock.runUntil(() => scene.api.openWatches === 0, 60_000);
  await scene.clock.advance(120_000);
  expect(scene.api.openWatches).toBe(0);
});
