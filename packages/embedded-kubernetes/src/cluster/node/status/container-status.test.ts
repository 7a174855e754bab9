/** The status that the API shows for the record of a container. */

import type { ContainerStatus, Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { backoffLimits } from '../backoff.ts';
import { type ContainerRecord, freshRecord } from '../container/container-record.ts';
import {
  backingOff,
  exited,
  neverStarting,
  removed,
  running,
  starting,
  stopping,
  waitingAgain,
} from '../container/container-transitions.ts';
import type { ContainerKind } from '../pod-containers.ts';
import { containerStatuses } from './container-status.ts';

const NOW = 1_000_000;
const LIMITS = backoffLimits();
const NO_PROBES = { startup: false, readiness: false };
const RESTARTING = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
};

/** What happens to container `a`, step by step. */
type Step = (record: ContainerRecord) => ContainerRecord;

const start: Step = (record) => starting(record, NOW, LIMITS);
const run =
  (id: string): Step =>
  (record) =>
    running(start(record), id, NOW, NO_PROBES);
const exit =
  (exitCode: number): Step =>
  (record) => {
    const containerID = record.life.state === 'running' ? record.life.containerID : '';
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    return exited(record, { exitCode, reason, containerID }, NOW);
  };
const kill: Step = (record) => exit(143)(stopping(record, 'RestartAllContainers'));
const wait: Step = (record) => {
  if (record.life.state !== 'exited') throw new Error('it runs');
  return backingOff(record, record.life, 'back-off 10s', NOW + 10_000, NOW, LIMITS);
};

function statusAfter(steps: readonly Step[], kind: ContainerKind = 'regular'): ContainerStatus {
  const fresh = freshRecord('a', kind);
  const record = steps.reduce((before, step) => step(before), fresh);
  const a = { name: 'a', image: 'img' };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: kind === 'regular' ? { containers: [a] } : { initContainers: [a], containers: [] },
  };
  const status = containerStatuses(pod, new Map([['a', record]])).byName.get('a');
  if (status === undefined) throw new Error('no status');
  return status;
}

const REMOVED = {
  state: { waiting: RESTARTING },
  lastState: { terminated: { exitCode: 137, ...RESTARTING } },
  restartCount: 1,
  ready: false,
  started: false,
};

describe('the status of a container that restarts alone', () => {
  it.each<[name: string, steps: readonly Step[], expected: object]>([
    [
      'waits at first',
      [],
      { state: { waiting: { reason: 'ContainerCreating' } }, lastState: {}, restartCount: 0 },
    ],
    [
      'is as it was while it starts',
      [start],
      { state: { waiting: { reason: 'ContainerCreating' } }, restartCount: 0 },
    ],
    [
      'runs',
      [run('1')],
      { state: { running: {} }, containerID: '1', ready: true, started: true, restartCount: 0 },
    ],
    [
      'ends',
      [run('1'), exit(3)],
      {
        state: { terminated: { exitCode: 3, reason: 'Error' } },
        lastState: {},
        containerID: '1',
        ready: false,
        started: false,
        restartCount: 0,
      },
    ],
    [
      'counts the restart when the next run is there',
      [run('1'), exit(3), start],
      { state: { terminated: { exitCode: 3 } }, lastState: {}, restartCount: 0 },
    ],
    [
      'remembers how the run before ended',
      [run('1'), exit(3), run('2')],
      {
        state: { running: {} },
        lastState: { terminated: { exitCode: 3, containerID: '1' } },
        containerID: '2',
        restartCount: 1,
      },
    ],
    [
      'has the last end both as state and before, while it waits',
      [run('1'), exit(3), wait],
      {
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
        lastState: { terminated: { exitCode: 3 } },
        containerID: '1',
        restartCount: 0,
      },
    ],
    [
      'counts one restart after that',
      [run('1'), exit(3), wait, run('2')],
      { lastState: { terminated: { exitCode: 3 } }, containerID: '2', restartCount: 1 },
    ],
  ])('%s', (_, steps, expected) => {
    expect(statusAfter(steps)).toMatchObject(expected);
  });
});

describe('the status of a container while all restart', () => {
  it.each<[name: string, steps: readonly Step[], expected: object]>([
    ['is that of its own end until it is removed', [run('1'), exit(42)], { restartCount: 0 }],
    [
      'loses its exit code then, and keeps the identity of what had ended',
      [run('1'), exit(42), removed],
      { ...REMOVED, containerID: '1' },
    ],
    ['waits if it was killed', [run('1'), kill, removed], REMOVED],
    [
      'stays so while it starts',
      [run('1'), kill, removed, start],
      { state: { waiting: RESTARTING }, restartCount: 1 },
    ],
    [
      'waits for the usual reason once another runs',
      [run('1'), kill, removed, waitingAgain],
      { state: { waiting: { reason: 'ContainerCreating' } }, lastState: REMOVED.lastState },
    ],
    [
      'remembers the removal when it runs again',
      [run('1'), exit(42), removed, run('2')],
      { state: { running: {} }, lastState: REMOVED.lastState, containerID: '2', restartCount: 1 },
    ],
    [
      'ends with its own code after that',
      [run('1'), kill, removed, run('2'), exit(0)],
      { state: { terminated: { exitCode: 0 } }, lastState: REMOVED.lastState, restartCount: 1 },
    ],
    [
      'counts each round',
      [run('1'), kill, removed, run('2'), exit(42), removed],
      { ...REMOVED, restartCount: 2, containerID: '2' },
    ],
    [
      'counts nothing if it never started',
      [removed],
      { state: { waiting: { reason: 'ContainerCreating' } }, lastState: {}, restartCount: 0 },
    ],
  ])('%s', (_, steps, expected) => {
    expect(statusAfter(steps)).toMatchObject(expected);
  });

  it('shows no identity of a container that was killed', () => {
    expect(statusAfter([run('1'), kill, removed])).not.toHaveProperty('containerID');
  });

  it('leaves an init container ready that had completed', () => {
    expect(statusAfter([run('1'), exit(0), removed], 'init').ready).toBe(true);
    expect(statusAfter([run('1'), exit(42), removed], 'init').ready).toBe(false);
  });

  it('is unknown if the Pod ends before it starts again', () => {
    const end: Step = (record) => neverStarting(record, NOW);
    expect(statusAfter([run('1'), kill, removed, end])).toMatchObject({
      state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      lastState: REMOVED.lastState,
    });
  });
});
