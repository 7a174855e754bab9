import { expect, test } from 'vitest';
import { DeadlineError, endsWithin, unlessAborted, withDeadline } from './deadline.ts';
import { VirtualClock } from './memory/virtual-clock.ts';
import { sleep } from './ports/clock.ts';

test('work in time gives its result and leaves no timer behind', async () => {
  const clock = new VirtualClock();
  const parent = new AbortController();
  const work = withDeadline(clock, 1000, parent.signal, async (signal) => {
    await sleep(clock, 999, signal);
    return 'done';
  });
  await clock.advance(1000);
  expect(await work).toBe('done');
  expect(clock.pendingTimers).toBe(0);
});

test('late work is aborted and rejects with what it makes of that', async () => {
  const clock = new VirtualClock();
  const work = withDeadline(clock, 1000, undefined, (signal) => sleep(clock, 2000, signal));
  const outcome = work.catch((error: unknown) => error);
  await clock.advance(1000);
  expect(await outcome).toBeInstanceOf(DeadlineError);
});

test.each(['before', 'while'])('a parent that aborts %s the work runs aborts it', async (when) => {
  const clock = new VirtualClock();
  const parent = new AbortController();
  const reason = new Error('enough');
  if (when === 'before') parent.abort(reason);
  const work = withDeadline(clock, 1000, parent.signal, (signal) => sleep(clock, 500, signal));
  const outcome = work.catch((error: unknown) => error);
  parent.abort(reason);
  expect(await outcome).toBe(reason);
});

test('waiting for work ends with the work or with the time, and tells which', async () => {
  const clock = new VirtualClock();
  const outcomes = Promise.all([
    endsWithin(clock, 100, sleep(clock, 50)),
    endsWithin(clock, 100, sleep(clock, 150)),
  ]);
  await clock.advance(150);
  expect(await outcomes).toEqual([true, false]);
  expect(clock.pendingTimers).toBe(0);
});

test('rejects at once when the signal aborts, and otherwise settles as the work does', async () => {
  const never = new Promise<string>(() => undefined);
  const enough = new AbortController();
  const asked = unlessAborted(never, enough.signal);
  enough.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  await expect(unlessAborted(never, enough.signal)).rejects.toThrow('enough');
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done');
  expect(await unlessAborted(Promise.resolve('done'), undefined)).toBe('done');
  await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow(
    'failed',
  );
});
