import { describe, expect, test } from 'vitest';
import type { ContainerState, Pod } from '../../kube/pod.ts';
import type { PodFacts } from './pod-facts.ts';
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

function pod(
  states: Readonly<Record<string, { state?: ContainerState; lastState?: ContainerState }>>,
  more: { readonly metadata?: object; readonly status?: object } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: FACTS.name, namespace: 'default', uid: 'u', ...more.metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'worker' }] },
    status: {
      phase: 'Running',
      containerStatuses: Object.entries(states).map(([name, { state, lastState }]) => ({
        name,
        ready: false,
        restartCount: 1,
        image: '',
        imageID: '',
        ...(state === undefined ? {} : { state }),
        ...(lastState === undefined ? {} : { lastState }),
      })),
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
    const notice = { epoch: 2, end: { signal: 'SIGSEGV' } };
    const { record } = witnessOf({ ...FACTS, notice }, pod({ worker: {} }), undefined, SINCE_MS);
    expect(record).toMatchObject({ container: 'worker', exitCode: null, signal: 'SIGSEGV' });
    const old = { ...FACTS, notice: { epoch: 1, end: { exitCode: 3 } } };
    expect(witnessOf(old, pod({ worker: {} }), undefined, SINCE_MS).record.exitCode).toBeNull();
  });

  test('is the predecessor of a Pod that was replaced, or nobody if there is none', () => {
    const predecessor = pod({}, { metadata: { name: 'old' }, status: { reason: 'Evicted' } });
    expect(witnessOf(FACTS, pod({}), predecessor, SINCE_MS).record).toMatchObject({
      exitCode: null,
      reason: 'Evicted',
    });
    expect(witnessOf(FACTS, undefined, undefined, SINCE_MS).record).toEqual({
      pod: FACTS.name,
      exitCode: null,
      reason: 'PodDeleted',
    });
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
