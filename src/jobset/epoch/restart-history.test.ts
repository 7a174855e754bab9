import { describe, expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSetStatus, RestartRecord } from '../jobset-status.ts';
import { RESTART_BACKOFF } from '../names.ts';
import {
  backoffEndMs,
  crashLoopDelayMs,
  recordEnd,
  recordRelease,
  releasingMs,
} from './restart-history.ts';

const record = (ranMs: number | undefined, epoch = 1): RestartRecord => ({
  epoch,
  time: '2026-01-01T00:00:00.000000Z',
  cause: 'WorkerFailed',
  counted: true,
  ...(ranMs === undefined ? {} : { ranMs }),
});

describe('crash loop', () => {
  test('short epochs in a row wait 0, 0, 0, 1, 2, 4 s and so on, to 60 s', () => {
    const delays: number[] = [];
    let history: readonly RestartRecord[] = [];
    for (let epoch = 1; epoch <= 20; epoch++) {
      history = recordEnd(history, record(100, epoch));
      delays.push(crashLoopDelayMs(history) / 1000);
    }
    expect(delays.slice(0, 11)).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
    expect(delays.at(-1)).toBe(60);
  });

  test('a longer run resets it', () => {
    const short = [1, 2, 3, 4, 5].map((epoch) => record(9000, epoch));
    expect(crashLoopDelayMs([...short, record(10_001)])).toBe(2000);
    expect(crashLoopDelayMs([record(10_001), ...short])).toBe(0);
  });

  test('epochs that were never released neither count nor reset', () => {
    const short = [1, 2, 3, 4].map((epoch) => record(0, epoch));
    expect(crashLoopDelayMs([record(undefined), ...short])).toBe(1000);
    expect(crashLoopDelayMs(undefined)).toBe(0);
  });
});

describe('the end of the back-off', () => {
  const restartHistory = [4, 3, 2, 1].map((epoch) => record(100, epoch));
  const held: JobSetStatus = { deprecatedEpoch: 4, syncedEpoch: 4, restartHistory };
  const endMs = Date.parse(restartHistory[0]?.time ?? '') + 1000;

  test.each([
    ['while the next epoch waits', { status: held }, endMs],
    ['once it is released', { status: { ...held, syncedEpoch: 5 } }, undefined],
    [
      'after three short epochs',
      {
        status: {
          ...held,
          restartHistory: restartHistory.slice(1),
          deprecatedEpoch: 3,
          syncedEpoch: 3,
        },
      },
      undefined,
    ],
    ['while it is suspended', { status: held, suspend: true }, undefined],
    ['when it has failed', { status: { ...held, terminalState: 'Failed' as const } }, undefined],
    [
      'where a default of the Namespace turns it off',
      { status: { ...held, recordedAnnotations: { [RESTART_BACKOFF]: 'Disabled' } } },
      undefined,
    ],
    ['before the first epoch', { status: {} }, undefined],
  ])(
    'is known %s',
    (_, { status, suspend = false }: { status: JobSetStatus; suspend?: boolean }, end) => {
      expect(backoffEndMs({ ...storedJobSet({ suspend }), status })).toBe(end);
    },
  );
});

describe('history', () => {
  test('keeps the newest records, newest first, within its bound', () => {
    let history: readonly RestartRecord[] = [];
    for (let epoch = 1; epoch <= 40; epoch++) history = recordEnd(history, record(1, epoch));
    expect(history.map(({ epoch }) => epoch)).toEqual(Array.from({ length: 16 }, (_, i) => 40 - i));
  });

  test('learns the phases of the newest restart at its release, once', () => {
    const endedMs = Date.parse('2026-01-01T00:00:00Z');
    const once = recordRelease([record(5), record(6)], endedMs + 300, endedMs + 350);
    expect(once?.map(({ phases }) => phases)).toEqual([
      { announceMs: 300, releaseMs: 50 },
      undefined,
    ]);
    expect(recordRelease(once, endedMs + 900, endedMs + 1000)).toBe(once);
  });

  test.each([
    ['all announced at once', 300, 1020, { announceMs: 300, backoffMs: 700, releaseMs: 720 }],
    ['a member was later', 1010, 1020, { announceMs: 1010, releaseMs: 10 }],
    [
      'another leader released it, whose clock is behind',
      300,
      900,
      { announceMs: 300, backoffMs: 600, releaseMs: 600 },
    ],
  ])('tells how long a crash loop held the group back: %s', (_, announced, released, phases) => {
    const endedMs = Date.parse('2026-01-01T00:00:00Z');
    const history = recordRelease([record(5)], endedMs + announced, endedMs + released, 1000);
    expect(history?.[0]?.phases).toEqual(phases);
    expect(releasingMs(phases)).toBe(released - Math.max(announced, Math.min(released, 1000)));
  });

  test('does not let clocks that went back make a phase negative', () => {
    const endedMs = Date.parse('2026-01-01T00:00:00Z');
    const history = recordRelease([record(5)], endedMs - 1000, endedMs - 500);
    expect(history?.[0]?.phases).toEqual({ announceMs: 0, releaseMs: 0 });
  });
});
