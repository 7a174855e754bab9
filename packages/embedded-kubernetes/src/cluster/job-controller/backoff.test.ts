/** How long a Job waits before it replaces a failed Pod, and from when on. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { ContainerStatus, Pod, PodStatus } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { continueStreak, NO_FAILURES, remainingBackoffMs } from './backoff.ts';
import { podOf } from './job.fixture.ts';
import { finishTimeMs } from './job-pods.ts';

test.each([
  [0, 0],
  [1, 10],
  [2, 20],
  [3, 40],
  [6, 320],
  [7, 600],
  [30, 600],
  [2_000, 600],
])('%i failures in a row: %i s', (failures, seconds) => {
  const lastFailureMs = 5000;
  expect(remainingBackoffMs({ failures, lastFailureMs }, lastFailureMs)).toBe(seconds * 1000);
});

test('what has passed since the last failure counts', () => {
  const streak = { failures: 1, lastFailureMs: 1000 };
  expect([4000, 10_999, 11_000, 99_000].map((nowMs) => remainingBackoffMs(streak, nowMs))).toEqual([
    7000, 1, 0, 0,
  ]);
});

test('a streak counts the failures since the last success, in the order in which Pods ended', () => {
  const at = (second: number, phase: 'Failed' | 'Succeeded'): Stored<Pod> =>
    podOf({ uid: `${second}`, phase, finishedAt: `2026-01-01T00:00:0${second}Z` });
  const pods = [at(4, 'Failed'), at(1, 'Failed'), at(3, 'Failed'), at(2, 'Succeeded')];
  expect(continueStreak(NO_FAILURES, pods)).toEqual({
    failures: 2,
    lastFailureMs: Date.parse('2026-01-01T00:00:04Z'),
  });
  const before = { failures: 3, lastFailureMs: 7 };
  expect(continueStreak(before, [at(1, 'Failed')]).failures).toBe(4);
  expect(continueStreak(before, [at(5, 'Succeeded')]).failures).toBe(0);
});

const CREATED = '2026-01-01T00:00:00Z';

function ended(name: string, second: number | undefined): ContainerStatus {
  const finishedAt = `2026-01-01T00:01:0${second ?? 0}Z`;
  const state =
    second === undefined ? { running: {} } : { terminated: { exitCode: 1, finishedAt } };
  return { name, ready: false, restartCount: 0, image: '', imageID: '', state };
}

function finished(status: PodStatus, more: Partial<Pod['metadata']> = {}): string {
  const pod = podOf({ uid: 'a' });
  const initContainers = [{ name: 'init' }, { name: 'side', restartPolicy: 'Always' as const }];
  const ms = finishTimeMs({
    ...pod,
    metadata: { ...pod.metadata, creationTimestamp: CREATED, ...more },
    spec: { ...pod.spec, initContainers },
    status,
  });
  return new Date(ms).toISOString().slice(11, 19);
}

const UNREADY = {
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:02:00Z' }],
} as const;
const DELETED = { deletionTimestamp: '2026-01-01T00:04:00Z', deletionGracePeriodSeconds: 60 };

test.each<[name: string, time: string, expected: string]>([
  [
    'when its last container ended',
    finished({ ...UNREADY, containerStatuses: [ended('a', 2), ended('b', 1)] }),
    '00:01:02',
  ],
  [
    'when its sidecar ended, if that was later',
    finished({
      containerStatuses: [ended('a', 2)],
      initContainerStatuses: [ended('init', 9), ended('side', 3)],
    }),
    '00:01:03',
  ],
  [
    'when it was not ready any more, if a container does not say',
    finished({ ...UNREADY, containerStatuses: [ended('a', 2), ended('b', undefined)] }, DELETED),
    '00:02:00',
  ],
  ['when it was told to go, without its grace', finished({}, DELETED), '00:03:00'],
  ['when it was created, if nothing else is known', finished({}), '00:00:00'],
])('a Pod ended %s', (_name, time, expected) => {
  expect(time).toBe(expected);
});
