import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { describe, expect, it } from 'vitest';
import { createSidecar, type Sidecar } from './sidecar.ts';

const PROBE_TIMEOUT_MS = 1000;

class Scene {
  readonly clock = new VirtualClock();
  readonly sidecar: Sidecar = createSidecar(this.clock, '/barrier-is-lifted');
  readonly answers: (readonly [status: number, afterMs: number])[] = [];

  ask(path: string, rest: Partial<HttpRequest> = {}): void {
    const start = this.clock.monotonic();
    const { signal } = new AbortController();
    void this.sidecar
      .handler({ method: 'GET', path, headers: {}, signal, ...rest })
      .then(({ status }) => this.answers.push([status, this.clock.monotonic() - start]));
  }
}

describe('the barrier of a sidecar', () => {
  it('answers that it holds before the probe gives up', async () => {
    const scene = new Scene();
    scene.ask('/barrier-is-lifted');
    await scene.clock.advance(PROBE_TIMEOUT_MS - 1);
    expect(scene.answers).toEqual([[503, 800]]);
  });

  it('lets a probe that is under way succeed at the instant of the lift', async () => {
    const scene = new Scene();
    scene.ask('/barrier-is-lifted');
    await scene.clock.advance(300);
    scene.sidecar.lift(1, () => undefined);
    await scene.clock.settle();
    expect(scene.answers).toEqual([[200, 300]]);
    expect(scene.clock.pendingTimers).toBe(0);
  });

  it('lets every later probe succeed at once', async () => {
    const scene = new Scene();
    scene.sidecar.lift(1, () => undefined);
    scene.ask('/barrier-is-lifted?x=1');
    scene.ask('/barrier-is-lifted', { method: 'HEAD' });
    await scene.clock.settle();
    expect(scene.answers).toEqual([
      [200, 0],
      [200, 0],
    ]);
  });

  it('keeps nothing of a probe that was given up', async () => {
    const scene = new Scene();
    const prober = new AbortController();
    scene.ask('/barrier-is-lifted', { signal: prober.signal });
    prober.abort();
    await scene.clock.settle();
    expect(scene.clock.pendingTimers).toBe(0);
  });

  it('answers nothing else', async () => {
    const scene = new Scene();
    scene.ask('/');
    scene.ask('/barrier-is-lifted', { method: 'POST' });
    await scene.clock.settle();
    expect(scene.answers).toEqual([
      [404, 0],
      [405, 0],
    ]);
  });
});

it('follows the progress of the workers, and of their ranks, from the lift on', async () => {
  const clock = new VirtualClock();
  const lines = ['7'];
  const file = { read: async () => lines.shift() };
  const rank = { local: 3, file: { read: async () => '6 pid=7' } };
  const found = [[], [rank]];
  const ranks = {
    found: async () => found.shift() ?? [],
    failure: async () => undefined,
    isTerminated: async () => undefined,
  };
  const sidecar = createSidecar(clock, '/', { file, ranks, logger: SILENT });
  await clock.advance(10_000);
  expect(sidecar.progress.progress).toBeUndefined();
  sidecar.lift(1, () => undefined);
  await clock.advance(250);
  expect(sidecar.progress.progress?.step).toBe(7);
  lines.push('8');
  await sidecar.readLast?.();
  expect(sidecar.progress.reporters.map(({ local }) => local)).toEqual([3]);
  expect(sidecar.progress.progress?.step).toBe(6);
});
