import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GroupEvidence, MemberEnd, MemberEvidence } from '../roster/group-evidence.ts';
import type { WorkerEnd } from '../worker-end/worker-end.ts';
import type { Suspicion } from './known.ts';
import { LAUNCHER_SCENARIOS } from './launcher-scenarios.fixture.ts';
import { evidenceIn, memberOf, SCENARIOS as OTHERS } from './scenarios.fixture.ts';
import { suspectsOf } from './suspects.ts';

const SCENARIOS = [...OTHERS, ...LAUNCHER_SCENARIOS];

/** For example `2 Certain, 3 Certain`. */
function inWords(suspects: readonly Suspicion[]): string {
  const each = suspects.map(
    ({ member, confidence }) => `${member.completionIndex ?? ''} ${confidence}`,
  );
  return each.length === 0 ? 'unknown' : each.join(', ');
}

describe('who failed first', () => {
  for (const size of [4, 64] as const) {
    test.each(SCENARIOS)(`$name: of ${size}`, (row) => {
      expect(inWords(suspectsOf(evidenceIn(row, size)))).toBe(row.expected[size]);
    });
  }

  test('names each scenario once', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
  });

  test.each([
    ['one SIGKILL', 'was killed by SIGKILL'],
    [
      'SIGKILL of one when its group has been silent for a minute',
      'was killed by SIGKILL, 60 s after the last step',
    ],
    ['the worker runs out of memory', 'was killed by SIGKILL after its memory had run out'],
    ['a segfault in one, as its shell tells it', 'exited with code 139 (SIGSEGV)'],
    ['exit 0 too early', 'exited with code 0 before the others'],
    ['a Pod is deleted', 'its Pod was deleted'],
    [
      'a Python exception in one, and the others are stopped',
      'exited with code 1 before the others',
    ],
    ['SIGSTOP of one, found by its silence', 'its processes were stopped while the others waited'],
    ['one is two steps behind', 'made no progress for 61 s at step 328, 2 steps behind the others'],
    [
      'one is in another place of its program',
      'was in load (data.py:9) while the others were in all_reduce (dist.py:7)',
    ],
    [
      'a rank ends without a word, and ranks of other Pods raise',
      'ended without a word before the others',
    ],
    ['a rank raises, and the other Pods are stopped', 'raised an exception before the others'],
    ['one waits for its disk', 'its processes waited for a disk while the others did not'],
    ['one spins while its peers sleep', 'its processes were busy while the others waited'],
    ['one sleeps while its peers spin', 'its processes slept while the others were busy'],
  ])('%s: why it is the culprit', (name, why) => {
    const row = SCENARIOS.find((each) => each.name === name);
    expect(row && suspectsOf(evidenceIn(row, 4))[0]?.why).toBe(why);
  });

  test.each<[string, object]>([
    [
      'a rank exits with 0, its peers raise, and other Pods lose ranks by exceptions',
      { process: 3, rank: 11, why: 'exited with code 0 before the others' },
    ],
    [
      'a rank of each Pod exits with 0, as the work is done, and one fails at its end',
      { process: undefined, rank: undefined, why: 'exited with code 1 before the others' },
    ],
    [
      'a rank exits with 0, and a rank of another Pod dies of SIGSEGV later',
      { process: 1, rank: 5, why: 'was killed by SIGSEGV' },
    ],
  ])('%s: which process is the culprit', (name, expected) => {
    const row = SCENARIOS.find((each) => each.name === name);
    const { process, rank, why } = (row && suspectsOf(evidenceIn(row, 4))[0]) ?? {};
    expect({ process, rank, why }).toEqual(expected);
  });

  test('a place holds nothing that deceives its reader', () => {
    const members = Array.from({ length: 4 }, (_, rank): MemberEvidence => {
      const where = rank === 2 ? 'a\u001b[2K\nb' : 'c\u202ed';
      const end = { kind: 'Ended', epoch: 1, how: 'Hung', where, atMs: rank } as const;
      return { member: memberOf(rank, 4), end };
    });
    const why = 'was in a\uFFFD[2K b while the others were in c\uFFFDd';
    expect(suspectsOf({ size: 4, members })[0]?.why).toBe(why);
  });

  test('a node is named that is lost', () => {
    const end = { kind: 'Lost', seenMs: 0, deletedMs: 0, isNodeLost: true } as const;
    const stopped = { kind: 'Ended', epoch: 1, how: 'Stopped', atMs: 9 } as const;
    const members = [
      { member: { ...memberOf(0, 2), node: 'n4' }, end },
      { member: memberOf(1, 2), end: stopped },
    ];
    expect(suspectsOf({ size: 2, members })[0]?.why).toBe('node n4 is lost');
  });
});

const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined });
const times = fc.integer({ min: 0, max: 30_000 });
const workerEnds: fc.Arbitrary<WorkerEnd> = fc
  .record({
    how: fc.constantFrom('Exited', 'Signaled', 'Stopped', 'Killed', 'Hung'),
    epoch: fc.constant(1),
    atMs: times,
    exit: maybe(
      fc.oneof(
        fc.constantFrom(0, 1, 137, 139).map((exitCode) => ({ exitCode })),
        fc.constantFrom('SIGKILL', 'SIGABRT', 'SIGSEGV').map((signal) => ({ signal })),
      ),
    ),
    oom: maybe(fc.constant(true as const)),
    silentMs: maybe(fc.integer({ min: 0, max: 20_000 })),
    longestMs: maybe(fc.integer({ min: 0, max: 2000 })),
    step: maybe(fc.integer({ min: 320, max: 331 })),
    inPhase: maybe(fc.constant(true as const)),
    where: maybe(fc.constantFrom('a', 'b')),
    states: maybe(fc.constantFrom('T', 'D', 'DT')),
    stoppedMs: maybe(fc.integer({ min: 0, max: 20_000 })),
    cpuMs: maybe(fc.constantFrom(0, 20, 1000, 4900)),
    runnableMs: maybe(fc.constantFrom(0, 3000, 4900)),
    failedMs: maybe(times),
    firstRank: maybe(fc.constantFrom('Raised', 'Killed', 'Silent', 'Open', 'None')),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined)))
  .map((all) => all as unknown as WorkerEnd);
const anyEnd: fc.Arbitrary<MemberEnd> = fc.oneof(
  {
    weight: 6,
    arbitrary: workerEnds.map((end) => ({ kind: 'Ended' as const, ...end })),
  },
  workerEnds.map((end) => ({ kind: 'Ended' as const, isOverApi: true as const, ...end })),
  fc.record({ kind: fc.constant('Succeeded'), atMs: times }),
  fc.record({ kind: fc.constant('Lost'), seenMs: times, deletedMs: times }),
  fc.record({ kind: fc.constant('Lost'), seenMs: times }),
  fc.record({ kind: fc.constant('Returned'), atMs: times }),
) as fc.Arbitrary<MemberEnd>;
const groups: fc.Arbitrary<GroupEvidence> = fc
  .array(anyEnd, { minLength: 1, maxLength: 20 })
  .map((all) => ({
    size: all.length,
    members: all.map((end, rank): MemberEvidence => ({ member: memberOf(rank, all.length), end })),
  }));

describe('suspects', () => {
  test('are at most four, members of the group, and named once', () => {
    fc.assert(
      fc.property(groups, (evidence) => {
        const suspects = suspectsOf(evidence);
        expect(suspects.length).toBeLessThanOrEqual(4);
        expect(new Set(suspects.map(({ member }) => member.podUid)).size).toBe(suspects.length);
      }),
      { numRuns: 500 },
    );
  });

  test('do not depend on the order in which members are listed', () => {
    fc.assert(
      fc.property(
        groups.chain((evidence) =>
          fc.tuple(
            fc.constant(evidence),
            fc.shuffledSubarray([...evidence.members], { minLength: evidence.members.length }),
          ),
        ),
        ([evidence, members]) => {
          expect(suspectsOf({ ...evidence, members })).toEqual(suspectsOf(evidence));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('never get certain because somebody tells nothing', () => {
    fc.assert(
      fc.property(
        groups.chain((evidence) =>
          fc.tuple(
            fc.constant(evidence),
            fc.subarray([...evidence.members], { maxLength: evidence.members.length - 1 }),
          ),
        ),
        ([evidence, members]) => {
          const certain = suspectsOf({ ...evidence, members }).filter(
            ({ confidence }) => confidence === 'Certain',
          );
          expect(certain).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** When most of `SCENARIOS` begin. */
const FAILED_MS = 1_000_000;
const HOUR_MS = 3_600_000;
const WELL = { step: 330, silentMs: 400, longestMs: 900, cpuMs: 4000 } as const;
const told = (known: Partial<WorkerEnd>): MemberEnd => {
  const end = { epoch: 1, how: 'Stopped', atMs: FAILED_MS + 50 } as const;
  return { kind: 'Ended', ...end, ...WELL, ...known };
};
const HIDDEN = told({});
const longAgo = (known: Partial<WorkerEnd>): MemberEnd =>
  told({ ...known, atMs: FAILED_MS - HOUR_MS });
const LIES: readonly (readonly [string, MemberEnd])[] = [
  ['a traceback an hour ago', told({ failedMs: HOUR_MS, silentMs: HOUR_MS + 1 })],
  ['a traceback just before the failure', told({ failedMs: 1000, silentMs: 1050 })],
  ['a rank raised an hour ago', told({ firstRank: 'Raised', failedMs: HOUR_MS })],
  ['a rank was killed just before', told({ firstRank: 'Killed', failedMs: 100 })],
  ['a rank ended without a word just before', told({ firstRank: 'Silent', failedMs: 100 })],
  ['no rank of many', told({ firstRank: 'None', launcher: true })],
  ['stopped for an hour', told({ how: 'Killed', states: 'T', stoppedMs: HOUR_MS })],
  ['stopped for a second', told({ how: 'Killed', states: 'T', stoppedMs: 1000 })],
  ['died an hour ago', longAgo({ how: 'Exited', exit: { exitCode: 1 } })],
  ['crashed an hour ago', longAgo({ how: 'Signaled', exit: { signal: 'SIGSEGV' } })],
  ['hung an hour ago', longAgo({ how: 'Hung', silentMs: 60_000 })],
  ['finished an hour ago', longAgo({ how: 'Exited', exit: { exitCode: 0 } })],
  ['in a phase without end', told({ inPhase: true })],
  ['a step just now', told({ silentMs: 0 })],
  ['steps without a pause', told({ longestMs: 0 })],
  ['another place', told({ where: 'x' })],
];

describe('an agent that lies', () => {
  const LIAR = 3;

  function certain(evidence: GroupEvidence, claim?: MemberEnd): readonly number[] {
    const members = evidence.members.map(({ member, end }) =>
      claim !== undefined && member.completionIndex === LIAR
        ? { member, end: claim }
        : { member, end },
    );
    return suspectsOf({ ...evidence, members }).flatMap(({ member, confidence }) =>
      confidence === 'Certain' ? [member.completionIndex ?? -1] : [],
    );
  }

  test.each(LIES)(
    'makes nobody certain who would not be if it reported nothing odd: %s',
    (_, lie) => {
      const wrong = SCENARIOS.flatMap((row) =>
        [4, 64].flatMap((size) => {
          const evidence = evidenceIn(row, size);
          const allowed = new Set([LIAR, ...certain(evidence), ...certain(evidence, HIDDEN)]);
          const named = certain(evidence, lie).filter((rank) => !allowed.has(rank));
          // A process that a look saw stopped is no lie.
          const innocent = named.filter((rank) => {
            const end = evidence.members.find((each) => each.member.completionIndex === rank)?.end;
            return end?.kind !== 'Ended' || end.states === undefined;
          });
          return innocent.map((rank) => `${row.name}, of ${size}: ${rank}`);
        }),
      );
      expect(wrong).toEqual([]);
    },
  );

  test('can name itself', () => {
    const row = SCENARIOS.find(({ name }) => name === 'one SIGKILL');
    const [, lie] = LIES.find(([name]) => name === 'crashed an hour ago') ?? [];
    expect(row && certain(evidenceIn(row, 4), lie)).toEqual([LIAR]);
  });
});
