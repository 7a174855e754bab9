/** Where the seconds of JobSets with known lives went, plan by plan. */

import { microTimeText } from '@lockstep/kube/time.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { FAILED, SUSPENDED, ZERO } from '../../../test/fixtures/planned.ts';
import type { JobSet } from '../jobset.ts';
import { type JobSetStatus, RESTART_HISTORY_LIMIT } from '../jobset-status.ts';
import { MAX_COURSE_PARTS } from './course.ts';
import { goodputAt } from './goodput-at.ts';
import {
  at,
  BEGUN,
  CREATED_MS,
  DONE,
  GROUP,
  HELD,
  IN_PLACE,
  job,
  lived,
  type Moment,
  ONE,
  oneAt,
  READY,
  RELEASED,
  RUNS,
  told,
} from './lives.fixture.ts';
import { timelineOf } from './timeline.ts';

/** `Lost 80-100 in 1`, `Lost 80-100 summed up` */
function segmentsOf(jobSet: JobSet, atS: number, reported = {}): readonly string[] {
  const nowMs = CREATED_MS + atS * 1000;
  const segments = timelineOf(jobSet, nowMs, reported);
  const { classes = {}, elapsedMs = 0 } = goodputAt(jobSet, nowMs, reported) ?? {};
  const sums: Record<string, number> = Object.fromEntries(
    Object.keys(classes).map((name) => [name, 0]),
  );
  let endMs = CREATED_MS;
  for (const { class: name, fromMs, toMs } of segments) {
    expect(fromMs).toBe(endMs);
    endMs = toMs;
    sums[name] = (sums[name] ?? 0) + toMs - fromMs;
  }
  expect(sums).toEqual(classes);
  expect(endMs - CREATED_MS).toBe(elapsedMs);
  return segments.map(({ class: name, fromMs, toMs, epoch, isSummary }) => {
    const [from, to] = [fromMs, toMs].map((ms) => (ms - CREATED_MS) / 1000);
    const where = isSummary === true ? ' summed up' : epoch === null ? '' : ` in ${epoch}`;
    return `${name} ${from}-${to}${where}`;
  });
}

const FIRST_EPOCH = ['Waiting 0-30 in 1', 'Starting 30-40 in 1', 'Productive 40-80 in 1'];
const RESTARTED: readonly Moment[] = [
  ...RELEASED,
  [100, { members: oneAt(2), ...told(100) }],
  [103, { ...at(2, RUNS), ...told(103) }],
];

const SAVED: readonly Moment[] = [
  ...RELEASED,
  [100, { spec: { suspend: true }, ...told(100) }],
  [
    101,
    {
      ...at(1),
      jobs: [HELD],
      reported: () => ({ checkpoint: 6, checkpointMs: 0, firstStepMs: 0 }),
    },
  ],
];

describe('the time of a group', () => {
  test.each<[string, readonly Moment[], readonly string[]]>([
    [
      'that restarts in place, and has not said anything since',
      [...RESTARTED, [110, { reported: () => ({}) }]],
      [...FIRST_EPOCH, 'Lost 80-100 in 1', 'Restarting 100-103 in 2', 'Starting 103-300 in 2'],
    ],
    [
      'that waits for its members, whose newest checkpoint may still be told',
      RESTARTED.slice(0, -1),
      [...FIRST_EPOCH, 'Pending 80-100 in 1', 'Restarting 100-300 in 2'],
    ],
    [
      'whose next epoch ends before its release',
      [
        ...RELEASED,
        [100, { members: oneAt(2), reported: () => ({ firstStepMs: 60_000 }) }],
        [120, { members: oneAt(3), ...told(120) }],
        [130, { ...at(3, RUNS), reported: () => ({}) }],
      ],
      [
        ...FIRST_EPOCH,
        'Lost 80-100 in 1',
        'Restarting 100-120 in 2',
        'Restarting 120-130 in 3',
        'Starting 130-300 in 3',
      ],
    ],
    [
      'that is suspended while it runs, and resumed',
      [
        ...RELEASED,
        [100, { spec: { suspend: true }, ...told(100) }],
        [101, { ...at(1), jobs: [HELD], reported: () => ({}) }],
        [200, { spec: { suspend: false } }],
        [230, at(2, RUNS)],
      ],
      [
        ...FIRST_EPOCH,
        'Pending 80-100 in 1',
        'Suspended 100-200 in 1',
        'Waiting 200-230 in 2',
        'Starting 230-300 in 2',
      ],
    ],
    [
      'that saves its work when it is suspended, and tells so before it is resumed',
      [...SAVED, [200, { spec: { suspend: false } }], [230, at(2, RUNS)]],
      [
        'Waiting 0-30 in 1',
        'Starting 30-40 in 1',
        'Productive 40-100 in 1',
        'Suspended 100-200 in 1',
        'Waiting 200-230 in 2',
        'Starting 230-300 in 2',
      ],
    ],
    [
      'that is suspended, and may have saved its work',
      SAVED,
      [...FIRST_EPOCH, 'Pending 80-100 in 1', 'Suspended 100-300 in 1'],
    ],
    [
      'that is suspended before the release of its second epoch',
      [
        ...RELEASED,
        [100, { members: oneAt(2), ...told(100) }],
        [110, { spec: { suspend: true } }],
        [111, { ...at(1), jobs: [HELD], reported: () => ({}) }],
        [200, { spec: { suspend: false } }],
        [230, at(2, RUNS)],
      ],
      [
        ...FIRST_EPOCH,
        'Lost 80-100 in 1',
        'Restarting 100-110 in 2',
        'Suspended 110-200 in 2',
        'Waiting 200-230 in 2',
        'Starting 230-300 in 2',
      ],
    ],
    [
      'that waits in a queue, and is sent back to it',
      [
        [0, { spec: { suspend: true } }],
        [1, { jobs: [HELD] }],
        [50, { spec: { suspend: false } }],
        [60, { spec: { suspend: true } }],
        [70, { spec: { suspend: false } }],
        [80, at(1, RUNS)],
      ],
      [
        'Suspended 0-50 in 1',
        'Waiting 50-60 in 1',
        'Suspended 60-70 in 1',
        'Waiting 70-80 in 1',
        'Running 80-300 in 1',
      ],
    ],
    [
      'that is scaled',
      [
        ...RELEASED,
        [100, { spec: { replicatedJobs: [replicatedJob('w', 3)] }, ...told(100) }],
        [150, { ...at(2, storedJob('train-w-0', 'w', { pods: 3, status: READY })), ...told(150) }],
        [150, { reported: () => ({}) }],
      ],
      [...FIRST_EPOCH, 'Pending 80-100 in 1', 'Restarting 100-150 in 2', 'Starting 150-300 in 2'],
    ],
    [
      'whose Jobs are recreated',
      [
        ...RELEASED,
        [100, { jobs: [job(FAILED)], ...told(100) }],
        [101, { ...at(2), jobs: [] }],
        [130, { ...at(2, job(READY, 1)), ...told(130) }],
        [130, { reported: () => ({}) }],
      ],
      [...FIRST_EPOCH, 'Lost 80-100 in 1', 'Restarting 100-130 in 2', 'Starting 130-300 in 2'],
    ],
    [
      'that fails beyond its budget',
      [
        [0, { spec: { failurePolicy: { ...IN_PLACE, maxRestarts: 0 } } }],
        [30, at(1, RUNS)],
        [100, { ...at(2, RUNS), ...told(100) }],
        [250, { jobs: [] }],
      ],
      [...FIRST_EPOCH, 'Lost 80-100 in 1'],
    ],
    [
      'that succeeds',
      [...RELEASED, [100, { ...at(1, job(DONE)), ...told(100) }], [250, { jobs: [] }]],
      ['Waiting 0-30 in 1', 'Starting 30-40 in 1', 'Productive 40-100 in 1'],
    ],
  ])('%s', (_, moments, expected) => {
    expect(segmentsOf(lived(GROUP, moments), 300)).toEqual(expected);
  });

  test('continues with what members have reported since the last write', () => {
    const jobSet = lived(GROUP, [...RESTARTED, [110, { reported: () => ({}) }]]);
    const reported = { firstStepMs: 250_000, checkpoint: 6, checkpointMs: 100_000 };
    expect(segmentsOf(jobSet, 400, reported).slice(-3)).toEqual([
      'Starting 103-150 in 2',
      'Productive 150-300 in 2',
      'Pending 300-400 in 2',
    ]);
  });

  test('ends at the stamp while the clock is behind it', () => {
    const jobSet = lived(GROUP, [
      ...RELEASED,
      [100, { spec: { suspend: true }, ...told(100) }],
      // Another leader, whose clock is behind.
      [95, { spec: { suspend: false } }],
      [98, { ...at(1, RUNS), reported: () => ({}) }],
      [110, at(2, RUNS)],
    ]);
    const worked = [...FIRST_EPOCH, 'Pending 80-100 in 1'];
    expect(segmentsOf(jobSet, 90).slice(0, 4)).toEqual(worked);
    expect(segmentsOf(jobSet, 120).at(-1)).toMatch(/-120 in \d$/);
  });
});

describe('the time of a JobSet without agents', () => {
  test('has no epochs', () => {
    const jobSet = lived(ONE, [
      ...BEGUN,
      [100, { jobs: [job(FAILED)] }],
      [110, { jobs: [job({}, 1)], spec: { suspend: true } }],
      [111, { jobs: [job(SUSPENDED, 1)] }],
      [150, { spec: { suspend: false }, jobs: [job({}, 1)] }],
      [155, { jobs: [job(READY, 1)] }],
    ]);
    expect(segmentsOf(jobSet, 160)).toEqual([
      'Waiting 0-30',
      'Running 30-100',
      'Restarting 100-110',
      'Suspended 110-150',
      'Waiting 150-155',
      'Running 155-160',
    ]);
  });

  test('is summed up as far as it is older than what is kept', () => {
    const held = job(SUSPENDED);
    const moments = Array.from({ length: MAX_COURSE_PARTS + 6 }, (_, i): Moment => {
      return [10 + i * 10, { spec: { suspend: i % 2 === 0 }, jobs: [held] }];
    });
    const segments = segmentsOf(lived(ONE, [[0, {}], ...moments]), 1000);
    const [first, second, third] = segments;
    expect([first, second]).toEqual(['Waiting 0-30 summed up', 'Suspended 30-60 summed up']);
    expect(third).toBe('Waiting 60-70');
    expect(segments).toHaveLength(2 + MAX_COURSE_PARTS + 1);
  });
});

describe('time whose order is not recorded', () => {
  test('is older than the history', () => {
    const restarts = RESTART_HISTORY_LIMIT + 2;
    const policy = { ...IN_PLACE, maxRestarts: restarts };
    const more = Array.from({ length: restarts }, (_, i): readonly Moment[] => [
      [(i + 1) * 100, { members: oneAt(i + 2), reported: () => ({ firstStepMs: 50_000 }) }],
      [(i + 1) * 100 + 30, at(i + 2, RUNS)],
    ]);
    const first: Moment = [0, { spec: { failurePolicy: policy } }];
    const jobSet = lived(GROUP, [first, ...RELEASED.slice(1), ...more.flat()]);
    const segments = segmentsOf(jobSet, restarts * 100 + 40);
    const isSummed = (text: string): boolean => text.endsWith('summed up');
    expect(segments.filter(isSummed)).toEqual(
      segments.slice(0, segments.findLastIndex(isSummed) + 1),
    );
    const exact = segments.filter((text) => !isSummed(text));
    expect(exact[0]).toBe('Restarting 200-230 in 3');
    expect(exact.at(-1)).toMatch(/ in 19$/);
    expect(jobSet.status?.restartHistory).toHaveLength(RESTART_HISTORY_LIMIT);
  });

  const released: JobSetStatus = {
    restarts: 0,
    deprecatedEpoch: 0,
    syncedEpoch: 1,
    syncedTime: '2026-01-01T00:00:30.000000Z',
    replicatedJobsStatus: [{ name: 'w', ...ZERO, ready: 1, active: 1, syncedEpoch: 1 }],
  };

  test('was spent under an operator that did not account for time', () => {
    const jobSet = lived(
      GROUP,
      [
        [100, { members: oneAt(2), jobs: [RUNS], ...told(100) }],
        [110, { ...at(2, RUNS), reported: () => ({}) }],
      ],
      released,
    );
    expect(segmentsOf(jobSet, 120)).toEqual([
      'Running 0-100 summed up',
      'Restarting 100-110 in 2',
      'Running 110-120 in 2',
    ]);
  });

  test.each(['goodput.course', 'restartHistory[].course'])(
    'is all that was accounted for while the definition lacked %s',
    (field) => {
      const lacks = new Set([field]);
      const before = lived(GROUP, [[0, { lacks }], ...RESTARTED.slice(1)]);
      expect(JSON.stringify(before.status)).not.toContain('"course":');
      expect(segmentsOf(before, 110).filter((text) => !text.endsWith('summed up'))).toEqual([
        'Starting 103-110 in 2',
      ]);
      const after = lived(GROUP, [
        [0, { lacks }],
        ...RESTARTED.slice(1),
        [110, { lacks: new Set(), reported: () => ({}) }],
        [120, { members: oneAt(3) }],
        [125, at(3, RUNS)],
      ]);
      expect(segmentsOf(after, 130).filter((text) => !text.endsWith('summed up'))).toEqual([
        'Starting 103-120 in 2',
        'Restarting 120-125 in 3',
        'Starting 125-130 in 3',
      ]);
    },
  );

  test('was accounted for by an operator without courses, which left the old one as it was', () => {
    const jobSet = lived(GROUP, RELEASED);
    const { goodput } = jobSet.status ?? {};
    if (goodput === undefined) throw new Error('nothing is accounted for');
    expect(goodput.course).toEqual({ fromMs: 0, parts: [{ class: 'Waiting', ms: 30_000 }] });
    const time = microTimeText(CREATED_MS + 90_000);
    const grown = { ...goodput, time, startingMs: 10_000, productiveMs: 50_000 };
    expect(segmentsOf({ ...jobSet, status: { ...jobSet.status, goodput: grown } }, 90)).toEqual([
      'Waiting 0-30 summed up',
      'Starting 30-40 summed up',
      'Productive 40-90 summed up',
    ]);
  });

  test('is all time of a status that contradicts itself, whatever is in it', () => {
    const part = fc.record({
      class: fc.constantFrom('Lost' as const, 'Waiting' as const, 'Restarting' as const),
      ms: fc.nat(50_000),
    });
    const course = fc.record({ fromMs: fc.nat(150_000), parts: fc.array(part, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(course, { maxLength: 4 }), fc.nat(100_000), (courses, lostMs) => {
        const [newest, ...others] = courses;
        const goodput = {
          time: microTimeText(CREATED_MS + 50_000 + lostMs),
          phase: 'Suspended',
          waitingMs: 50_000,
          lostMs,
          ...(newest && { course: newest }),
        } as const;
        const restartHistory = others.map((each, i) => ({
          epoch: 9 - i,
          time: microTimeText(CREATED_MS),
          cause: 'WorkerFailed' as const,
          counted: true,
          course: each,
        }));
        const status: JobSetStatus = { goodput, restartHistory };
        segmentsOf({ ...storedJobSet(GROUP), status }, 160);
      }),
    );
  });
});

test('nothing is known of a JobSet whose time is not accounted for', () => {
  expect(timelineOf({ ...storedJobSet({}), status: {} }, CREATED_MS)).toEqual([]);
});
