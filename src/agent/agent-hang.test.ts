import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DISABLE_IN_PLACE_RESTART,
  EPOCH,
  FIRST_PROGRESS_TIMEOUT,
  NOTICE,
  PROGRESS_TIMEOUT,
} from '../jobset/names.ts';
import { parseNotice } from '../jobset/worker-end/notice.ts';
import { type Agent, type Body, startAgent } from './agent.ts';
import type { Channel } from './channel.ts';
import { apiChannelOf } from './fake-api.fixture.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { createFallbackChannel } from './fallback-channel.ts';
import { createHubChannel } from './hub-channel.ts';
import { NO_MARKER, processMarkerStore } from './marker.ts';
import { MemberProgress } from './progress/member-progress.ts';
import type { OwnEnd } from './worker-exit.ts';

const LOOK_MS = 250;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NO_PROGRESS = 'the worker made no progress';

/** One member, whose worker reports as the test says. */
class Scene {
  readonly clock = new VirtualClock();
  readonly hub = new FakeHub(this.clock);
  readonly logger = new MemoryLogger();
  readonly markers = processMarkerStore();
  /** When workers were killed as hung. */
  readonly kills: number[] = [];
  /** For each stop of a worker, whether it was taken for hung. */
  readonly stops: boolean[] = [];
  agent: Agent | undefined;
  left: string | undefined;
  /** The reports of the worker of the current epoch, and when it began. */
  worker: { readonly say: (line: string) => void } | undefined;
  readonly #mode: Body['mode'];
  readonly #channel: 'Hub' | 'API' | 'Auto';

  constructor(mode: Body['mode'], channel: 'Hub' | 'API' | 'Auto' = 'Hub') {
    this.#mode = mode;
    this.#channel = channel;
  }

  /** Starts an agent, and runs until its worker does, in `epoch`. */
  async run(epoch: number, annotations: Readonly<Record<string, string>>): Promise<void> {
    this.hub.annotate(annotations);
    await this.start();
    await this.clock.runUntil(() => this.announced === epoch, MINUTE_MS);
    this.hub.setStatus(epoch - 1, epoch);
    await this.clock.runUntil(() => this.worker !== undefined, MINUTE_MS);
  }

  async start(): Promise<void> {
    const marker = (await this.markers.read()) ?? NO_MARKER;
    this.left = undefined;
    const agent = startAgent({
      jobSetUid: 'jobset-uid',
      marker,
      markers: this.markers,
      channel: this.#connect(),
      body: this.#body(),
      clock: this.clock,
      logger: this.logger,
    });
    this.agent = agent;
    void agent.left.then(({ type }) => {
      this.left = type;
      this.worker = undefined;
    });
  }

  say(line: string): void {
    this.worker?.say(line);
  }

  /** The network of the member. */
  set isDark(isDark: boolean) {
    this.hub.streams.isCut = isDark;
    if (isDark) this.hub.api.closeWatches();
    this.hub.api.fault = () =>
      isDark ? Promise.reject(new TransportError('no route', { code: 'ENETUNREACH' })) : undefined;
  }

  /** The newest epoch that the operator knows of the Pod. */
  get announced(): number {
    return Math.max(this.hub.announced?.epoch ?? 0, Number(this.hub.api.annotations[EPOCH] ?? 0));
  }

  said(message: string): readonly object[] {
    return this.logger.records.flatMap((each) => (each.message === message ? [each.fields] : []));
  }

  #connect(): Channel {
    const { clock } = this;
    const random = new SeededRandom(11);
    const runtime = { clock, random, logger: SILENT, jobSetUid: 'jobset-uid' };
    const connector = this.hub.streams.connector();
    if (this.#channel === 'API') return apiChannelOf(this.hub.api, clock, random);
    if (this.#channel === 'Hub') return createHubChannel({ ...runtime, connector });
    return createFallbackChannel({
      ...runtime,
      hub: (contact) => createHubChannel({ ...runtime, connector, contact }),
      api: () => apiChannelOf(this.hub.api, clock, random),
    });
  }

  #body(): Body {
    const progress = new MemberProgress();
    const look = (): void => {
      progress.look(this.clock.monotonic());
      if (this.worker !== undefined) this.clock.setTimer(LOOK_MS, look);
    };
    let end: (how: 'Stopped' | 'Hung', signal: string) => void = () => undefined;
    return {
      mode: this.#mode,
      progress,
      lift: (epoch, ended) => {
        progress.begin(this.clock.monotonic());
        this.worker = { say: (line) => void progress.took(line) };
        end = (how, signal) => {
          this.worker = undefined;
          const { step = 0 } = progress.progress ?? {};
          const signs = { silentMs: progress.silentMs, step };
          const known = { epoch, exit: { signal }, ...signs, atMs: this.clock.monotonic() };
          const end: OwnEnd = { ...known, how, restartsGroup: true };
          ended(end);
        };
        this.clock.setTimer(LOOK_MS, look);
      },
      stopWorker: ({ isSilent }) => {
        this.stops.push(isSilent);
        end('Stopped', 'SIGTERM');
      },
      killHung: () => {
        this.kills.push(this.clock.monotonic());
        end('Hung', 'SIGKILL');
      },
      hurry: () => undefined,
    };
  }
}

const HUNG = {
  epoch: 1,
  how: 'Hung',
  exit: { signal: 'SIGKILL' },
  restartsGroup: true,
  step: 330,
};

describe.each(['Hub', 'API', 'Auto'] as const)('a supervised worker that hangs (%s)', (channel) => {
  it('is killed within a second of its time-out, and its end announced with the evidence', async () => {
    const scene = new Scene('Supervisor', channel);
    await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
    scene.say('330');
    const silentSince = scene.clock.monotonic();
    await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
    expect(scene.clock.monotonic() - silentSince).toBeGreaterThanOrEqual(10_000);
    expect(scene.clock.monotonic() - silentSince).toBeLessThan(11_000);
    const notice = parseNotice(scene.hub.api.annotations[NOTICE] ?? '');
    expect(scene.hub.announced?.end ?? notice?.end).toMatchObject(HUNG);
    expect(scene.said(NO_PROGRESS)).toMatchObject([{ epoch: 1, step: 330 }]);
    scene.agent?.stop('SIGTERM');
  });

  it('runs on while nothing answers, and until an answer comes', async () => {
    const scene = new Scene('Supervisor', channel);
    await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
    scene.say('330');
    await scene.clock.advance(5000);
    scene.isDark = true;
    await scene.clock.advance(HOUR_MS);
    expect(scene.kills).toEqual([]);
    expect(scene.said('the worker makes no progress and runs on')).toHaveLength(1);
    scene.isDark = false;
    await scene.clock.runUntil(() => scene.announced === 2, 2 * MINUTE_MS);
    expect(scene.kills).toHaveLength(1);
    scene.agent?.stop('SIGTERM');
  });

  it('is spared at once when the time-out is switched off', async () => {
    const scene = new Scene('Supervisor', channel);
    await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
    scene.say('330');
    await scene.clock.advance(8900);
    scene.hub.annotate({ [PROGRESS_TIMEOUT]: 'Off' });
    await scene.clock.advance(HOUR_MS);
    expect(scene.kills).toEqual([]);
    scene.hub.annotate({ [PROGRESS_TIMEOUT]: '10s' });
    await scene.clock.advance(1000);
    expect(scene.kills).toHaveLength(1);
    scene.agent?.stop('SIGTERM');
  });
});

describe('a worker that makes no progress', () => {
  it('is left alone in a bypassed group', async () => {
    const scene = new Scene('Supervisor');
    await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
    scene.say('1');
    scene.hub.annotate({ [PROGRESS_TIMEOUT]: '10s', [DISABLE_IN_PLACE_RESTART]: '' });
    await scene.clock.advance(HOUR_MS);
    expect(scene.kills).toEqual([]);
    scene.agent?.stop('SIGTERM');
  });

  it('is left alone in a Pod that is being deleted', async () => {
    const scene = new Scene('Supervisor');
    await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
    scene.say('1');
    scene.hub.hub.podEnding('pod-uid');
    await scene.clock.advance(HOUR_MS);
    expect(scene.kills).toEqual([]);
    scene.agent?.stop('SIGTERM');
  });

  it('is timed from the release, where its first report has a time-out', async () => {
    const scene = new Scene('Supervisor');
    await scene.run(1, { [FIRST_PROGRESS_TIMEOUT]: '2m' });
    await scene.clock.advance(119_000);
    expect(scene.kills).toEqual([]);
    await scene.clock.advance(2000);
    expect(scene.kills).toHaveLength(1);
    scene.agent?.stop('SIGTERM');
  });

  it.each([
    [4000, false],
    [6000, true],
  ])(
    'for %i ms of ten seconds: is it taken for hung when its epoch ends? %s',
    async (ms, isSilent) => {
      const scene = new Scene('Supervisor');
      await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
      scene.say('1');
      await scene.clock.advance(ms);
      scene.hub.setStatus(1, 1);
      await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
      expect(scene.stops).toEqual([isSilent]);
      expect(scene.hub.announced?.end).not.toHaveProperty('restartsGroup');
      scene.agent?.stop('SIGTERM');
    },
  );

  it('makes a sidecar leave, and the next one tells why, once', async () => {
    const scene = new Scene('Sidecar');
    await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
    scene.say('330');
    await scene.clock.runUntil(() => scene.left !== undefined, MINUTE_MS);
    expect(scene.left).toBe('Hung');
    expect(scene.announced).toBe(1);
    await scene.clock.advance(3000);
    await scene.start();
    await scene.clock.runUntil(() => scene.announced === 2, MINUTE_MS);
    expect(scene.hub.announced?.end).toMatchObject(HUNG);
    expect(scene.hub.announced?.end?.atMs).toBeLessThanOrEqual(-3000);
    expect(await scene.markers.read()).toMatchObject({ announced: 2 });
    expect(await scene.markers.read()).not.toHaveProperty('hung');
    scene.agent?.stop('SIGTERM');
  });

  it('is timed by what an earlier agent of the Pod has learnt', async () => {
    const scene = new Scene('Sidecar');
    await scene.run(1, { [PROGRESS_TIMEOUT]: 'Auto' });
    for (let step = 0; step < 12; step++) {
      scene.say(`${step}`);
      await scene.clock.advance(2000);
    }
    scene.hub.setStatus(1, 1);
    await scene.clock.runUntil(() => scene.left === 'EpochOver', MINUTE_MS);
    await scene.run(2, { [PROGRESS_TIMEOUT]: 'Auto' });
    scene.say('11');
    await scene.clock.advance(5 * MINUTE_MS - 1000);
    expect(scene.left).toBeUndefined();
    await scene.clock.runUntil(() => scene.left === 'Hung', 5000);
  });
});

describe('while nothing answers', () => {
  const acts = fc.array(
    fc.record({
      ms: fc.integer({ min: 100, max: 30_000 }),
      act: fc.constantFrom('say', 'dark', 'light'),
    }),
    { minLength: 5, maxLength: 30 },
  );

  it.each(['Hub', 'Auto', 'API'] as const)('no worker is ended (%s)', async (channel) => {
    await fc.assert(
      fc.asyncProperty(acts, async (schedule) => {
        const scene = new Scene('Supervisor', channel);
        await scene.run(1, { [PROGRESS_TIMEOUT]: '10s' });
        scene.say('1');
        let darkSince: number | undefined;
        for (const { ms, act } of schedule) {
          if (act === 'say') scene.say('2');
          else scene.isDark = act === 'dark';
          if (act === 'light') darkSince = undefined;
          if (act === 'dark') darkSince ??= scene.clock.monotonic();
          const before = scene.kills.length;
          await scene.clock.advance(ms);
          // Messages on their way when the network failed may still count.
          if (darkSince !== undefined) {
            for (const at of scene.kills.slice(before)) expect(at - darkSince).toBeLessThan(50);
          }
        }
        scene.agent?.stop('SIGTERM');
      }),
      { numRuns: 25 },
    );
  });
});

describe('in 24 hours of training', () => {
  it.each(['1m', 'Auto'])(
    'no worker is taken for hung with %s',
    async (timeout) => {
      const scene = new Scene('Supervisor');
      await scene.run(1, { [PROGRESS_TIMEOUT]: timeout, [FIRST_PROGRESS_TIMEOUT]: '10m' });
      const random = new SeededRandom(41);
      const endMs = scene.clock.monotonic() + 24 * HOUR_MS;
      // Imports and compilation.
      await scene.clock.advance(9 * MINUTE_MS);
      for (let step = 0; scene.clock.monotonic() < endMs; step++) {
        scene.say(`${step}`);
        if (step % 400 === 399) {
          scene.say(`${step} phase=evaluate timeout=20m`);
          await scene.clock.advance(19 * MINUTE_MS);
        } else if (step % 150 === 149) {
          scene.say(`${step} phase=checkpoint timeout=11m`);
          await scene.clock.advance(10 * MINUTE_MS);
          scene.say(`${step} checkpoint=${step}`);
        }
        const isStalled = random.next() < 0.02;
        await scene.clock.advance(isStalled ? 59_000 : 500 + random.next() * 10_000);
      }
      expect(scene.kills).toEqual([]);
      expect(scene.said(NO_PROGRESS)).toEqual([]);
      // A hang of this worker would have been found.
      await scene.clock.advance(timeout === 'Auto' ? 61 * MINUTE_MS : 62_000);
      expect(scene.kills).toHaveLength(1);
      scene.agent?.stop('SIGTERM');
    },
    120_000,
  );
});
