import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, test } from 'vitest';
import { MemberProgress } from '../progress/member-progress.ts';
import type { RankFailure } from '../progress/progress-files.ts';
import type { FirstRank } from './first-rank.ts';
import type { RankLooks, RankState } from './rank-looks.ts';
import { RankWatch } from './rank-watch.ts';

const WORKER = 1;
const LAUNCHER = 10;

/** Processes as a test sets them: a launcher below the worker, and ranks below the launcher. */
class Scene {
  readonly clock = new VirtualClock();
  readonly states = new Map<number, RankState>();
  readonly marked = new Set<number>();
  looks = 0;
  siblings = 0;
  readonly watch: RankWatch;

  constructor() {
    this.set(WORKER, { parent: 0 });
    this.set(LAUNCHER, { parent: WORKER });
    const looks: RankLooks = {
      state: (pid) => {
        this.looks++;
        return this.states.get(pid);
      },
      children: () => this.siblings,
      hasVariable: async (pid, entry) => entry === 'LOCKSTEP_WORKER=id' && this.marked.has(pid),
    };
    const mark = 'LOCKSTEP_WORKER=id';
    const { clock } = this;
    this.watch = new RankWatch({ pid: WORKER, mark, looks, clock, progress: new MemberProgress() });
  }

  set(pid: number, state: Partial<RankState>): void {
    this.states.set(pid, { parent: LAUNCHER, startTicks: '5', hasEnded: false, ...state });
  }

  /** Ranks that have reported, with pids from 100. */
  report(ranks: number, siblings = ranks): void {
    this.siblings = siblings;
    for (let local = 0; local < ranks; local++) {
      this.set(100 + local, {});
      this.watch.heard(local, `7 pid=${100 + local} rank=${40 + local}`);
    }
  }

  first(failures: readonly (readonly [number, RankFailure])[] = []): FirstRank | undefined {
    this.watch.freeze();
    return this.watch.first(new Map(failures), new Map());
  }
}

describe('a rank that says its process', () => {
  test('is watched, and dated by the look that missed it', async () => {
    const scene = new Scene();
    scene.report(4);
    await scene.clock.advance(1000);
    scene.states.delete(102);
    await scene.clock.advance(300);
    expect(scene.watch.process(2)).toBeUndefined();
    expect(scene.watch.process(3)).toEqual({ pid: 103, rank: 43 });
    expect(scene.first()).toEqual({ firstRank: 'Silent', local: 2, rank: 42, atMs: 1000 });
    expect(scene.clock.pendingTimers).toBe(0);
  });

  test('is gone when another process has its number', async () => {
    const scene = new Scene();
    scene.report(2);
    await scene.clock.advance(1000);
    scene.set(101, { startTicks: '999' });
    await scene.clock.advance(300);
    expect(scene.first()).toMatchObject({ firstRank: 'Silent', local: 1 });
  });

  test.each<[string, (scene: Scene) => void]>([
    ['is no process', () => undefined],
    ['has ended', (scene) => scene.set(900, { hasEnded: true })],
    ['belongs to others', (scene) => scene.set(900, { parent: 0 })],
    ['has an endless chain of parents', (scene) => scene.set(900, { parent: 900 })],
  ])('is heard, but not believed, if that %s', async (_what, make) => {
    const scene = new Scene();
    make(scene);
    for (let times = 0; times < 5; times++) scene.watch.heard(0, '7 pid=900');
    await scene.clock.advance(1000);
    expect(scene.watch.known).toEqual([]);
    expect(scene.first()).toBeUndefined();
    expect(scene.clock.pendingTimers).toBe(0);
  });

  test('is believed if the process left its parents, and has the mark of this start', async () => {
    const scene = new Scene();
    scene.set(900, { parent: 1000 });
    scene.marked.add(900);
    scene.watch.heard(0, '7 pid=900');
    await scene.clock.settle();
    expect(scene.watch.process(0)).toEqual({ pid: 900 });
  });

  test('replaces the one before it, as where a launcher starts its ranks again', async () => {
    const scene = new Scene();
    scene.report(2);
    await scene.clock.advance(1000);
    scene.states.delete(100);
    scene.states.delete(101);
    await scene.clock.advance(300);
    scene.set(200, {});
    scene.set(201, {});
    scene.watch.heard(0, '8 pid=200');
    scene.watch.heard(1, '8 pid=201');
    await scene.clock.advance(300);
    expect(scene.first()).toEqual({ firstRank: 'None' });
  });
});

test('nobody is looked at more than 80 times a second, however many ranks there are', async () => {
  const scene = new Scene();
  scene.report(64);
  scene.looks = 0;
  await scene.clock.advance(10_000);
  expect(scene.looks).toBeGreaterThan(700);
  expect(scene.looks).toBeLessThanOrEqual(800);
});

test('no rank is named if the launcher has one more, which does not report', async () => {
  const scene = new Scene();
  scene.report(3, 4);
  await scene.clock.advance(1000);
  scene.states.delete(101);
  await scene.clock.advance(300);
  expect(scene.first()).toEqual({ firstRank: 'Open', atMs: 1000 });
  const other = new Scene();
  other.report(3, 4);
  expect(other.first()).toBeUndefined();
});

test('an exception counts for the process that wrote it, and before the worker was ended', async () => {
  const scene = new Scene();
  scene.report(2);
  await scene.clock.advance(1000);
  const failure = (pid: number, atMs: number): RankFailure => ({ pid, atMs, text: 'E' });
  expect(scene.first([[1, failure(101, 900)]])).toMatchObject({ firstRank: 'Raised', local: 1 });
  expect(scene.first([[1, failure(100, 900)]])).toEqual({ firstRank: 'None' });
  expect(scene.first([[1, failure(101, 1001)]])).toEqual({ firstRank: 'None' });
});
