import { describe, expect, it } from 'vitest';
import { measureRestarts, type RunEvent } from './measurement.ts';

const T = Date.parse('2026-01-01T00:00:00Z');
const step = (at: number, done: number): RunEvent => ({
  kind: 'line',
  atMs: T + at,
  line: { kind: 'step', step: done, steps: 700, pass: 1, loss: 1, imagesPerSecond: 1 },
});
const start = (at: number, from: number): RunEvent => ({
  kind: 'line',
  atMs: T + at,
  line: { kind: 'start', rank: 0, step: from },
});
const pod = (at: number, uid: string, state: 'running' | 'gone' | 'failed'): RunEvent => ({
  kind: 'pod',
  atMs: T + at,
  name: uid,
  uid,
  isRunning: state === 'running',
  isGone: state === 'gone',
  failure:
    state === 'failed'
      ? { pod: uid, container: 'worker', exitCode: 137, signal: null, reason: 'Error' }
      : undefined,
});
const killed = (at: number, name: string): RunEvent => ({
  kind: 'killed',
  atMs: T + at,
  pod: name,
});

describe('measuring a run', () => {
  it('splits an in-place restart at what status recorded', () => {
    const events = [
      pod(0, 'a', 'running'),
      pod(0, 'b', 'running'),
      step(900, 330),
      killed(1000, 'b'),
      step(1001, 331),
      start(1700, 300),
      step(1900, 301),
    ];
    const record = {
      epoch: 1,
      time: '2026-01-01T00:00:01.400000Z',
      cause: 'WorkerFailed',
      counted: true,
      witness: { pod: 'b', container: 'worker', exitCode: 137, reason: 'Error' },
      phases: { announceMs: 150, releaseMs: 50 },
    } as const;
    const [measured, ...others] = measureRestarts({
      strategy: 'InPlaceRestart',
      mode: 'sidecar',
      workers: 2,
      events,
      status: { restartHistory: [record] },
    });
    expect(others).toEqual([]);
    expect(measured).toMatchObject({
      epoch: 1,
      podsRecreated: 0,
      stepsLost: 30,
      totalMs: 900,
      phasesMs: { announced: 400, atBarrier: 150, released: 50, firstStep: 300 },
      witness: { pod: 'b', container: 'worker', exitCode: 137, signal: null, reason: 'Error' },
    });
  });

  it.each([
    [['a', 'b'], 'Warm'],
    [['a'], null],
    [[], null],
  ])('tells by the standbys of %o that became workers how the group began', (pods, standby) => {
    const events = [
      pod(0, 'a', 'running'),
      pod(0, 'b', 'running'),
      step(900, 330),
      killed(1000, 'b'),
      ...pods.map((name): RunEvent => ({ kind: 'promoted', atMs: T + 1500, pod: name })),
      start(1700, 300),
      step(1900, 301),
    ];
    const record = {
      epoch: 1,
      time: '2026-01-01T00:00:01.400000Z',
      cause: 'WorkerFailed',
      counted: true,
    } as const;
    const run = { strategy: 'InPlaceRestart', mode: 'supervisor', workers: 2 } as const;
    const status = { restartHistory: [record] };
    expect(measureRestarts({ ...run, events, status })).toMatchObject([{ standby }]);
  });

  it('splits a recreation at the end of the old Pods and the start of the new ones', () => {
    const events = [
      pod(0, 'a', 'running'),
      pod(0, 'b', 'running'),
      step(900, 330),
      killed(1000, 'b'),
      pod(1100, 'b', 'failed'),
      pod(1500, 'b', 'gone'),
      pod(2000, 'a', 'gone'),
      pod(2500, 'c', 'running'),
      pod(3000, 'd', 'running'),
      start(3500, 300),
      step(4000, 301),
    ];
    const [measured] = measureRestarts({
      strategy: 'Recreate',
      mode: 'sidecar',
      workers: 2,
      events,
      status: undefined,
    });
    expect(measured).toMatchObject({
      mode: null,
      epoch: null,
      podsRecreated: 2,
      phasesMs: { podsGone: 1000, podsRunning: 1000, firstStep: 1000 },
      witness: { pod: 'b', exitCode: 137 },
    });
  });

  it('skips a kill whose recovery was not seen', () => {
    const events = [pod(0, 'a', 'running'), step(900, 330), killed(1000, 'a')];
    expect(
      measureRestarts({
        strategy: 'Recreate',
        mode: 'sidecar',
        workers: 1,
        events,
        status: undefined,
      }),
    ).toEqual([]);
  });
});
