import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, test } from 'vitest';
import type { ProcessLook, ProcessLooks } from './process-looks.ts';
import { type SeenProcesses, TreeWatch } from './tree-watch.ts';

/** Processes of a worker, as a test sets them. */
class Scene {
  readonly clock = new VirtualClock();
  readonly processes = new Map<string, ProcessLook>();
  isAlive = true;
  isCut = false;
  readonly looks: ProcessLooks = {
    isAlive: () => this.isAlive,
    tree: () => ({
      atMs: this.clock.monotonic(),
      isAlive: this.isAlive,
      isCut: this.isCut,
      processes: new Map(this.processes),
    }),
    threads: () => [],
    oomKills: () => this.oomKills,
  };
  oomKills: number | undefined = 3;
  readonly watch = new TreeWatch({ pid: 1, looks: this.looks, clock: this.clock });

  set(id: string, states: string, cpuMs = 0, runnableMs: readonly [number, number][] = []): void {
    this.processes.set(id, { states: new Set(states), cpuMs, runnableMs: new Map(runnableMs) });
  }

  /** As it is reported if the worker ends now. */
  seen(stepMs?: number): SeenProcesses {
    return this.watch.seenAt(this.clock.monotonic(), stepMs);
  }
}

describe('the processes of a worker', () => {
  test('are stopped or traced if one of them is', async () => {
    const scene = new Scene();
    for (const id of ['1', '2', '3']) scene.set(id, 'S');
    scene.watch.look();
    scene.set('2', 'T');
    scene.set('3', 't');
    scene.watch.look();
    await scene.clock.advance(400);
    expect(scene.seen()).toEqual({ states: 'Tt', stoppedMs: 400 });
  });

  test('count as stopped only if the worker made no step since then', async () => {
    const scene = new Scene();
    scene.set('1 7', 'S');
    scene.set('2 8', 'S');
    await scene.clock.advance(2500);
    scene.set('2 8', 'T');
    await scene.clock.advance(2500);
    const sinceMs = scene.clock.monotonic();
    await scene.clock.advance(5000);
    // The supervisor notices it within a second.
    expect(scene.seen(sinceMs + 900)).toMatchObject({ states: 'T', stoppedMs: 5000 });
    const untouched = scene.seen(sinceMs + 1000);
    expect(untouched).toEqual({ cpuMs: 0 });
    scene.set('1 7', 'T');
    await scene.clock.advance(2500);
    const itself = { states: 'T', stoppedMs: 0 };
    expect(scene.seen(sinceMs + 1000)).toMatchObject(itself);
    // The process was continued and stopped again.
    scene.set('1 7', 'S');
    scene.set('2 8', 'S');
    await scene.clock.advance(2500);
    scene.set('2 8', 'T');
    await scene.clock.advance(2500);
    expect(scene.seen(sinceMs + 1000)).toMatchObject(itself);
  });

  test('of a worker that never stepped count as stopped if they ran before', async () => {
    const scene = new Scene();
    scene.set('1 7', 'S');
    scene.set('2 8', 'T');
    await scene.clock.advance(2500);
    expect(scene.seen()).toEqual({});
    scene.set('3 9', 'S');
    await scene.clock.advance(2500);
    scene.set('3 9', 't');
    await scene.clock.advance(2500);
    expect(scene.seen()).toMatchObject({ states: 't', stoppedMs: 0 });
    const other = new Scene();
    other.set('1 7', 'T');
    await other.clock.advance(2500);
    expect(other.seen()).toMatchObject({ states: 'T' });
  });

  test('spin if one thread ran or waited for a CPU all the time', async () => {
    const scene = new Scene();
    scene.set('1', 'R', 0, [
      [1, 100],
      [7, 9000],
    ]);
    await scene.clock.advance(2500);
    scene.set('1', 'R', 400, [
      [1, 700],
      [7, 13_900],
      [8, 30],
    ]);
    await scene.clock.advance(5000);
    expect(scene.seen()).toMatchObject({ cpuMs: 400, runnableMs: 4900 });
  });

  test('do not spin because a thread was not measured before', async () => {
    const scene = new Scene();
    scene.set('1', 'S', 0, [[1, 100]]);
    await scene.clock.advance(2500);
    scene.set('1', 'S', 0, [
      [1, 200],
      [7, 3_600_000],
      [8, 300],
    ]);
    await scene.clock.advance(5000);
    expect(scene.seen()).toMatchObject({ runnableMs: 300 });
  });

  test('wait for a disk if one did so 5 s before, too', async () => {
    const scene = new Scene();
    scene.set('1', 'D');
    scene.set('2', 'D');
    await scene.clock.advance(2500);
    scene.set('1', 'S');
    scene.set('2', 'SD');
    await scene.clock.advance(5000);
    expect(scene.seen()).toMatchObject({ states: 'D' });
    scene.set('2', 'S');
    scene.set('3', 'D');
    scene.watch.look();
    expect(scene.seen()).toEqual({ cpuMs: 0 });
  });

  test('used CPU time in 5 s, which counts what new ones used', async () => {
    const scene = new Scene();
    scene.set('1', 'R', 7000);
    scene.set('2', 'R', 900);
    await scene.clock.advance(2500);
    scene.processes.delete('2');
    scene.set('1', 'R', 9000);
    scene.set('3', 'R', 400);
    await scene.clock.advance(6000);
    scene.watch.look();
    expect(scene.seen()).toEqual({ cpuMs: 2000 });
  });

  test.each([
    ['waits for the others', 30, true],
    ['does a part of the work', 300, undefined],
  ])('have a launcher if the first %s', async (_, firstMs, launcher) => {
    const scene = new Scene();
    scene.set('1', 'S', 9000);
    scene.set('2', 'R', 500);
    await scene.clock.advance(2500);
    scene.set('1', 'S', 9000 + firstMs);
    scene.set('2', 'R', 900);
    scene.set('3', 'R', 600);
    await scene.clock.advance(5000);
    expect(scene.seen().launcher).toBe(launcher);
  });

  test('are known as they were before something was done to them', async () => {
    const scene = new Scene();
    scene.set('1', 'S', 100);
    await scene.clock.advance(5000);
    scene.watch.look();
    scene.watch.freeze();
    scene.set('1', 't', 9000);
    expect(scene.watch.look()).toBe(true);
    await scene.clock.advance(5000);
    expect(scene.seen()).toEqual({ cpuMs: 0 });
    scene.isAlive = false;
    expect(scene.watch.look()).toBe(false);
  });

  test('may be old where the look before was cut, so their time is longer than 5 s', async () => {
    const scene = new Scene();
    scene.isCut = true;
    scene.set('1 7', 'S');
    await scene.clock.advance(5000);
    scene.set('2 8', 'S', 90_000);
    await scene.clock.advance(2500);
    expect(scene.seen()).toEqual({ cpuMs: 0 });
  });

  test('are known as they were before the first one ended', async () => {
    const scene = new Scene();
    scene.set('1 7', 'T');
    expect(scene.watch.look()).toBe(true);
    scene.isAlive = false;
    scene.processes.clear();
    expect(scene.watch.look()).toBe(false);
    expect(scene.seen()).toEqual({ states: 'T', stoppedMs: 0 });
    scene.watch.freeze();
    expect(scene.clock.pendingTimers).toBe(0);
  });

  test('ran out of memory if one was killed for it a short while ago', async () => {
    const scene = new Scene();
    expect(scene.watch.hadOom).toBe(false);
    scene.oomKills = 4;
    expect(scene.watch.hadOom).toBe(true);
    await scene.clock.advance(9_000);
    expect(scene.watch.hadOom).toBe(true);
    await scene.clock.advance(60_000);
    expect(scene.watch.hadOom).toBe(false);
    scene.oomKills = undefined;
    expect(scene.watch.hadOom).toBe(false);
  });
});
