import { describe, expect, test } from 'vitest';
import type { RestartRecord } from '../jobset.ts';
import { crashLoopDelayMs, recordEnd, recordRelease } from './restart-history.ts';

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

  test('does not let clocks that went back make a phase negative', () => {
    const endedMs = Date.parse('2026-01-01T00:00:00Z');
    const history = recordRelease([record(5)], endedMs - 1000, endedMs - 500);
    expect(history?.[0]?.phases).toEqual({ announceMs: 0, releaseMs: 0 });
  });
});
