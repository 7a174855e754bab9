import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { beforeEach, expect, it } from 'vitest';
import { MAX_REFUSAL_KINDS, REFUSAL_LOG_INTERVAL_MS, RefusalLog } from './refusal-log.ts';

let clock: VirtualClock;
let logger: MemoryLogger;
let log: RefusalLog;
beforeEach(() => {
  clock = new VirtualClock();
  logger = new MemoryLogger();
  log = new RefusalLog(clock, logger);
});

/** The messages and fields of the lines since the last call. */
function said(): readonly unknown[] {
  return logger.records.splice(0).map(({ message, fields }) => [message, fields]);
}

function refuse(times: number, reason: string, jobset?: string): void {
  for (let i = 0; i < times; i++) {
    log.add({
      reason,
      from: jobset === undefined ? {} : { jobset },
      details: { address: `a${i}` },
    });
  }
}

it('tells of the first of a kind at once, and of thousands more in one line', async () => {
  refuse(10_000, 'no bearer token');
  const reason = 'no bearer token';
  expect(said()).toEqual([['refused a stream', { reason, address: 'a0' }]]);
  await clock.advance(REFUSAL_LOG_INTERVAL_MS);
  expect(said()).toEqual([['refused streams', { reason, address: 'a9999', count: 9999 }]]);
});

it('writes at most one line per interval while they come, and otherwise none', async () => {
  for (let second = 0; second < 300; second++) {
    refuse(100, 'no bearer token');
    await clock.advance(1000);
  }
  expect(said()).toHaveLength(1 + 300_000 / REFUSAL_LOG_INTERVAL_MS);
  await clock.advance(10 * REFUSAL_LOG_INTERVAL_MS);
  expect(said()).toEqual([]);
  refuse(1, 'no bearer token');
  expect(said()).toHaveLength(1);
});

it('keeps reasons and JobSets apart', () => {
  refuse(2, 'full', 'ns/a');
  refuse(2, 'full', 'ns/b');
  refuse(2, 'no bearer token');
  expect(said()).toHaveLength(3);
  log.stop();
  expect(said()).toMatchObject([
    ['refused streams', { jobset: 'ns/a', count: 1 }],
    ['refused streams', { jobset: 'ns/b', count: 1 }],
    ['refused streams', { reason: 'no bearer token', count: 1 }],
  ]);
});

it('sums up kinds beyond those that it keeps', async () => {
  for (let i = 0; i < 10_000; i++) refuse(1, `reason ${i}`);
  expect(said()).toHaveLength(MAX_REFUSAL_KINDS + 1);
  await clock.advance(REFUSAL_LOG_INTERVAL_MS);
  const count = 10_000 - MAX_REFUSAL_KINDS - 1;
  expect(said()).toEqual([
    [
      'refused streams, for this reason and others',
      { reason: 'reason 9999', address: 'a0', count },
    ],
  ]);
});

it('leaves no timer behind, and tells what was left to tell', async () => {
  refuse(5, 'no bearer token');
  said();
  log.stop();
  expect(said()).toMatchObject([['refused streams', { count: 4 }]]);
  expect(clock.pendingTimers).toBe(0);
});
