import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { replicatedJob } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import type { GroupRanks } from '../jobset-status.ts';
import {
  checkedRanks,
  groupRanksOf,
  memberRanks,
  parseRankFields,
  rankFields,
} from './group-ranks.ts';

interface Shape {
  readonly name: string;
  readonly replicas: number;
  readonly pods: number;
  readonly processes: number | undefined;
}

function ranksOf(shapes: readonly Shape[], network = {}): GroupRanks | undefined {
  const replicatedJobs = shapes.map(({ name, pods, replicas }) =>
    replicatedJob(name, pods, replicas),
  );
  const spec = withDefaults({ replicatedJobs, network });
  const processes = new Map(shapes.map((shape) => [shape.name, shape.processes]));
  return groupRanksOf('train', spec, (name) => processes.get(name));
}

const shapes = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    replicas: fc.nat(3),
    pods: fc.nat(4),
    processes: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  }),
  { selector: ({ name }) => name, minLength: 1 },
);

/** All members, in the order of the spec, then by job index, then by completion index. */
function membersOf(of: readonly Shape[]) {
  return of.flatMap(({ name, replicas, pods, processes }) =>
    Array.from({ length: replicas * pods }, (_, at) => ({
      replicatedJob: name,
      jobIndex: Math.floor(at / pods),
      completionIndex: at % pods,
      processes,
    })),
  );
}

describe('numbers of ranks', () => {
  it('are a permutation of 0 to WORLD_SIZE - 1 in the order of the members', () => {
    fc.assert(
      fc.property(shapes, (of) => {
        const ranks = ranksOf(of);
        const members = membersOf(of);
        const numbered = members.map((member) => ranks && memberRanks(ranks, member));
        const all = numbered.flatMap((numbers) =>
          Array.from(
            { length: numbers?.processes ?? 0 },
            (_, at) => (numbers?.firstRank ?? 0) + at,
          ),
        );
        expect(all).toEqual([...all.keys()]);
        expect(all.length).toBe(ranks?.world ?? 0);
        const groups = numbered.flatMap((numbers) => numbers?.groupRank ?? []);
        expect(groups).toEqual([...groups.keys()]);
        expect(groups.length).toBe(ranks?.groups ?? 0);
        expect(numbered.map((numbers) => numbers?.processes)).toEqual(
          members.map(({ processes }) => processes),
        );
      }),
    );
  });

  it('exist only for members of the group that was counted', () => {
    const ranks = ranksOf([
      { name: 'a', replicas: 2, pods: 3, processes: 4 },
      { name: 'b', replicas: 1, pods: 2, processes: 8 },
    ]);
    const at = (replicatedJob: string, jobIndex: number, completionIndex: number) =>
      ranks && memberRanks(ranks, { replicatedJob, jobIndex, completionIndex });
    expect(at('a', 1, 2)).toEqual({
      processes: 4,
      firstRank: 20,
      world: 40,
      groupRank: 5,
      groups: 8,
      master: 'train-a-0-0.train',
    });
    expect(at('b', 0, 0)).toMatchObject({ firstRank: 24, groupRank: 6 });
    for (const [name, job, pod] of [
      ['a', 0, 3],
      ['a', 2, 0],
      ['b', 1, 0],
      ['c', 0, 0],
    ] as const) {
      expect(at(name, job, pod), `${name} ${job} ${pod}`).toBeUndefined();
    }
  });

  it('have the first member with ranks as master, below the subdomain', () => {
    const of = [
      { name: 'driver', replicas: 1, pods: 1, processes: undefined },
      { name: 'none', replicas: 0, pods: 1, processes: 8 },
      { name: 'workers', replicas: 1, pods: 2, processes: 8 },
    ];
    expect(ranksOf(of, { subdomain: 'net' })).toEqual({
      world: 16,
      groups: 2,
      master: 'train-workers-0-0.net',
      replicatedJobs: [
        { name: 'workers', firstGroupRank: 0, firstRank: 0, processesPerPod: 8, podsPerJob: 2 },
      ],
    });
  });

  test.each<[string, readonly Shape[]]>([
    ['no member has ranks', [{ name: 'a', replicas: 2, pods: 2, processes: undefined }]],
    ['there are no members', [{ name: 'a', replicas: 0, pods: 2, processes: 8 }]],
    ['RANK would be no int32', [{ name: 'a', replicas: 1e6, pods: 1e6, processes: 8 }]],
    [
      'too many ReplicatedJobs have ranks',
      Array.from({ length: 13 }, (_, at) => ({
        name: `j${at}`,
        replicas: 1,
        pods: 1,
        processes: 1,
      })),
    ],
  ])('do not exist if %s', (_why, of) => {
    expect(ranksOf(of)).toBeUndefined();
  });

  it('come out of a message, and of a status, as they went in', () => {
    fc.assert(
      fc.property(shapes, (of) => {
        const ranks = ranksOf(of);
        if (ranks === undefined) return;
        expect(parseRankFields(JSON.parse(JSON.stringify(rankFields(ranks))))).toEqual(ranks);
        expect(checkedRanks(JSON.parse(JSON.stringify(ranks)))).toEqual(ranks);
      }),
    );
  });

  const JOB = { name: 'a', firstGroupRank: 0, firstRank: 0, processesPerPod: 4, podsPerJob: 3 };
  const RANKS = { world: 24, groups: 6, master: 'train-a-0-0.train', replicatedJobs: [JOB] };

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', [RANKS]],
    ['no ReplicatedJobs', { ...RANKS, replicatedJobs: [] }],
    ['another world', { ...RANKS, world: 25 }],
    ['part of a Job', { ...RANKS, groups: 7, world: 28 }],
    ['a master that is no host name', { ...RANKS, master: 'a b' }],
    ['a master that is too long', { ...RANKS, master: 'a'.repeat(254) }],
    ['no master', { ...RANKS, master: '' }],
    [
      'too many processes',
      { ...RANKS, world: 390, replicatedJobs: [{ ...JOB, processesPerPod: 65 }] },
    ],
    ['a fraction', { ...RANKS, replicatedJobs: [{ ...JOB, podsPerJob: 1.5 }] }],
    ['the same ranks twice', { ...RANKS, replicatedJobs: [JOB, JOB] }],
    ['a rank 0 that nobody has', { ...RANKS, replicatedJobs: [{ ...JOB, firstRank: 4 }] }],
    ['texts for numbers', { ...RANKS, world: '24' }],
    ['too many ReplicatedJobs', { ...RANKS, replicatedJobs: Array(13).fill(JOB) }],
    ['a null', { ...RANKS, replicatedJobs: [null] }],
  ])('are not read from a status with %s', (_what, value) => {
    expect(checkedRanks(RANKS)).toEqual(RANKS);
    expect(checkedRanks(value)).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['no jobs', { world: 24, groups: 6, master: 'm' }],
    ['a job that is no list', { world: 24, groups: 6, master: 'm', jobs: [JOB] }],
    ['a short job', { world: 24, groups: 6, master: 'm', jobs: [['a', 0, 0]] }],
  ])('are not read from a message with %s', (_what, value) => {
    expect(parseRankFields(value)).toBeUndefined();
  });
});
