import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { literalGroupFacts } from '../../../test/fixtures/facts.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../jobset-status.ts';
import { takeOver } from '../plan/reports/take-over.ts';
import { epochsOf, inBothDialects, releasedEpoch, upstreamAttempts } from './epochs.ts';

type Pair = readonly [number | undefined, number | undefined];

function ours([deprecatedEpoch, syncedEpoch]: readonly [number, number]): JobSetStatus {
  return { deprecatedEpoch, syncedEpoch };
}

function upstreams([previous, current]: Pair): JobSetStatus {
  return {
    ...(previous === undefined ? {} : { previousInPlaceRestartAttempt: previous }),
    ...(current === undefined ? {} : { currentInPlaceRestartAttempt: current }),
  };
}

/** What an agent of upstream would announce, as an epoch. */
function announcedByUpstreamsAgent({
  currentInPlaceRestartAttempt: current,
}: JobSetStatus): number {
  return (current === undefined ? 0 : current + 1) + 1;
}

const counters = (syncedEpoch?: number): ReplicatedJobStatus => ({
  name: 'w',
  ready: 0,
  succeeded: 0,
  failed: 0,
  active: 1,
  suspended: 0,
  ...(syncedEpoch === undefined ? {} : { syncedEpoch }),
});

describe('the attempts that upstream reads', () => {
  it.each<[string, readonly [number, number], Pair]>([
    ['a fresh JobSet has none', [0, 0], [undefined, undefined]],
    ['the first epoch is attempt 0', [0, 1], [undefined, 0]],
    ['an ended epoch is the previous attempt, and the current one', [1, 1], [0, 0]],
    ['a released epoch is the current attempt', [1, 2], [0, 1]],
    ['an epoch that ended before its release was current too', [2, 1], [1, 1]],
  ])('%s', (_, epochs, attempts) => {
    expect(upstreamAttempts(ours(epochs))).toEqual(upstreams(attempts));
  });

  it('let an agent of upstream announce what ours would', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1001), (deprecated, released) => {
        const synced = Math.min(released, deprecated + 1);
        const announced = announcedByUpstreamsAgent(upstreamAttempts(ours([deprecated, synced])));
        expect(announced).toBe(Math.max(deprecated, synced) + 1);
      }),
    );
  });

  it('are added to a status that has epochs and to no other', () => {
    expect(inBothDialects(ours([1, 2]))).toEqual({ ...ours([1, 2]), ...upstreams([0, 1]) });
    expect(inBothDialects({ restarts: 1 })).toEqual({ restarts: 1 });
  });
});

describe('the epochs of a status that has only attempts', () => {
  it.each<[string, Pair, readonly [number, number]]>([
    ['none: before the first start', [undefined, undefined], [0, 0]],
    ['0 is current: the first epoch runs', [undefined, 0], [0, 1]],
    ['0 is over: the first epoch has ended', [0, 0], [1, 1]],
    ['1 is current: the second epoch runs', [0, 1], [1, 2]],
    ['previous lags behind', [0, 3], [3, 4]],
    ['current lags behind', [4, 1], [5, 2]],
    ['over before anything was current', [0, undefined], [1, 0]],
  ])('%s', (_, attempts, [deprecated, synced]) => {
    expect(epochsOf(upstreams(attempts))).toEqual({ deprecated, synced });
  });

  it('are our own if present, whatever the attempts are', () => {
    expect(epochsOf({ ...ours([4, 5]), ...upstreams([7, 7]) })).toEqual({
      deprecated: 4,
      synced: 5,
    });
  });

  it('come back from the attempts of any status of ours that has released what it could', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.boolean(), (deprecated, isReleased) => {
        const synced = deprecated + (isReleased ? 1 : 0);
        expect(epochsOf(upstreamAttempts(ours([deprecated, synced])))).toEqual({
          deprecated,
          synced,
        });
      }),
    );
  });

  it('are the same for every ReplicatedJob, since upstream releases all together', () => {
    const status = { ...upstreams([0, 1]), replicatedJobsStatus: [counters()] };
    expect([releasedEpoch(status, 'w'), releasedEpoch(status, 'another')]).toEqual([2, 2]);
    const own = { ...ours([1, 1]), replicatedJobsStatus: [counters(2)] };
    expect([releasedEpoch(own, 'w'), releasedEpoch(own, 'another')]).toEqual([2, 0]);
    expect(releasedEpoch(undefined, 'w')).toBe(0);
  });
});

describe('a status taken over from upstream', () => {
  const taken = (status: JobSetStatus | undefined, counted: readonly ReplicatedJobStatus[]) =>
    takeOver(literalGroupFacts({ status: status ?? {}, counters: counted }));

  it('continues where it stands, with the restarts that upstream charged', () => {
    const status = { ...upstreams([4, 5]), restarts: 2, restartsCountTowardsMax: 1 };
    expect(taken(status, [counters()])[0]?.status).toEqual({
      deprecatedEpoch: 5,
      syncedEpoch: 6,
      replicatedJobsStatus: [counters(6)],
      inPlaceRestarts: 3,
      inPlaceRestartsCountTowardsMax: 3,
    });
  });

  it.each<[string, JobSetStatus | undefined]>([
    ['is none if there is no status', undefined],
    ['is none before the first start', { restarts: 0 }],
    ['is none if it has epochs', { ...ours([0, 1]), ...upstreams([undefined, 0]) }],
  ])('%s', (_, status) => {
    expect(taken(status, [])).toEqual([]);
  });
});
