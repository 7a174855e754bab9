/** The tests that every channel of the agent must pass, over the API server and over the hub. */

import type { StringMap } from '@lockstep/kube/meta.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, it } from 'vitest';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT } from '../jobset/names.ts';
import type { ProgressTimeouts } from '../jobset/progress/progress-timeouts.ts';
import { type WorkerEnd, withoutSigns } from '../jobset/worker-end/worker-end.ts';
import type { Channel } from './channel.ts';

/**
 * A channel and the world behind it: one JobSet, and one member of it, the agent's Pod. Everything
 * takes virtual time.
 */
export interface ChannelUnderTest {
  readonly clock: VirtualClock;
  readonly channel: Channel;
  /** The controller writes the JobSet's status: D, and S of the agent's ReplicatedJob. */
  setStatus(deprecated: number, released: number): void;
  /** The user annotates the JobSet. */
  annotate(annotations: StringMap): void;
  /** The newest epoch that the controller knows of the agent's Pod; 0: none. */
  announced(): number;
  /** The end of the worker that the controller knows as the reason for the announcement. */
  end(): WorkerEnd | undefined;
  /** Connections break; new ones can be made at once. */
  breakConnections(): void;
  /** Nothing answers, until `restore`. */
  goDark(): void;
  restore(): void;
  /** The coordinator sends something that is not part of the protocol. */
  sayNonsense(): void;
  /** The user deletes the Pod, which is still there for a while. */
  deletePod(): void;
}

/** The behaviour of every channel. */
/** The end of a worker without its time. */
const HUNG = {
  epoch: 1,
  how: 'Hung',
  exit: { signal: 'SIGKILL' },
  restartsGroup: true,
  silentMs: 61_000,
  step: 330,
} as const;

export function channelConformance(make: () => ChannelUnderTest): void {
  const opened = async (): Promise<Scene> => {
    const scene = new Scene(make());
    await scene.until(() => scene.heard.length > 0);
    return scene;
  };

  it('begins with a fresh snapshot, and tells of each change that comes', async () => {
    const scene = await opened();
    scene.world.setStatus(0, 1);
    await scene.until(() => scene.last === '0/1');
    scene.world.setStatus(1, 1);
    await scene.until(() => scene.last === '1/1');
    expect(scene.heard[0]).toBe('0/0 fresh');
    scene.close();
  });

  it('announces, confirms, and lets a later announcement supersede an earlier one', async () => {
    const scene = await opened();
    scene.world.channel.announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'));
    scene.world.channel.announce({ epoch: 2, starts: 1 });
    scene.world.channel.announce({ epoch: 3, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 3') && scene.world.announced() === 3);
    scene.close();
  });

  it('tells how the worker ended', async () => {
    const scene = await opened();
    const end = withoutSigns({ ...HUNG, exit: { exitCode: 7 }, atMs: 0 });
    scene.world.channel.announce({ epoch: 2, starts: 1, end });
    await scene.until(() => scene.world.announced() === 2);
    expect(scene.world.end()).toEqual(end);
    scene.close();
  });

  it('tells what is known of the end of the worker besides, and when it was', async () => {
    const scene = await opened();
    await scene.pass(2000);
    const end = { ...HUNG, atMs: scene.world.clock.monotonic() - 1500 };
    scene.world.channel.announce({ epoch: 2, starts: 1, end });
    await scene.until(() => scene.world.announced() === 2);
    const { atMs, ...known } = scene.world.end() ?? {};
    expect(known).toEqual(HUNG);
    expect(atMs).toBeLessThanOrEqual(-1500);
    expect(atMs).toBeGreaterThan(-2000);
    scene.close();
  });

  it('tells within a second how long workers may be silent now', async () => {
    const scene = await opened();
    expect(scene.timeouts).toEqual({});
    scene.world.annotate({ [PROGRESS_TIMEOUT]: '5m', [FIRST_PROGRESS_TIMEOUT]: '1h' });
    await scene.pass(1000);
    expect(scene.timeouts).toEqual({ progressTimeout: 300_000, firstProgressTimeout: 3_600_000 });
    scene.world.annotate({ [PROGRESS_TIMEOUT]: 'Auto' });
    await scene.pass(1000);
    expect(scene.timeouts).toEqual({ progressTimeout: 'Auto' });
    scene.world.annotate({ [PROGRESS_TIMEOUT]: 'Off' });
    await scene.pass(1000);
    expect(scene.timeouts).toEqual({});
    scene.close();
  });

  it('tells that a ping was answered, and which', async () => {
    const scene = await opened();
    await scene.pass(10_000);
    expect(scene.answered).toEqual([]);
    const pingedMs = scene.world.clock.monotonic();
    scene.world.channel.ping();
    await scene.until(() => scene.answered.length > 0);
    expect(scene.answered).toEqual([pingedMs]);
    scene.close();
  });

  it('never takes an answer to an earlier ping for one to a later ping', async () => {
    const scene = await opened();
    scene.world.channel.ping();
    scene.world.goDark();
    for (let i = 0; i < 120; i++) {
      await scene.pass(1000);
      scene.world.channel.ping();
    }
    const restoredMs = scene.world.clock.monotonic();
    expect(scene.answered.every((askedMs) => askedMs === 0)).toBe(true);
    scene.world.restore();
    await scene.pass(60_000);
    scene.world.channel.ping();
    await scene.until(() => scene.answered.some((askedMs) => askedMs > restoredMs));
    scene.close();
  });

  it('repeats an announcement without harm', async () => {
    const scene = await opened();
    for (let i = 0; i < 3; i++) scene.world.channel.announce({ epoch: 2, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 2') && scene.world.announced() === 2);
    scene.world.channel.announce({ epoch: 2, starts: 1 });
    await scene.pass(1000);
    expect(scene.world.announced()).toBe(2);
    scene.close();
  });

  it('gives notice of its epoch within a second', async () => {
    const scene = await opened();
    let isDone = false;
    void scene.world.channel.giveNotice(1).then(() => {
      isDone = true;
    });
    await scene.pass(1000);
    expect(isDone).toBe(true);
    scene.close();
  });

  it('comes back when connections break, and has missed nothing by then', async () => {
    const scene = await opened();
    for (let epoch = 1; epoch <= 4; epoch++) {
      scene.world.breakConnections();
      scene.world.setStatus(epoch - 1, epoch);
      await scene.until(() => scene.last.startsWith(`${epoch - 1}/${epoch}`));
    }
    scene.close();
  });

  it('delivers what was announced while nothing answered, however long that is', async () => {
    const scene = await opened();
    scene.world.goDark();
    scene.world.channel.announce({ epoch: 1, starts: 1 });
    await scene.pass(120_000);
    expect(scene.world.announced()).toBe(0);
    scene.world.setStatus(1, 0);
    scene.world.restore();
    await scene.until(() => scene.world.announced() === 1 && scene.last.startsWith('1/0'));
    scene.close();
  });

  it('stays the same after nonsense', async () => {
    const scene = await opened();
    scene.world.sayNonsense();
    await scene.pass(1000);
    scene.world.setStatus(0, 1);
    await scene.until(() => scene.last.startsWith('0/1'));
    scene.world.channel.announce({ epoch: 2, starts: 1 });
    await scene.until(() => scene.world.announced() === 2);
    scene.close();
  });

  it('finds out that its Pod is being deleted when it announces', async () => {
    const scene = await opened();
    scene.world.deletePod();
    scene.world.channel.announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('ending'));
    scene.close();
  });

  it('tells that its Pod lives, as of a time after the question', async () => {
    const scene = await opened();
    const askedMs = scene.world.clock.monotonic();
    scene.world.channel.askForPod();
    await scene.until(() => scene.lives.length > 0);
    expect(scene.lives).toEqual([askedMs]);
    await scene.pass(1234);
    scene.world.channel.askForPod();
    await scene.until(() => scene.lives.length > 1);
    expect(scene.lives[1]).toBeGreaterThanOrEqual(askedMs + 1234);
    scene.close();
  });

  it('never confirms a Pod that is being deleted', async () => {
    const scene = await opened();
    scene.world.deletePod();
    scene.world.channel.askForPod();
    await scene.pass(30_000);
    expect(scene.lives).toEqual([]);
    scene.close();
  });

  it('says nothing of its Pod while nothing answers, and tells when asked again', async () => {
    const scene = await opened();
    scene.world.goDark();
    scene.world.channel.askForPod();
    await scene.pass(120_000);
    expect(scene.lives).toEqual([]);
    scene.world.restore();
    await scene.pass(30_000);
    scene.world.channel.askForPod();
    await scene.until(() => scene.lives.length > 0);
    scene.close();
  });

  it('says nothing any more when it is closed, and leaves nothing behind', async () => {
    const scene = await opened();
    scene.close();
    await scene.pass(1000);
    const before = scene.heard.length;
    scene.world.setStatus(3, 3);
    await scene.pass(120_000);
    expect(scene.heard).toHaveLength(before);
  });
}

class Scene {
  readonly world: ChannelUnderTest;
  /** What the listener heard: `D/S`, `announced E`, `ending`. */
  readonly heard: string[] = [];
  /** When the questions were asked that confirmed the Pod. */
  readonly lives: number[] = [];
  /** When the pings were sent that were answered. */
  readonly answered: number[] = [];
  /** The time-outs in the last snapshot. */
  timeouts: ProgressTimeouts | undefined;

  constructor(world: ChannelUnderTest) {
    this.world = world;
    world.channel.open({
      snapshot: ({ deprecated, released, isFresh, timeouts }) => {
        this.heard.push(`${deprecated}/${released}${isFresh ? ' fresh' : ''}`);
        this.timeouts = timeouts;
      },
      announced: (epoch) => this.heard.push(`announced ${epoch}`),
      podEnding: () => this.heard.push('ending'),
      podLives: (askedMs) => this.lives.push(askedMs),
      answered: (askedMs) => this.answered.push(askedMs),
      progress: () => undefined,
    });
  }

  /** The last snapshot. */
  get last(): string {
    return this.heard.findLast((one) => one.includes('/')) ?? '';
  }

  until(condition: () => boolean): Promise<void> {
    return this.world.clock.runUntil(condition, 120_000);
  }

  pass(ms: number): Promise<void> {
    return this.world.clock.advance(ms);
  }

  close(): void {
    this.world.channel.close();
  }
}
