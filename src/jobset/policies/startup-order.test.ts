import { describe, expect, test } from 'vitest';
import { replicatedJob } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import type { DependsOn, JobSetSpec } from '../jobset.ts';
import type { ReplicatedJobStatus } from '../jobset-status.ts';
import { startableReplicatedJobs } from './startup-order.ts';

const ZERO = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const counter = (name: string, more: Partial<ReplicatedJobStatus> = {}): ReplicatedJobStatus => ({
  name,
  ...ZERO,
  ...more,
});
const NONE = [counter('a'), counter('b'), counter('c')];

function order(spec: JobSetSpec, counters: readonly ReplicatedJobStatus[], isSuspended = false) {
  const { startable, inProgress } = startableReplicatedJobs(
    withDefaults(spec),
    counters,
    isSuspended,
  );
  return { startable: [...startable], inProgress };
}

describe('startup policy InOrder', () => {
  const spec: JobSetSpec = {
    replicatedJobs: [replicatedJob('a', 1, 2), replicatedJob('b'), replicatedJob('c')],
    startupPolicy: { startupPolicyOrder: 'InOrder' },
  };
  test.each([
    ['begins with the first', NONE, ['a'], 'a'],
    ['begins with the first when nothing is counted yet', [], ['a'], 'a'],
    [
      'waits for every Job of a ReplicatedJob',
      [counter('a', { ready: 1, active: 2 }), counter('b'), counter('c')],
      ['a'],
      'a',
    ],
    [
      'counts Jobs that failed and succeeded as started',
      [counter('a', { failed: 1, succeeded: 1 }), counter('b'), counter('c')],
      ['a', 'b'],
      'b',
    ],
    [
      'does not believe the readiness of Jobs that are suspended',
      [counter('a', { ready: 2, suspended: 1 }), counter('b'), counter('c')],
      ['a'],
      'a',
    ],
    [
      'returns to a ReplicatedJob that is not ready any more',
      [counter('a', { ready: 1 }), counter('b', { ready: 1 }), counter('c', { ready: 1 })],
      ['a'],
      'a',
    ],
    [
      'is done when the last has started',
      [counter('a', { ready: 2 }), counter('b', { ready: 1 }), counter('c', { succeeded: 1 })],
      ['a', 'b', 'c'],
      undefined,
    ],
  ])('%s', (_behaviour, counters, startable, inProgress) => {
    expect(order(spec, counters)).toEqual({ startable, inProgress });
  });

  test('passes over a ReplicatedJob without Jobs', () => {
    const empty = { ...spec, replicatedJobs: [replicatedJob('a', 1, 0), replicatedJob('b')] };
    expect(order(empty, NONE)).toEqual({ startable: ['a', 'b'], inProgress: 'b' });
  });

  test('holds nothing back while the JobSet is suspended, and AnyOrder never does', () => {
    const all = { startable: ['a', 'b', 'c'], inProgress: undefined };
    expect(order(spec, NONE, true)).toEqual(all);
    expect(order({ ...spec, startupPolicy: { startupPolicyOrder: 'AnyOrder' } }, NONE)).toEqual(
      all,
    );
  });
});

describe('dependsOn', () => {
  const on = (...dependsOn: readonly DependsOn[]): JobSetSpec => ({
    replicatedJobs: [
      replicatedJob('a', 1, 2),
      replicatedJob('b'),
      { ...replicatedJob('c'), dependsOn },
    ],
  });
  const READY = { name: 'a', status: 'Ready' } as const;
  const COMPLETE = { name: 'a', status: 'Complete' } as const;

  test.each([
    ['Ready: not before all are ready', READY, { ready: 1, active: 2 }, false],
    ['Ready: all ready', READY, { ready: 2 }, true],
    ['Ready: failed and succeeded Jobs count', READY, { failed: 1, succeeded: 1 }, true],
    ['Ready: suspended Jobs do not', READY, { ready: 2, suspended: 2 }, false],
    ['Complete: ready is not enough', COMPLETE, { ready: 2 }, false],
    ['Complete: nor is failed', COMPLETE, { succeeded: 1, failed: 1 }, false],
    ['Complete: all succeeded', COMPLETE, { succeeded: 2 }, true],
  ])('%s', (_behaviour, dependency, of, isMet) => {
    const { startable } = order(on(dependency), [counter('a', of), counter('b'), counter('c')]);
    expect(startable).toEqual(isMet ? ['a', 'b', 'c'] : ['a', 'b']);
  });

  test('asks for every dependency, also while the JobSet is suspended', () => {
    const spec = on(READY, { name: 'b', status: 'Complete' });
    const one = [counter('a', { ready: 2 }), counter('b', { ready: 1 })];
    expect(order(spec, one, true).startable).toEqual(['a', 'b']);
    const both = [counter('a', { ready: 2 }), counter('b', { succeeded: 1 })];
    expect(order(spec, both, true).startable).toEqual(['a', 'b', 'c']);
  });

  test('is met at once by a ReplicatedJob without Jobs, and never by an unknown one', () => {
    const replicatedJobs = [
      replicatedJob('a', 1, 0),
      { ...replicatedJob('b'), dependsOn: [COMPLETE] },
      { ...replicatedJob('c'), dependsOn: [{ name: 'x', status: 'Ready' }] as const },
    ];
    expect(order({ replicatedJobs }, []).startable).toEqual(['a', 'b']);
  });
});
