/** The accounted time in lives of JobSets. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import {
  CREATED,
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { FAILED, SUSPENDED, ZERO } from '../../../../test/fixtures/planned.ts';
import { snapshotOf } from '../../../../test/fixtures/snapshots.ts';
import { sumsOf } from '../../goodput/classes.ts';
import {
  afterEach,
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
} from '../../goodput/lives.fixture.ts';
import { restartCosts } from '../../goodput/restart-cost.ts';
import type { JobSetSpec } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { DISABLE_IN_PLACE_RESTART, KEEP_FAILED } from '../../names.ts';
import { plan } from '../../plan.ts';
import type { GroupProgress } from '../../progress/group-progress.ts';

/** Seconds of each class at the last moment, and the phase. */
function life(
  spec: JobSetSpec,
  moments: readonly Moment[],
  status?: JobSetStatus,
): Record<string, unknown> {
  const all = afterEach(spec, moments, status);
  for (const jobSet of all) {
    const { goodput } = jobSet.status ?? {};
    if (goodput === undefined) throw new Error('nothing is accounted for');
    const ms = Object.values(sumsOf(goodput)).reduce((sum, each) => sum + each, 0);
    const { pendingMs = 0, held = { ms: 0 } } = goodput;
    expect(ms + pendingMs + held.ms).toBe(Date.parse(goodput.time) - CREATED_MS);
  }
  const { goodput = { time: '', phase: 'Waiting' } } = all.at(-1)?.status ?? {};
  const some = Object.entries(sumsOf(goodput)).filter(([, ms]) => ms > 0);
  return {
    ...Object.fromEntries(some.map(([name, ms]) => [name, ms / 1000])),
    ...(goodput.held && { Held: goodput.held.ms / 1000 }),
    phase: goodput.phase,
  };
}

test.each<[string, readonly Moment[], object]>([
  [
    'runs',
    [...BEGUN, [90, { jobs: [job(DONE)] }]],
    { Waiting: 30, Running: 60, phase: 'Finished' },
  ],
  [
    'is over',
    [...BEGUN, [90, { jobs: [job(DONE)] }], [500, { jobs: [] }]],
    { Waiting: 30, Running: 60, phase: 'Finished' },
  ],
  [
    'is done before all its Pods were ready',
    [...BEGUN.slice(0, 2), [40, { jobs: [job(DONE)] }]],
    { Waiting: 40, phase: 'Finished' },
  ],
  [
    'loses its Pods for a while, which its Job makes anew',
    [...BEGUN, [60, { jobs: [job()] }], [80, { jobs: [job(DONE)] }]],
    { Waiting: 30, Running: 50, phase: 'Finished' },
  ],
  [
    'is recreated',
    [
      ...BEGUN,
      [100, { jobs: [job(FAILED)] }],
      [101, { jobs: [] }],
      [102, { jobs: [job({}, 1)] }],
      [110, { jobs: [job(READY, 1)] }],
      [150, { jobs: [job(DONE, 1)] }],
    ],
    { Waiting: 30, Running: 70 + 40, Restarting: 10, phase: 'Finished' },
  ],
  [
    'fails for good',
    [...BEGUN, [100, { jobs: [job(FAILED)], spec: { failurePolicy: {} } }], [200, { jobs: [] }]],
    { Waiting: 30, Running: 70, phase: 'Finished' },
  ],
  [
    'fails while its Jobs are recreated',
    [
      ...BEGUN,
      [100, { jobs: [job(FAILED)] }],
      [101, { jobs: [job({}, 1)] }],
      [120, { jobs: [job(FAILED, 1)] }],
    ],
    { Waiting: 30, Running: 70, Restarting: 20, phase: 'Finished' },
  ],
  [
    'is suspended from the start, and while it runs',
    [
      [0, { spec: { suspend: true } }],
      [50, { spec: { suspend: false }, jobs: [job()] }],
      [60, { jobs: [job(READY)] }],
      [100, { spec: { suspend: true } }],
      [101, { jobs: [job(SUSPENDED)] }],
      [200, { spec: { suspend: false }, jobs: [job()] }],
      [205, { jobs: [job(READY)] }],
      [215, { jobs: [job(DONE)] }],
    ],
    { Suspended: 150, Waiting: 15, Running: 50, phase: 'Finished' },
  ],
  [
    'is suspended while its Jobs are recreated',
    [
      ...BEGUN,
      [100, { jobs: [job(FAILED)] }],
      [110, { jobs: [job({}, 1)], spec: { suspend: true } }],
      [150, { spec: { suspend: false } }],
      [155, { jobs: [job(READY, 1)] }],
      [165, { jobs: [job(DONE, 1)] }],
    ],
    { Waiting: 35, Running: 80, Restarting: 10, Suspended: 40, phase: 'Finished' },
  ],
])('time of a JobSet without agents that %s', (_, moments, expected) => {
  expect(life(ONE, moments)).toEqual(expected);
});

test('nothing is accounted for of a JobSet that was over before anyone did', () => {
  const jobSet = storedJobSet(ONE);
  const over = { type: 'Completed', status: 'True', reason: 'R', message: '' } as const;
  const status: JobSetStatus = {
    restarts: 0,
    conditions: [{ ...over, lastTransitionTime: CREATED }],
    replicatedJobsStatus: [{ name: 'w', ...ZERO, active: 1 }],
  };
  const written = plan(snapshotOf({ ...jobSet, status }, { nowMs: CREATED_MS + 9e9 }));
  expect(written.status?.replicatedJobsStatus, 'its Jobs are gone').toMatchObject([{ active: 0 }]);
  expect(written.status).not.toHaveProperty('goodput');
  expect(written.outcomes).toEqual([]);
});

test('an account that cannot be true is begun again, and holds up nothing', () => {
  const jobSet = storedJobSet(ONE);
  const status: JobSetStatus = {
    restarts: 0,
    replicatedJobsStatus: [{ name: 'w', ...ZERO, active: 1 }],
    goodput: { time: '2026-12-31T23:59:60Z', phase: 'Running' },
  };
  const written = plan(snapshotOf({ ...jobSet, status }, { nowMs: CREATED_MS + 9000 }));
  expect(Date.parse(written.status?.goodput?.time ?? '')).toBeLessThanOrEqual(CREATED_MS + 9000);
});

/** Suspended at 100, resumed at 200, and released at 230 without a word since. */
const RESUMED: readonly Moment[] = [
  ...RELEASED,
  [100, { spec: { suspend: true }, ...told(100) }],
  [101, { ...at(1), jobs: [HELD], reported: () => ({}) }],
  [200, { spec: { suspend: false } }],
  [230, at(2, RUNS)],
];
const WORKED = { Waiting: 30, Starting: 10, Productive: 40 };

describe('time of a group', () => {
  test.each<[string, readonly Moment[], object]>([
    [
      'that restarts in place',
      [
        ...RELEASED,
        [100, { ...at(2, RUNS), ...told(100) }],
        [103, { ...at(2, RUNS), ...told(103) }],
      ],
      { ...WORKED, Lost: 20, phase: 'Running' },
    ],
    [
      'that is scaled, and waits for the new Pods',
      [
        ...RELEASED,
        [100, { spec: { replicatedJobs: [replicatedJob('w', 3)] }, ...told(100) }],
        [150, { ...at(2, storedJob('train-w-0', 'w', { pods: 3, status: READY })), ...told(150) }],
      ],
      { ...WORKED, Held: 20, Restarting: 50, phase: 'Running' },
    ],
    [
      'that ends by hand',
      [
        ...RELEASED,
        [100, { annotations: { 'lockstep/restart-epoch': '1' }, ...told(100) }],
        [110, { ...at(2, RUNS), ...told(110) }],
      ],
      { ...WORKED, Held: 20, Restarting: 10, phase: 'Running' },
    ],
    [
      'that is suspended, and resumed',
      [...RESUMED, [260, at(3, RUNS)]],
      { ...WORKED, Held: 20, Suspended: 100, Waiting: 60, Starting: 40, phase: 'Running' },
    ],
    [
      'that waits in a queue first',
      [
        [0, { spec: { suspend: true } }],
        [1, { jobs: [HELD] }],
        [50, { spec: { suspend: false } }],
        [60, at(1, RUNS)],
      ],
      { Suspended: 50, Waiting: 10, phase: 'Running' },
    ],
    [
      'whose Jobs are recreated',
      [
        ...RELEASED,
        [100, { jobs: [job(FAILED)], ...told(100) }],
        [101, { ...at(2), jobs: [] }],
        [130, { ...at(2, job(READY, 1)), ...told(130) }],
      ],
      { ...WORKED, Lost: 20, Restarting: 30, phase: 'Running' },
    ],
    [
      'whose next epoch ends before its release',
      [
        ...RELEASED,
        [100, { members: oneAt(2), reported: () => ({ firstStepMs: 60_000 }) }],
        [120, { members: oneAt(3), ...told(120) }],
        [130, { ...at(3, RUNS), reported: () => ({}) }],
      ],
      { ...WORKED, Lost: 20, Restarting: 30, phase: 'Running' },
    ],
    [
      'that fails beyond its budget',
      [
        [0, { spec: { failurePolicy: { ...IN_PLACE, maxRestarts: 0 } } }],
        [30, at(1, RUNS)],
        [100, { ...at(2, RUNS), ...told(100) }],
        [500, { jobs: [] }],
      ],
      { ...WORKED, Lost: 20, phase: 'Finished' },
    ],
    [
      'that fails, and keeps its Pods',
      [
        [
          0,
          {
            spec: { failurePolicy: { ...IN_PLACE, maxRestarts: 0 } },
            annotations: { [KEEP_FAILED]: '1h' },
          },
        ],
        [30, at(1, RUNS)],
        [100, { ...at(2, RUNS), ...told(100) }],
        [4000, { ...at(2, RUNS), ...told(4000) }],
        [4001, { jobs: [] }],
      ],
      { ...WORKED, Lost: 20, phase: 'Finished' },
    ],
    [
      'that succeeds',
      [...RELEASED, [100, { ...at(1, job(DONE)), ...told(100) }], [900, { jobs: [] }]],
      { ...WORKED, Productive: 60, phase: 'Finished' },
    ],
    [
      'whose restarts in place are turned off',
      [
        ...RELEASED,
        [100, { annotations: { [DISABLE_IN_PLACE_RESTART]: '' }, ...told(100) }],
        [120, { jobs: [job(DONE)] }],
      ],
      { Waiting: 30, Running: 90, phase: 'Finished' },
    ],
  ])('%s', (_, moments, expected) => {
    expect(life(GROUP, moments)).toEqual(expected);
  });

  test.each<[string, GroupProgress, object]>([
    ['is lost if the next epoch goes on from none that is new', { restored: null }, { Lost: 20 }],
    ['is lost if it goes on from the one before', { restored: 5 }, { Lost: 20 }],
    ['is saved if it goes on from a newer one', { restored: 6 }, { Productive: 60 }],
    ['is not known before all members can have told', {}, { Held: 20 }],
  ])('whose work before a suspend %s', (_, more, expected) => {
    const next = { reported: () => ({ firstStepMs: 39_000, startMs: 31_000, ...more }) };
    const moments: readonly Moment[] = [...RESUMED, [300, { members: oneAt(3), ...next }]];
    const rest = { Suspended: 100, Waiting: 60, Starting: 41, phase: 'Restarting' };
    const made = lived(GROUP, moments);
    expect(life(GROUP, moments)).toEqual({ ...WORKED, ...rest, ...expected });
    const cost = restartCosts(made, CREATED_MS + 310_000).get(1);
    const isKnown = !('Held' in expected);
    expect(cost?.lostMs).toBe(isKnown ? ('Lost' in expected ? 20_000 : 0) : undefined);
    if (isKnown) return;
    const decided = life(GROUP, [...moments, [310, { ...at(3, RUNS), ...next }]]);
    expect(decided, 'by then all have').toMatchObject({ Lost: 20 + 39, Restarting: 10 });
  });

  test.each<[string, readonly Moment[], object]>([
    [
      'an epoch without a step',
      [
        [300, { members: oneAt(3) }],
        [310, at(3, RUNS)],
      ],
      { Held: 20 },
    ],
    [
      'the failure of the JobSet',
      [[300, { jobs: [job(FAILED)], spec: { failurePolicy: {} } }]],
      { Lost: 20 },
    ],
  ])('whose work before a suspend comes before %s', (_, more, expected) => {
    expect(life(GROUP, [...RESUMED, ...more])).toMatchObject({ Productive: 40, ...expected });
  });

  test('is judged at once where the definition would drop what is not known yet', () => {
    const lacks = new Set(['goodput.held']);
    const all = RESUMED.map(([atS, change]): Moment => [atS, { ...change, lacks }]);
    expect(life(GROUP, all)).toMatchObject({ Productive: 40, Lost: 20 });
  });

  test('from before an upgrade is running up to the first write', () => {
    const released: JobSetStatus = {
      restarts: 0,
      deprecatedEpoch: 0,
      syncedEpoch: 1,
      syncedTime: '2026-01-01T00:00:30.000000Z',
      replicatedJobsStatus: [{ name: 'w', ...ZERO, ready: 1, active: 1, syncedEpoch: 1 }],
    };
    const moments: readonly Moment[] = [
      [100, { ...at(2, RUNS), ...told(100) }],
      [150, { ...at(3, RUNS), reported: () => ({ firstStepMs: 40_000 }) }],
    ];
    expect(life(GROUP, moments, released)).toEqual({
      Running: 100 + 40,
      Starting: 10,
      phase: 'Running',
    });
  });

  test('whose stages are released one after the other begins with the first', () => {
    const a = (status: JobStatus): Stored<Job> => job(status, 0, 'a');
    const b = (status: JobStatus): Stored<Job> => job(status, 0, 'b');
    const spec: JobSetSpec = {
      ...GROUP,
      replicatedJobs: [replicatedJob('a', 2), replicatedJob('b', 2)],
      startupPolicy: { startupPolicyOrder: 'InOrder' },
    };
    const [rising, risen] = [{ active: 2 }, READY];
    expect(
      life(spec, [
        [0, {}],
        [30, at(1, a(rising))],
        [40, at(1, a(risen))],
        [60, at(1, a(risen), b(risen))],
        [100, { ...at(2, a(rising), b(rising)), ...told(100) }],
        [105, { ...at(3, a(rising), b(rising)), reported: () => ({}) }],
        [112, { ...at(3, a(risen), b(risen)) }],
      ]),
    ).toEqual({ ...WORKED, Starting: 15, Lost: 20, phase: 'Running' });
  });
});
