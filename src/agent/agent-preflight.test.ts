import {
  type FakeProcess,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { DISABLE_IN_PLACE_RESTART, EPOCH, NOTICE } from '../jobset/names.ts';
import { parseNotice } from '../jobset/worker-end/notice.ts';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import { type Agent, startAgent } from './agent.ts';
import type { Channel } from './channel.ts';
import { apiChannelOf } from './fake-api.fixture.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { createHubChannel } from './hub-channel.ts';
import { NO_MARKER, processMarkerStore } from './marker.ts';
import { createSupervisor } from './supervisor.ts';
import { UNSEEN_WORKER } from './worker/unseen-worker.fixture.ts';

const MINUTE_MS = 60_000;
const LEASE_MS = 20_000;

/** One member, whose worker and preflight end when the test ends them. */
class Scene {
  readonly clock = new VirtualClock();
  readonly hub = new FakeHub(this.clock);
  readonly processes = new MemoryProcessRunner({ train: () => undefined, sh: () => undefined });
  readonly #markers = processMarkerStore();
  readonly #channel: 'Hub' | 'API';
  agent: Agent | undefined;
  left: string | undefined;

  constructor(channel: 'Hub' | 'API' = 'Hub') {
    this.#channel = channel;
  }

  /** Starts an agent whose worker runs in epoch 1. */
  async run(): Promise<void> {
    await this.start();
    await this.clock.runUntil(() => this.announced === 1, MINUTE_MS);
    this.hub.setStatus(0, 1);
    await this.clock.runUntil(() => this.#running('train') !== undefined, MINUTE_MS);
  }

  async start(lease?: { leaseMs: number; random: SeededRandom }): Promise<void> {
    const { clock, processes } = this;
    const body = createSupervisor({
      ...UNSEEN_WORKER,
      command: { argv: ['train'], env: {}, cwd: '/' },
      rules: [],
      stopGraceMs: 5000,
      preflight: 'check',
      random: new SeededRandom(3),
      processes,
      clock,
      logger: SILENT,
    });
    const markers = this.#markers;
    const marker = (await markers.read()) ?? NO_MARKER;
    const channel = this.#connect();
    const options = { jobSetUid: 'jobset-uid', marker, markers, channel, body, clock, lease };
    this.agent = startAgent({ ...options, logger: SILENT });
    this.left = undefined;
    void this.agent.left.then(({ type }) => {
      this.left = type;
    });
  }

  /** The worker dies, and its preflight runs. */
  async fail(): Promise<FakeProcess> {
    this.worker.exit(1);
    await this.clock.settle();
    const preflight = this.#running('sh');
    if (preflight === undefined) throw new Error('no preflight runs');
    return preflight;
  }

  get worker(): FakeProcess {
    const worker = this.#running('train');
    if (worker === undefined) throw new Error('no worker runs');
    return worker;
  }

  get preflights(): number {
    return this.processes.started.filter(({ command }) => command.argv[0] === 'sh').length;
  }

  get announced(): number {
    return Math.max(this.hub.announced?.epoch ?? 0, Number(this.hub.api.annotations[EPOCH] ?? 0));
  }

  /** The end of the worker in the last announcement. */
  get told(): WorkerEnd | undefined {
    if (this.#channel === 'Hub') return this.hub.announced?.end;
    return parseNotice(this.hub.api.annotations[NOTICE] ?? '')?.end;
  }

  #running(program: string): FakeProcess | undefined {
    return this.processes.running.find(({ command }) => command.argv[0] === program);
  }

  #connect(): Channel {
    const { clock } = this;
    const random = new SeededRandom(11);
    if (this.#channel === 'API') return apiChannelOf(this.hub.api, clock, random);
    const connector = this.hub.streams.connector();
    return createHubChannel({ clock, random, logger: SILENT, jobSetUid: 'jobset-uid', connector });
  }
}

let scene = new Scene();
afterEach(() => scene.agent?.stop('SIGTERM'));

describe.each(['Hub', 'API'] as const)(
  'a worker that fails before its preflight (%s)',
  (channel) => {
    it('is announced when the preflight has ended, and as old as it is', async () => {
      scene = new Scene(channel);
      await scene.run();
      const preflight = await scene.fail();
      preflight.write('stderr', 'GPU 3 lost\n');
      await scene.clock.advance(30_000);
      expect(scene.announced).toBe(1);
      preflight.exit(1);
      await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
      expect(scene.told).toEqual({
        epoch: 1,
        how: 'Exited',
        exit: { exitCode: 1 },
        restartsGroup: true,
        unfit: 'GPU 3 lost',
        atMs: expect.any(Number),
      });
      expect(scene.told?.atMs).toBeLessThanOrEqual(-30_000);
      scene.hub.setStatus(1, 2);
      await scene.clock.runUntil(() => scene.processes.running.length > 0, MINUTE_MS);
      expect(scene.worker.command.env['LOCKSTEP_EPOCH']).toBe('2');
    });

    it('is announced without more when the preflight passes', async () => {
      scene = new Scene(channel);
      await scene.run();
      (await scene.fail()).exit(0);
      await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
      expect(scene.told).toMatchObject({ how: 'Exited', exit: { exitCode: 1 } });
      expect(scene.told).not.toHaveProperty('unfit');
    });

    it('is reported after the preflight too if another member ends the epoch meanwhile', async () => {
      scene = new Scene(channel);
      await scene.run();
      const preflight = await scene.fail();
      scene.hub.setStatus(1, 1);
      await scene.clock.advance(10_000);
      expect({ announced: scene.announced, runs: preflight.isRunning }).toEqual({
        announced: 1,
        runs: true,
      });
      preflight.exit(4);
      await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
      expect(scene.told).toMatchObject({ how: 'Exited', unfit: 'it exited with 4' });
    });
  },
);

describe('a preflight', () => {
  it('runs neither after a worker that succeeds nor after one that others stop', async () => {
    scene = new Scene();
    await scene.run();
    scene.hub.setStatus(1, 1);
    await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
    scene.hub.setStatus(1, 2);
    await scene.clock.runUntil(() => scene.processes.running.length > 0, MINUTE_MS);
    scene.worker.exit(0);
    await scene.clock.runUntil(() => scene.left !== undefined, MINUTE_MS);
    expect({ left: scene.left, preflights: scene.preflights }).toEqual({
      left: 'WorkerExit',
      preflights: 0,
    });
  });

  it('ends at once when the agent is told to end', async () => {
    scene = new Scene();
    await scene.run();
    const preflight = await scene.fail();
    preflight.fork('own group').onSignal(() => undefined);
    scene.agent?.stop('SIGTERM');
    await scene.clock.settle();
    expect({ left: scene.left, running: scene.processes.running }).toEqual({
      left: 'Signal',
      running: [],
    });
    expect(scene.announced).toBe(1);
  });

  it.each<[string, () => void, number]>([
    ['the Pod is deleted', () => scene.hub.hub.podEnding('pod-uid'), 0],
    ['the group is bypassed', () => scene.hub.annotate({ [DISABLE_IN_PLACE_RESTART]: '' }), 1],
  ])('ends at once when %s', async (_, happen, workers) => {
    scene = new Scene();
    await scene.run();
    const preflight = await scene.fail();
    preflight.write('stdout', 'GPU 3 lost\n');
    happen();
    await scene.clock.advance(1000);
    expect(preflight.isRunning).toBe(false);
    expect(scene.processes.running).toHaveLength(workers);
    expect(scene.told ?? {}).not.toHaveProperty('unfit');
  });

  it('ends when the Pod may count as dead, and is announced without it', async () => {
    scene = new Scene();
    await scene.start({ leaseMs: LEASE_MS, random: new SeededRandom(5) });
    await scene.clock.runUntil(() => scene.announced === 1, MINUTE_MS);
    scene.hub.setStatus(0, 1);
    await scene.clock.runUntil(() => scene.processes.running.length > 0, MINUTE_MS);
    const preflight = await scene.fail();
    preflight.write('stdout', 'GPU 3 lost\n');
    scene.hub.streams.isCut = true;
    await scene.clock.runUntil(() => !preflight.isRunning, MINUTE_MS / 2);
    scene.hub.streams.isCut = false;
    await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
    expect(scene.told).not.toHaveProperty('unfit');
  });

  it('that was killed with its agent leaves the announcement to the next one', async () => {
    scene = new Scene();
    await scene.run();
    await scene.fail();
    await scene.start();
    await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
    expect(scene.told).toBeUndefined();
  });
});
