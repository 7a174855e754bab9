import type { ContainerState, Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import type { PodFacts } from '../roster/pod-facts.ts';
import { describeWitness, witnessOf } from './witness.ts';

const FACTS: PodFacts = {
  namespace: 'default',
  name: 'train-w-0-1-abcde',
  uid: 'u',
  jobUid: 'j',
  jobName: 'train-w-0',
  slot: '1',
  epoch: 3,
  malformedEpoch: undefined,
  notice: undefined,
  isTerminating: false,
};
const SINCE_MS = Date.parse('2026-01-01T00:00:10.500Z');

interface Status {
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  /** 1 by default. */
  readonly restartCount?: number;
}

function pod(
  states: Readonly<Record<string, Status>>,
  more: { readonly metadata?: object; readonly status?: object; readonly nodeName?: string } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: FACTS.name, namespace: 'default', uid: 'u', ...more.metadata },
    spec: { nodeName: more.nodeName ?? 'n1', containers: [{ name: 'worker' }] },
    status: {
      phase: 'Running',
      containerStatuses: Object.entries(states).map(
        ([name, { state, lastState, restartCount = 1 }]) => ({
          name,
          ready: false,
          restartCount,
          image: '',
          imageID: '',
          ...(state === undefined ? {} : { state }),
          ...(lastState === undefined ? {} : { lastState }),
        }),
      ),
      ...more.status,
    },
  };
}

const terminated = (exitCode: number, finishedAt: string, reason = 'Error'): ContainerState => ({
  terminated: { exitCode, finishedAt, reason },
});

describe('the witness of a failure', () => {
  test('is the container that failed, with node, code and time', () => {
    const failed = pod({ worker: { lastState: terminated(7, '2026-01-01T00:00:20Z') } });
    const witness = witnessOf(FACTS, failed, undefined, SINCE_MS);
    expect(witness.record).toEqual({
      pod: FACTS.name,
      node: 'n1',
      container: 'worker',
      exitCode: 7,
      reason: 'Error',
    });
    expect(witness.finishedMs).toBe(Date.parse('2026-01-01T00:00:20Z'));
    expect(describeWitness(witness.record)).toBe(
      `container worker of Pod ${FACTS.name} on node n1 exited with code 7 (Error)`,
    );
  });

  test('says by which signal a process died', () => {
    const killed = pod({ worker: { state: terminated(137, '2026-01-01T00:00:20Z', 'OOMKilled') } });
    const { record } = witnessOf(FACTS, killed, undefined, SINCE_MS);
    expect(record).toMatchObject({ exitCode: 137, signal: 'SIGKILL', reason: 'OOMKilled' });
  });

  test.each([
    [
      'the restart of the Pod hid the code',
      { worker: { lastState: terminated(137, '', 'RestartingAllContainers') } },
    ],
    [
      'the container failed in an earlier epoch',
      { worker: { lastState: terminated(1, '2026-01-01T00:00:05Z') } },
    ],
    [
      'only the agent exited',
      { 'lockstep-agent': { lastState: terminated(113, '2026-01-01T00:00:20Z') } },
    ],
  ])('has no code if %s', (_why, states) => {
    expect(witnessOf(FACTS, pod(states), undefined, SINCE_MS).record).toEqual({
      pod: FACTS.name,
      node: 'n1',
      exitCode: null,
      reason: 'PodRestarted',
    });
  });

  test('is exact if a supervisor has said how its worker ended in the epoch before', () => {
    const end = { how: 'Unknown', atMs: 0 } as const;
    const segfault = { ...end, epoch: 2, exit: { signal: 'SIGSEGV' } };
    const notice = { epoch: 2, end: segfault };
    const { record } = witnessOf({ ...FACTS, notice }, pod({ worker: {} }), undefined, SINCE_MS);
    expect(record).toMatchObject({ container: 'worker', exitCode: null, signal: 'SIGSEGV' });
    const old = {
      ...FACTS,
      notice: { epoch: 1, end: { ...end, epoch: 1, exit: { exitCode: 3 } } },
    };
    expect(witnessOf(old, pod({ worker: {} }), undefined, SINCE_MS).record.exitCode).toBeNull();
  });

  test('is the predecessor of a Pod that was replaced, or absent if there is none', () => {
    const old = { metadata: { name: 'old' }, nodeName: 'n2' };
    const evicted = pod({}, { ...old, status: { reason: 'Evicted' } });
    expect(witnessOf(FACTS, pod({}), evicted, SINCE_MS).record).toEqual({
      pod: 'old',
      node: 'n2',
      exitCode: null,
      reason: 'Evicted',
    });
    const exited = pod({ worker: { state: terminated(3, '2026-01-01T00:00:20Z') } }, old);
    const { record } = witnessOf(FACTS, pod({}), exited, SINCE_MS);
    expect(record).toMatchObject({ pod: 'old', node: 'n2', exitCode: 3 });
    expect(witnessOf(FACTS, undefined, undefined, SINCE_MS).record).toEqual({
      pod: FACTS.name,
      exitCode: null,
      reason: 'PodDeleted',
    });
  });
});

test.each([
  ['PodReplaced', 'Pod a-w-0-1 on node n1 replaced a Pod that is gone (PodReplaced)'],
  ['PodDeleted', 'Pod a-w-0-1 on node n1 is gone (PodDeleted)'],
  ['Evicted', 'Pod a-w-0-1 on node n1 failed (Evicted)'],
])('a witness without a code is not said to have failed unless it has: %s', (reason, text) => {
  const witness = { pod: 'a-w-0-1', node: 'n1', exitCode: null, reason };
  expect(describeWitness(witness)).toBe(text);
});

describe('an end that the restart of all containers has hidden', () => {
  const HIDDEN = { lastState: terminated(137, '', 'RestartingAllContainers'), restartCount: 1 };
  const WAITING = { ...HIDDEN, state: { waiting: { reason: 'RestartingAllContainers' } } };
  const runningSince = (startedAt: string): Status => ({
    ...HIDDEN,
    state: { running: { startedAt } },
  });
  const ended = (exitCode: number, finishedAt: string, restartCount = 0): Status => ({
    state: terminated(exitCode, finishedAt),
    restartCount,
  });
  const RUNNING = { state: { running: {} }, restartCount: 0 };

  type Statuses = Readonly<Record<string, Status>>;

  test.each<[string, Statuses, readonly Statuses[], object]>([
    [
      'is found in an earlier version',
      { worker: WAITING },
      [{ worker: RUNNING }, { worker: ended(7, '2026-01-01T00:00:20Z') }],
      { container: 'worker', exitCode: 7, reason: 'Error' },
    ],
    [
      'is found if the next run has begun after the release',
      { worker: runningSince('2026-01-01T00:00:21Z') },
      [{ worker: ended(137, '2026-01-01T00:00:20Z') }],
      { container: 'worker', exitCode: 137, signal: 'SIGKILL' },
    ],
    [
      'is that of the first container, and not of those that went with it',
      { worker: WAITING, log: WAITING },
      [
        { worker: RUNNING, log: RUNNING },
        { worker: RUNNING, log: ended(3, '2026-01-01T00:00:20Z') },
        {
          worker: ended(137, '2026-01-01T00:00:20Z'),
          log: ended(3, '2026-01-01T00:00:20Z'),
        },
      ],
      { container: 'log', exitCode: 3 },
    ],
    [
      'is that of the earlier one where two are seen at a time',
      { worker: WAITING, log: WAITING },
      [{ worker: ended(137, '2026-01-01T00:00:21Z'), log: ended(3, '2026-01-01T00:00:20Z') }],
      { container: 'log', exitCode: 3 },
    ],
    [
      'is not known where two ended in the same second',
      { worker: WAITING, log: WAITING },
      [{ worker: ended(137, '2026-01-01T00:00:20Z'), log: ended(3, '2026-01-01T00:00:20Z') }],
      { exitCode: null, reason: 'PodRestarted' },
    ],
    [
      'is not that of a run before the last one',
      { worker: { ...WAITING, restartCount: 2 } },
      [{ worker: ended(7, '2026-01-01T00:00:20Z') }],
      { exitCode: null, reason: 'PodRestarted' },
    ],
    [
      'is not that of an earlier epoch, in which the present run began',
      { worker: runningSince('2026-01-01T00:00:10Z') },
      [{ worker: ended(7, '2026-01-01T00:00:10Z') }],
      { exitCode: null, reason: 'PodRestarted' },
    ],
    [
      'is not one before the release',
      { worker: WAITING },
      [{ worker: ended(7, '2026-01-01T00:00:09Z') }],
      { exitCode: null, reason: 'PodRestarted' },
    ],
    [
      'is not a success, nor the agent',
      { worker: WAITING, 'lockstep-agent': WAITING },
      [
        {
          worker: ended(0, '2026-01-01T00:00:20Z'),
          'lockstep-agent': ended(113, '2026-01-01T00:00:20Z'),
        },
      ],
      { exitCode: null, reason: 'PodRestarted' },
    ],
  ])('%s', (_what, present, earlier, record) => {
    const versions = earlier.map((states) => pod(states));
    const witness = witnessOf(FACTS, pod(present), undefined, SINCE_MS, versions);
    expect(witness.record).toMatchObject(record);
    expect(witness.record.container === undefined).toBe(!('container' in record));
    expect(witness.showsFailure).toBe('container' in record);
  });
});

test.each([
  [
    'a container that has failed',
    pod({ worker: { state: terminated(1, '2026-01-01T00:00:20Z') } }),
    true,
  ],
  [
    'a restart of all containers',
    pod({}, { status: { conditions: [{ type: 'AllContainersRestarting', status: 'True' }] } }),
    true,
  ],
  ['success', pod({ worker: { state: terminated(0, '2026-01-01T00:00:20Z') } }), false],
  [
    'a Pod that is being deleted',
    pod(
      { worker: { state: terminated(1, '2026-01-01T00:00:20Z') } },
      { metadata: { deletionTimestamp: '2026-01-01T00:00:20Z' } },
    ),
    false,
  ],
  ['a Pod that is gone', undefined, false],
  [
    'an agent that was told to stop',
    pod({ 'lockstep-agent': { state: terminated(143, '2026-01-01T00:00:20Z') } }),
    false,
  ],
])('a notice is looked into: %s', (_what, found, showsFailure) => {
  expect(witnessOf(FACTS, found, undefined, SINCE_MS).showsFailure).toBe(showsFailure);
});
