import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { expect, test } from 'vitest';
import { type OperatorChild, OperatorProcess } from './operator-process.ts';

class World {
  readonly clock = new VirtualClock();
  readonly signals: string[] = [];
  readonly told: string[] = [];
  starts = 0;
  end: (how: string) => void = () => undefined;
  /** It ignores SIGTERM. */
  isStubborn = false;
  readonly operator = new OperatorProcess({
    spawn: () => this.#spawn(),
    clock: this.clock,
    random: new SeededRandom(1),
    logger: SILENT,
    onEnd: (how, restartMs) => this.told.push(`${how}, again in ${restartMs} ms`),
  });

  #spawn(): OperatorChild {
    this.starts++;
    const exited = new Promise<string>((resolve) => {
      this.end = resolve;
    });
    return {
      pid: 100 + this.starts,
      exited,
      metrics: () => Promise.resolve(`page of ${100 + this.starts}`),
      signal: (signal) => {
        this.signals.push(signal);
        if (signal === 'SIGKILL' || !this.isStubborn) this.end(signal);
      },
    };
  }
}

test('an operator that ends is started again, later and later while it dies young', async () => {
  const world = new World();
  expect([world.starts, world.operator.pid]).toEqual([1, 101]);
  for (let i = 0; i < 8; i++) {
    world.end('SIGKILL');
    await world.clock.advance(10_000);
  }
  expect(world.told.map((text) => text.replace('SIGKILL, again in ', ''))).toEqual(
    [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000].map((ms) => `${ms} ms`),
  );
  expect(world.operator.pid).toBe(109);
  await world.clock.advance(10_001);
  world.end('exit code 1');
  await world.clock.settle();
  expect(world.told.at(-1)).toBe('exit code 1, again in 200 ms');
  await world.operator.stop();
  expect(world.clock.pendingTimers).toBe(0);
});

test('metrics come from the process that runs now', async () => {
  const world = new World();
  const { signal } = new AbortController();
  expect(await world.operator.metrics(signal)).toBe('page of 101');
  world.end('SIGKILL');
  await world.clock.advance(1000);
  expect(await world.operator.metrics(signal)).toBe('page of 102');
  await world.operator.stop();
});

test.each([false, true])(
  'it is not started again when it is stopped (stubborn: %s)',
  async (isStubborn) => {
    const world = new World();
    world.isStubborn = isStubborn;
    const stopped = world.operator.stop();
    await world.clock.advance(60_000);
    await stopped;
    expect(world.signals).toEqual(isStubborn ? ['SIGTERM', 'SIGKILL'] : ['SIGTERM']);
    expect([world.starts, world.told]).toEqual([1, []]);
  },
);
