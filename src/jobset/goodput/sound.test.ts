import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../jobset.ts';
import { overviewRow } from '../view/overview.ts';
import { CREATED_MS, GROUP } from './lives.fixture.ts';
import { restartCosts } from './restart-cost.ts';
import { isSoundCourse, isSoundGoodput } from './sound.ts';
import { timelineOf } from './timeline.ts';

const TIME = '2026-01-01T00:00:50.000000Z';

test.each([
  [{}, true],
  [{ waitingMs: 1, pendingMs: 2 }, true],
  [{ time: '2026-12-31T23:59:60Z' }, false],
  [{ time: '' }, false],
  [{ phase: 'Other' }, false],
  [{ waitingMs: -1 }, false],
  [{ waitingMs: 0.5 }, false],
  [{ pendingMs: 2 ** 53 }, false],
  [{ lostMs: '1' }, false],
  [{ held: { fromMs: 1, ms: 2 } }, true],
  [{ held: { fromMs: 1 } }, false],
  [{ held: null }, false],
])('an account with %j is sound: %j', (more, isSound) => {
  const goodput = { time: TIME, phase: 'Running', ...more } as never;
  expect(isSoundGoodput(goodput)).toBe(isSound);
});

const PART = { class: 'Lost', ms: 1 };

test.each([
  [{ fromMs: 0, parts: [PART] }, true],
  [undefined, false],
  [null, false],
  [{ fromMs: 0 }, false],
  [{ parts: [] }, false],
  [{ fromMs: -1, parts: [] }, false],
  [{ fromMs: 0, parts: [{ class: '__proto__', ms: 1 }] }, false],
  [{ fromMs: 0, parts: [{ class: 'Lost', ms: -1 }] }, false],
  [{ fromMs: 0, parts: [null] }, false],
  [{ fromMs: 0, parts: Array.from({ length: 1000 }, () => PART) }, false],
])('a course of %j is sound: %j', (course, isSound) => {
  expect(isSoundCourse(course)).toBe(isSound);
});

test('whatever a status holds, readers get lengths of time, or nothing', () => {
  const number = fc.oneof(fc.nat(100_000), fc.maxSafeInteger(), fc.double(), fc.constant(null));
  const name = fc.constantFrom('Lost', 'Waiting', '__proto__', 'Other');
  const part = fc.oneof(
    fc.record({ class: name, ms: number }, { requiredKeys: [] }),
    fc.anything(),
  );
  const parts = fc.oneof(fc.array(part, { maxLength: 4 }), fc.anything());
  const course = fc.oneof(
    fc.record({ fromMs: number, parts }, { requiredKeys: [] }),
    fc.anything(),
  );
  const held = fc.oneof(fc.record({ fromMs: number, ms: number }), fc.constant(null));
  const time = fc.constantFrom(TIME, '2026-12-31T23:59:60Z', '9999-12-31T00:00:00Z', '');
  const phase = fc.constantFrom('Running', 'Restarting', 'Finished', 'Other');
  const goodput = fc.record(
    { time, phase, waitingMs: number, lostMs: number, pendingMs: number, held, course },
    { requiredKeys: ['time', 'phase'] },
  );
  fc.assert(
    fc.property(goodput, course, (account, recorded) => {
      const record = { epoch: 1, time: TIME, cause: 'WorkerFailed', counted: true };
      const restartHistory = [{ ...record, course: recorded }];
      const status = { goodput: account, restartHistory } as unknown as NonNullable<
        JobSet['status']
      >;
      const jobSet = { ...storedJobSet(GROUP), status };
      const nowMs = CREATED_MS + 100_000;
      let endMs = CREATED_MS;
      for (const { fromMs, toMs } of timelineOf(jobSet, nowMs)) {
        expect(fromMs).toBe(endMs);
        expect(toMs).toBeGreaterThan(fromMs);
        expect(Number.isNaN(new Date(toMs).getTime())).toBe(false);
        endMs = toMs;
      }
      for (const { totalMs } of restartCosts(jobSet, nowMs).values()) {
        expect(totalMs).toBeGreaterThanOrEqual(0);
      }
      expect(overviewRow(jobSet, null, nowMs).goodput).not.toBeNaN();
    }),
  );
});
