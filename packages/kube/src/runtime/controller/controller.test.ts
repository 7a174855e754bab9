import { expect, test } from 'vitest';
import { failure } from '../../status.ts';
import { MemoryLogger } from '../memory/memory-logger.ts';
import { SeededRandom } from '../memory/seeded-random.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { createMetrics } from '../metrics.ts';
import { sleep } from '../ports/clock.ts';
import { type ControllerOptions, startController } from './controller.ts';

function underTest(options: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>) {
  const clock = new VirtualClock();
  const logger = new MemoryLogger();
  const metrics = createMetrics();
  const random = new SeededRandom(1);
  const base = { name: 'test', clock, random, logger, metrics, workers: 2 };
  const scrape = async (): Promise<string> => {
    const signal = new AbortController().signal;
    const answer = await metrics.handler({ method: 'GET', path: '/metrics', headers: {}, signal });
    return answer.body instanceof Uint8Array ? Buffer.from(answer.body).toString() : '';
  };
  return { clock, logger, scrape, controller: startController({ ...base, ...options }) };
}

test('an error is logged and retried with growing delays, success ends the back-off', async () => {
  const times: number[] = [];
  const { clock, controller, logger, scrape } = underTest({
    reconcile: async () => {
      times.push(clock.monotonic());
      if (times.length < 4) throw new Error('no luck');
    },
  });
  controller.enqueue('ns/a');
  await clock.advance(60_000);
  expect(times).toHaveLength(4);
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  expect(gaps.map((gap) => Math.floor(gap / 5))).toEqual([1, 2, 4]);
  expect(logger.records.filter((record) => record.level === 'error')).toHaveLength(3);
  const page = await scrape();
  expect(page).toContain('controller_runtime_reconcile_total{controller="test",result="error"} 3');
  expect(page).toContain(
    'controller_runtime_reconcile_total{controller="test",result="success"} 1',
  );
  expect(page).toContain('workqueue_retries_total{name="test"} 3');
  expect(page).toContain('workqueue_depth{name="test"} 0');
  await controller.stop();
});

test('a conflict is retried without noise', async () => {
  let calls = 0;
  const { clock, controller, logger } = underTest({
    reconcile: async () => {
      if (calls++ === 0) throw failure('Conflict', 'modified');
    },
  });
  controller.enqueue('a');
  await clock.advance(1000);
  expect(calls).toBe(2);
  expect(logger.records.filter((record) => record.level !== 'debug')).toEqual([]);
  await controller.stop();
});

test('a reconcile that hangs is aborted after its time and retried', async () => {
  let aborted = 0;
  const { clock, controller } = underTest({
    timeoutMs: 1000,
    reconcile: (_key, signal) =>
      sleep(clock, 1e9, signal).catch((error: unknown) => {
        aborted++;
        throw error;
      }),
  });
  controller.enqueue('a');
  await clock.advance(3000);
  expect(aborted).toBe(2);
  const stopped = controller.stop();
  await clock.advance(2000);
  await stopped;
  expect(clock.pendingTimers).toBe(0);
});

test('requeueAfterMs reconciles again later, and never two at once for one key', async () => {
  let running = 0;
  let most = 0;
  let calls = 0;
  const { clock, controller } = underTest({
    reconcile: async () => {
      calls++;
      most = Math.max(most, ++running);
      await sleep(clock, 10);
      running--;
      return calls < 3 ? { requeueAfterMs: 100 } : undefined;
    },
  });
  controller.enqueue('a');
  await clock.advance(5);
  controller.enqueue('a');
  await clock.advance(1000);
  expect([calls, most]).toEqual([3, 1]);
  await controller.stop();
});

test('stop waits for a running reconcile and starts no other', async () => {
  const ended: string[] = [];
  const { clock, controller } = underTest({
    workers: 1,
    reconcile: async (key) => {
      await sleep(clock, 900);
      ended.push(key);
    },
  });
  controller.enqueue('a');
  controller.enqueue('b');
  controller.enqueue('c');
  await clock.settle();
  let isStopped = false;
  const stopped = controller.stop().then(() => {
    isStopped = true;
  });
  await clock.advance(899);
  expect(isStopped).toBe(false);
  await clock.advance(1500);
  await stopped;
  controller.enqueue('d');
  await clock.advance(5000);
  expect(ended).toEqual(['a', 'b']);
});
