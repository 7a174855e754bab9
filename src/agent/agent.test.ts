import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { describe, expect, it } from 'vitest';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import { type AgentOptions, type Body, startAgent } from './agent.ts';
import type { Channel, ChannelListener, GroupSnapshot } from './channel.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { createHubChannel } from './hub-channel.ts';
import { NO_MARKER, processMarkerStore } from './marker.ts';
import { UNCONFIRMED_AFTER_MS } from './pod-lease.ts';
import { MemberProgress } from './progress/member-progress.ts';
import { createSidecar } from './sidecar.ts';

/** Confirms each announcement at once, from within the call, as a channel may. */
class PromptChannel implements Channel {
  readonly calls: string[] = [];
  listener: ChannelListener | undefined;
  notice: Promise<void> = Promise.resolve();

  open(listener: ChannelListener): void {
    this.listener = listener;
    listener.snapshot(snapshot(0, 0));
  }

  announce({ epoch }: { readonly epoch: number }): void {
    this.calls.push(`announce ${epoch}`);
    this.listener?.announced(epoch);
    this.listener?.snapshot(snapshot(epoch - 1, epoch));
  }

  askForPod(): void {
    this.calls.push('ask');
  }

  ping(): void {
    this.calls.push('ping');
  }

  tellSuccess({ epoch }: WorkerEnd): void {
    this.calls.push(`success ${epoch}`);
  }

  giveNotice(epoch: number): Promise<void> {
    this.calls.push(`notice ${epoch}`);
    return this.notice;
  }

  close(): void {
    this.calls.push('close');
  }
}

function snapshot(deprecated: number, released: number): GroupSnapshot {
  const version = String(1 + deprecated + released);
  const rest = { isBypassed: false, isFresh: false, timeouts: {}, members: 2 };
  return { uid: 'uid-1', version, deprecated, released, ...rest };
}

function options(channel: Channel, rest: Partial<AgentOptions> = {}): AgentOptions {
  return {
    jobSetUid: 'uid-1',
    marker: NO_MARKER,
    markers: processMarkerStore(),
    channel,
    body: createSidecar(new VirtualClock(), '/barrier'),
    clock: new VirtualClock(),
    logger: SILENT,
    ...rest,
  };
}

/** Lets everything happen that needs no time. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a running agent', () => {
  it('handles what a channel says from within a call after that call', async () => {
    const channel = new PromptChannel();
    const logger = new MemoryLogger();
    const agent = startAgent(options(channel, { logger }));
    await settle();
    const begun = logger.records.filter(({ message }) => message === 'an epoch begins');
    expect(begun.map(({ fields }) => fields['epoch'])).toEqual([1]);
    channel.listener?.snapshot(snapshot(1, 1));
    expect(await agent.left).toEqual({ type: 'EpochOver' });
    expect(channel.calls).toEqual(['announce 1', 'close']);
  });

  it('leaves only when its notice was given, and closes the channel after that', async () => {
    const channel = new PromptChannel();
    let given: () => void = () => undefined;
    channel.notice = new Promise((resolve) => {
      given = resolve;
    });
    const agent = startAgent(options(channel));
    await settle();
    agent.stop('SIGTERM');
    await settle();
    expect(channel.calls).toEqual(['announce 1', 'notice 1']);
    given();
    expect(await agent.left).toEqual({ type: 'Signal', signal: 'SIGTERM' });
    expect(channel.calls.at(-1)).toBe('close');
  });

  it('cannot continue without a marker, and has announced nothing then', async () => {
    const channel = new PromptChannel();
    const markers = {
      read: () => Promise.resolve(undefined),
      write: () => Promise.reject(new Error('ENOSPC: no space left on device')),
    };
    const agent = startAgent(options(channel, { markers }));
    await expect(agent.left).rejects.toThrow('the marker could not be written: Error: ENOSPC');
    expect(channel.calls).toEqual(['close']);
  });
});

describe('the warm standby of a worker', () => {
  const LEASE_MS = 60_000;

  /** The agent runs epoch 1, and its Pod was confirmed. */
  async function running() {
    const clock = new VirtualClock();
    const channel = new PromptChannel();
    let dropped: () => void = () => undefined;
    const drops: string[] = [];
    let end: Parameters<Body['lift']>[1] = () => undefined;
    const body: Body = {
      mode: 'Supervisor',
      progress: new MemberProgress(),
      lift: (_epoch, ended) => {
        end = ended;
      },
      stopWorker: () =>
        end({ epoch: 1, how: 'Stopped', exit: { signal: 'SIGTERM' }, atMs: clock.monotonic() }),
      killHung: () => undefined,
      hurry: () => undefined,
      dropStandby: () => {
        drops.push('dropped');
        return new Promise((resolve) => {
          dropped = resolve;
        });
      },
    };
    const lease = { random: new SeededRandom(5), leaseMs: LEASE_MS };
    const agent = startAgent(options(channel, { body, clock, lease }));
    channel.listener?.podLives(clock.monotonic());
    await clock.settle();
    let hasLeft = false;
    void agent.left.then(() => {
      hasLeft = true;
    });
    return {
      agent,
      channel,
      clock,
      drops,
      exit: (exitCode: number) => {
        const restarts = exitCode !== 0 && ({ restartsGroup: true } as const);
        const atMs = clock.monotonic();
        end({ epoch: 1, how: 'Exited', exit: { exitCode }, atMs, ...restarts });
      },
      gone: () => dropped(),
      hasLeft: () => hasLeft,
    };
  }

  it('goes before the agent leaves with a worker that has succeeded', async () => {
    const scene = await running();
    expect(scene.drops).toEqual([]);
    scene.exit(0);
    await scene.clock.settle();
    expect([scene.drops.length, scene.hasLeft()]).toEqual([1, false]);
    scene.gone();
    expect(await scene.agent.left).toMatchObject({ type: 'WorkerExit' });
  });

  it('stays when the group restarts', async () => {
    const scene = await running();
    scene.exit(1);
    await scene.clock.settle();
    expect(scene.channel.calls).toContain('announce 2');
    expect(scene.drops).toEqual([]);
    scene.agent.stop('SIGTERM');
  });

  it.each<[string, (scene: Awaited<ReturnType<typeof running>>) => unknown]>([
    ['the agent is told to end', ({ agent }) => agent.stop('SIGTERM')],
    ['the Pod ends', ({ channel }) => channel.listener?.podEnding()],
    ['the agent is cut off', ({ clock }) => clock.advance(LEASE_MS + 5000)],
  ])('goes at once when %s', async (_what, happens) => {
    const scene = await running();
    await happens(scene);
    expect(scene.drops.length).toBeGreaterThanOrEqual(1);
    scene.agent.stop('SIGTERM');
    scene.gone();
  });
});

describe('an agent with a deadline for lost nodes that has the hub alone', () => {
  const LEASE_MS = 60_000;

  function overHub() {
    const clock = new VirtualClock();
    const random = new SeededRandom(5);
    const hub = new FakeHub(clock);
    const logger = new MemoryLogger();
    const connector = hub.streams.connector();
    const jobSetUid = 'jobset-uid';
    const channel = createHubChannel({ connector, clock, random, logger: SILENT, jobSetUid });
    const lease = { random, leaseMs: LEASE_MS };
    const start = () => startAgent(options(channel, { clock, jobSetUid, logger, lease }));
    const said = () => logger.records.map(({ message }) => message);
    const missing = () =>
      logger.records.flatMap(({ fields }) => ('missing' in fields ? [fields['missing']] : []));
    return { clock, hub, start, said, missing };
  }

  it('reports that its operator confirms no Pods, and starts no worker', async () => {
    const { clock, hub, start, said, missing } = overHub();
    const { pod } = hub.api;
    // A hub of an older operator leaves the question open, too.
    hub.api.pod = undefined;
    const agent = start();
    await clock.advance(1000);
    hub.setStatus(0, 1);
    await clock.advance(2 * UNCONFIRMED_AFTER_MS);
    expect(missing()).toEqual([
      expect.stringContaining('unless the operator is of an older version'),
    ]);
    expect(said()).toContain('announces an epoch');
    expect(said()).not.toContain('an epoch begins');
    // An operator that can answer takes over.
    hub.api.pod = pod;
    await clock.advance(10_000);
    expect(said()).toContain('an epoch begins');
    expect(missing()).toHaveLength(1);
    agent.stop('SIGTERM');
    await agent.left;
  });

  it('reports that no answer comes at all', async () => {
    const { clock, hub, start, missing } = overHub();
    hub.streams.isCut = true;
    const agent = start();
    await clock.advance(2 * UNCONFIRMED_AFTER_MS);
    expect(missing()).toEqual(['any answer from the hub or the API server']);
    agent.stop('SIGTERM');
    await agent.left;
  });

  it('says nothing of it when it is confirmed', async () => {
    const { clock, hub, start, said, missing } = overHub();
    const agent = start();
    await clock.advance(1000);
    hub.setStatus(0, 1);
    await clock.advance(2 * UNCONFIRMED_AFTER_MS);
    expect(missing()).toEqual([]);
    expect(said()).toContain('an epoch begins');
    agent.stop('SIGTERM');
    await agent.left;
  });
});
