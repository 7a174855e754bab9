import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import {
  answering,
  membersAt,
  NO_KNOWLEDGE,
  snapshotOf,
} from '../../../test/fixtures/snapshots.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import type { JobSetSpec } from '../jobset.ts';
import type { JobSetStatus, StoredRanks } from '../jobset-status.ts';
import {
  DISABLE_IN_PLACE_RESTART,
  ENV_PROCESSES_PER_POD,
  PROCESSES_PER_POD,
  RESTART_MODE,
} from '../names.ts';
import { type Plan, plan } from '../plan.ts';
import type { Snapshot } from './snapshot.ts';

/** A group of `first` and `second` whose members have ranks. */
const COUNTERS = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const ANNOTATIONS = { [RESTART_MODE]: 'Supervisor' };

interface Size {
  readonly first: number;
  readonly second: number;
}

/** A Job whose template says that its Pods start `processes`; undefined: that they are no ranks. */
function job(name: string, pods: number, processes: number | undefined): Stored<Job> {
  const made = storedJob(`train-${name}-0`, name, { pods });
  const env =
    processes === undefined ? [] : [{ name: ENV_PROCESSES_PER_POD, value: `${processes}` }];
  const template = { spec: { containers: [{ name: 'worker', env }] } };
  return { ...made, spec: { ...made.spec, template } };
}

function jobsOf({ first, second }: Size, processes: number | undefined): readonly Stored<Job>[] {
  return [job('first', first, processes), job('second', second, processes)];
}

interface Scene {
  readonly size: Size;
  readonly jobs?: readonly Stored<Job>[];
  readonly deprecated: number;
  /** S of `first` and of `second`. */
  readonly released: readonly [number, number];
  readonly ranks?: StoredRanks | undefined;
  /** Null: there is no annotation. */
  readonly asked?: string | null;
  readonly isInOrder?: boolean;
  readonly annotations?: object;
  readonly more?: Partial<Snapshot>;
}

function planOf(scene: Scene): Plan {
  const { size, deprecated, released, ranks, asked = '8', isInOrder = false, annotations } = scene;
  const { jobs = jobsOf(size, asked === null ? undefined : 8), more } = scene;
  const spec: JobSetSpec = {
    replicatedJobs: [replicatedJob('first', size.first), replicatedJob('second', size.second)].map(
      (each) => {
        const { template, ...rest } = each;
        const pod = { spec: { containers: [{ name: 'worker', image: 'i', command: ['train'] }] } };
        return { ...rest, template: { spec: { ...template.spec, template: pod } } };
      },
    ),
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 0 },
    ...(isInOrder && { startupPolicy: { startupPolicyOrder: 'InOrder' } }),
  };
  const jobSet = storedJobSet(spec, {
    annotations: {
      ...ANNOTATIONS,
      ...(asked === null ? {} : { [PROCESSES_PER_POD]: asked }),
      ...annotations,
    },
  });
  const [s1, s2] = released;
  const counters = { ...COUNTERS, ready: 1, active: 1 };
  const status: JobSetStatus = {
    observedGeneration: 1,
    restarts: 0,
    restartMode: 'Supervisor',
    executionAttempts: 0,
    deprecatedEpoch: deprecated,
    syncedEpoch: Math.min(s1, s2),
    replicatedJobsStatus: [
      { name: 'first', ...counters, syncedEpoch: s1 },
      { name: 'second', ...counters, syncedEpoch: s2 },
    ],
    ...(ranks && { ranks }),
  };
  const ready = jobs.map((each) => {
    const pods = each.spec.parallelism ?? 0;
    return { ...each, status: { active: pods, ready: pods, ...each.status } };
  });
  return plan(
    snapshotOf(
      { ...jobSet, status },
      {
        jobs: ready,
        members: membersAt(deprecated + 1, ...jobs),
        answer: answering({ ContainerMinimums: {}, FreshJobs: true }),
        ...more,
      },
    ),
  );
}

/** S of `first` and of `second`. */
function releasedIn(status: JobSetStatus | undefined): readonly [number, number] {
  const of = (name: string): number =>
    status?.replicatedJobsStatus?.find((each) => each.name === name)?.syncedEpoch ?? 0;
  return [of('first'), of('second')];
}

function ranksFor({ first, second }: Size, epoch = 4, processes = 8): StoredRanks {
  const of = { processesPerPod: processes };
  return {
    epoch,
    world: (first + second) * processes,
    groups: first + second,
    master: 'train-first-0-0.train',
    replicatedJobs: [
      { name: 'first', firstGroupRank: 0, firstRank: 0, ...of, podsPerJob: first },
      {
        name: 'second',
        firstGroupRank: first,
        firstRank: first * processes,
        ...of,
        podsPerJob: second,
      },
    ],
  };
}

const SIZE = { first: 2, second: 3 };
const LARGER = { first: 2, second: 4 };
const RUNNING = { size: SIZE, deprecated: 3, released: [4, 4], ranks: ranksFor(SIZE) } as const;

describe('the write that releases an epoch', () => {
  test('stores the numbers of its ranks', () => {
    const { status } = planOf({ size: SIZE, deprecated: 0, released: [0, 0] });
    expect(status).toMatchObject({ syncedEpoch: 1, ranks: ranksFor(SIZE, 1) });
  });

  test('replaces the numbers of another size', () => {
    const scene = { size: LARGER, deprecated: 4, released: [4, 4], ranks: ranksFor(SIZE) } as const;
    expect(planOf(scene).status).toMatchObject({ syncedEpoch: 5, ranks: ranksFor(LARGER, 5) });
  });

  test('stores none without the annotation, and takes away what earlier Jobs had', () => {
    const scene = { size: SIZE, deprecated: 0, released: [0, 0], asked: null } as const;
    expect(planOf(scene).status?.syncedEpoch).toBe(1);
    expect(planOf(scene).status).not.toHaveProperty('ranks');
    const after = planOf({ ...scene, deprecated: 4, released: [4, 4], ranks: ranksFor(SIZE) });
    expect(after.status).not.toHaveProperty('ranks');
  });

  test('counts what Jobs carry, whatever the annotation says by now', () => {
    const scene = { size: SIZE, deprecated: 0, released: [0, 0] } as const;
    const jobs = jobsOf(SIZE, 4);
    for (const asked of ['8', null]) {
      expect(planOf({ ...scene, asked, jobs }).status?.ranks).toEqual(ranksFor(SIZE, 1, 4));
    }
  });

  test('numbers a later stage whose Jobs are still to be made', () => {
    const scene = { size: SIZE, deprecated: 0, released: [0, 0], isInOrder: true } as const;
    const { status } = planOf({ ...scene, jobs: [job('first', 2, 8)] });
    expect(releasedIn(status)).toEqual([1, 0]);
    expect(status?.ranks).toEqual(ranksFor(SIZE, 1));
  });
});

describe('an epoch whose first stage is released', () => {
  const STAGED = { ...RUNNING, released: [4, 3], isInOrder: true } as const;

  test('lets the next stage join with the same numbers', () => {
    const { status } = planOf(STAGED);
    expect(status).toMatchObject({ deprecatedEpoch: 3, syncedEpoch: 4, ranks: ranksFor(SIZE) });
  });

  test('ends, uncharged, if the size of a later stage has changed', () => {
    const jobs = [job('first', 2, 8), job('second', 4, 8)];
    const asking = planOf({ ...STAGED, size: LARGER, jobs, more: { answer: () => undefined } });
    expect(asking.question, 'the cache may be old').toEqual({ kind: 'FreshJobs' });
    const { status, actions } = planOf({ ...STAGED, size: LARGER, jobs });
    expect(actions).toEqual([]);
    expect(status).toMatchObject({
      deprecatedEpoch: 4,
      inPlaceRestartsCountTowardsMax: 0,
      restartHistory: [{ cause: 'Scaled', counted: false }],
      ranks: ranksFor(SIZE),
    });
  });

  test('has no such rule without ranks: a stage that waits takes on its new size', () => {
    const jobs = [job('first', 2, undefined), job('second', 4, undefined)];
    const scene = { ...STAGED, ranks: undefined, asked: null, size: LARGER, jobs };
    expect(planOf(scene).status).toMatchObject({ deprecatedEpoch: 3, syncedEpoch: 4 });
  });
});

describe('a released epoch', () => {
  test('with its numbers runs on', () => {
    expect(planOf(RUNNING).status?.deprecatedEpoch ?? 3).toBe(3);
  });

  test.each([
    ['without numbers', undefined],
    ['with those of an earlier epoch', ranksFor(SIZE, 3)],
  ])('%s, as an older operator leaves it, ends uncharged and says why', (_what, ranks) => {
    const { status } = planOf({ ...RUNNING, ranks });
    expect(status).toMatchObject({
      deprecatedEpoch: 4,
      inPlaceRestartsCountTowardsMax: 0,
      restartHistory: [{ cause: 'Scaled', counted: false }],
    });
    const message = 'epoch 4 ended: its ranks had no numbers; 0 of 0 restarts used';
    expect(status?.conditions).toContainEqual(expect.objectContaining({ message }));
  });

  test('runs on without them if its members are no ranks, although the annotation is there', () => {
    const jobs = jobsOf(SIZE, undefined);
    const { status } = planOf({ ...RUNNING, ranks: undefined, jobs });
    expect(status?.deprecatedEpoch ?? 3).toBe(3);
  });

  test('runs on if the definition drops them, which a condition says', () => {
    const { status } = planOf({
      ...RUNNING,
      ranks: undefined,
      more: { lacks: new Set(['ranks']) },
    });
    expect(status).toMatchObject({ deprecatedEpoch: 3 });
    expect(status).not.toHaveProperty('ranks');
    const outdated = status?.conditions?.find(({ type }) => type === 'DefinitionOutdated');
    expect(outdated?.message).toContain(`${PROCESSES_PER_POD} is off`);
    expect(outdated?.message).toContain('lacks status.ranks');
  });

  const knowing = (droppedRanks: 'Wait' | 'Again') => ({
    ...RUNNING,
    ranks: undefined,
    more: { knowledge: { ...NO_KNOWLEDGE, droppedRanks } },
  });

  test('runs on if the API server drops them, which get another write when it is due', () => {
    const waiting = planOf(knowing('Wait')).status;
    expect(waiting?.deprecatedEpoch ?? 3).toBe(3);
    expect(waiting ?? {}).not.toHaveProperty('ranks');
    expect(planOf(knowing('Again')).status).toMatchObject({
      deprecatedEpoch: 3,
      ranks: ranksFor(SIZE),
    });
  });

  test('runs on if its size may not change', () => {
    const gates = { ...DEFAULT_FEATURE_GATES, ElasticJobSet: false };
    const { status } = planOf({ ...RUNNING, size: LARGER, more: { gates } });
    expect(status?.deprecatedEpoch ?? 3).toBe(3);
  });

  test('with all its members gone with success ends no more', () => {
    const done = (each: Stored<Job>): Stored<Job> => ({
      ...each,
      status: { conditions: [{ type: 'Complete', status: 'True' }] },
    });
    const jobs = jobsOf(SIZE, 8).map(done);
    const { status } = planOf({ ...RUNNING, ranks: undefined, jobs });
    expect(status).toMatchObject({ terminalState: 'Completed', deprecatedEpoch: 3 });
  });
});

describe('while restart in place is bypassed', () => {
  const annotations = { [DISABLE_IN_PLACE_RESTART]: '' };

  test('numbers follow the size, because nothing is released', () => {
    const jobs = jobsOf(LARGER, 8);
    const { status } = planOf({ ...RUNNING, size: LARGER, jobs, annotations });
    const mixed = { ...ranksFor(LARGER), mixed: true };
    expect(status).toMatchObject({ deprecatedEpoch: 3, ranks: mixed });
    const settled = planOf({ ...RUNNING, annotations });
    expect(settled.status?.ranks).toEqual(ranksFor(SIZE));
    const back = planOf({ ...RUNNING, ranks: mixed, annotations });
    expect(back.status?.ranks, 'members with the larger size may run').toEqual({
      ...ranksFor(SIZE),
      mixed: true,
    });
  });

  test('numbers stay if the size of Jobs may not change', () => {
    const gates = { ...DEFAULT_FEATURE_GATES, ElasticJobSet: false };
    const { status } = planOf({ ...RUNNING, size: LARGER, annotations, more: { gates } });
    expect(status?.ranks).toEqual(ranksFor(SIZE));
  });

  test('an epoch that waits for its release gets numbers of its own', () => {
    const { status } = planOf({ ...RUNNING, deprecated: 4, annotations });
    expect(status?.ranks).toEqual(ranksFor(SIZE, 5));
  });

  test('numbers are written once if the definition may not be read', () => {
    const lacks = new Set(['ranks']);
    const unread = { ...RUNNING, ranks: undefined, released: [0, 0], annotations } as const;
    const ranksOf = (more: Partial<Snapshot>) =>
      planOf({ ...unread, more: { lacks, isDefinitionUnread: true, ...more } }).status?.ranks;
    expect(ranksOf({})).toEqual(ranksFor(SIZE));
    const knowledge = { ...NO_KNOWLEDGE, droppedRanks: 'Wait' } as const;
    expect(ranksOf({ knowledge })).toBeUndefined();
  });

  test('from the start, there are numbers too', () => {
    const { status } = planOf({ ...RUNNING, ranks: undefined, released: [0, 0], annotations });
    expect(status?.ranks).toEqual(ranksFor(SIZE, 4));
  });
});

describe('once restart in place is bypassed no more', () => {
  test('an epoch whose size changed meanwhile ends, uncharged', () => {
    const { status } = planOf({ ...RUNNING, ranks: { ...ranksFor(SIZE), mixed: true } });
    expect(status).toMatchObject({
      deprecatedEpoch: 4,
      inPlaceRestartsCountTowardsMax: 0,
      restartHistory: [{ cause: 'Scaled', counted: false }],
    });
    const next = planOf({ ...RUNNING, deprecated: 4, ranks: { ...ranksFor(SIZE), mixed: true } });
    expect(next.status).toMatchObject({ syncedEpoch: 5 });
    expect(next.status?.ranks).toEqual(ranksFor(SIZE, 5));
  });

  test('one that was never released ends if its size changes, because its members run', () => {
    const scene = { size: SIZE, deprecated: 3, released: [3, 3], ranks: ranksFor(SIZE) } as const;
    expect(planOf(scene).status).toMatchObject({ deprecatedEpoch: 3, syncedEpoch: 4 });
    const jobs = jobsOf(LARGER, 8);
    expect(planOf({ ...scene, size: LARGER, jobs }).status).toMatchObject({ deprecatedEpoch: 4 });
  });
});

it('never lets two stages run in one epoch with different numbers', () => {
  const pods = fc.integer({ min: 1, max: 3 });
  const sizes = fc.record({ first: pods, second: pods });
  fc.assert(
    fc.property(fc.array(sizes, { minLength: 1, maxLength: 6 }), (changes) => {
      const numbersIn = new Map<number, StoredRanks | undefined>();
      let scene: Scene = { size: SIZE, deprecated: 0, released: [0, 0], isInOrder: true };
      for (const size of changes) {
        // Jobs have the new size, and all their Pods are at the barrier of the current epoch.
        const { status } = planOf({ ...scene, size, jobs: jobsOf(size, 8) });
        const [s1, s2] = status === undefined ? scene.released : releasedIn(status);
        const ranks = status === undefined ? scene.ranks : status.ranks;
        const deprecated = status?.deprecatedEpoch ?? scene.deprecated;
        const epoch = deprecated + 1;
        const [old1, old2] = scene.released;
        const isRelease = (s1 === epoch && old1 < epoch) || (s2 === epoch && old2 < epoch);
        if (isRelease) expect(ranks).toEqual(ranksFor(size, epoch));
        if (s1 === epoch || s2 === epoch) {
          expect(ranks).toEqual(numbersIn.get(epoch) ?? ranks);
          numbersIn.set(epoch, ranks);
        }
        scene = { ...scene, size, deprecated, released: [s1, s2], ranks };
      }
    }),
  );
});
