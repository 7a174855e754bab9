import { expect, test } from 'vitest';
import { firstOf, type RankSeen } from './first-rank.ts';

/** When the fault happens, in milliseconds. Looks are every 100 ms, at 950, 1050 and so on. */
const T = 1000;
const RANKS = [4, 5, 6, 7];

type Seen = Partial<Omit<RankSeen, 'local' | 'rank'>>;

/** Runs until its launcher ends. */
const RUNS: Seen = { aliveMs: 3000 };
/** Seen running at one look, and gone at the next. */
const gone = (firstSeenGoneMs: number, more: Seen = {}): Seen => {
  return { aliveMs: firstSeenGoneMs - 100, goneMs: firstSeenGoneMs, ...more };
};
const raised = (raisedMs: number, firstSeenGoneMs: number): Seen =>
  gone(firstSeenGoneMs, { raisedMs });
const KILLED = { exit: { signal: 'SIGKILL' } } as const;
const TERMINATED = { exit: { signal: 'SIGTERM' } } as const;

/** Four ranks of a Pod, by local rank; in words: the sign, the local rank, and the time. */
const TABLE: readonly (readonly [string, readonly Seen[], string | undefined])[] = [
  ['nothing was seen', [], undefined],
  ['all run until their launcher is killed', [RUNS, RUNS, RUNS, RUNS], 'None'],
  [
    'SIGKILL of one, and the launcher ends the others, which wait in a collective',
    [gone(1150), gone(1050), gone(1150), gone(1150)],
    'Silent 1 at 950',
  ],
  [
    'SIGKILL of one, whose peers raise within milliseconds',
    [raised(1004, 1350), gone(1050), raised(1006, 1350), raised(1005, 1450)],
    'Silent 1 at 950',
  ],
  [
    'SIGKILL of one, which a look found as a zombie, and SIGTERM for all others',
    [gone(1150, TERMINATED), gone(1150, KILLED), gone(1150, TERMINATED), gone(1150, TERMINATED)],
    'Killed 1 at 1050',
  ],
  [
    'SIGKILL of one, beside an exception: its launcher may have killed it for that',
    [raised(1064, 1150), gone(1150, KILLED), gone(1150), gone(1150)],
    'Silent 1 at 1050',
  ],
  [
    'a segmentation fault of one, long before the launcher looks',
    [gone(6050), gone(6050), gone(6050), gone(1050)],
    'Silent 3 at 950',
  ],
  [
    'exit with 0 of one too early, and its peers raise',
    [gone(1050), raised(1005, 1350), raised(1003, 1350), raised(1009, 1250)],
    'Silent 0 at 950',
  ],
  [
    'one that has finished, without which the others step on',
    [gone(1050), raised(60_000, 60_250), { aliveMs: 60_350, steppedMs: 59_000 }, RUNS],
    'Raised 1 at 60000',
  ],
  [
    'an exception in one, and the launcher ends the others, which wait in a collective',
    [gone(1250), gone(1250), raised(1000, 1150), gone(1250)],
    'Raised 2 at 1000',
  ],
  [
    'an exception in one, whose end the others notice',
    [raised(1210, 1350), raised(1215, 1350), raised(1000, 1250), gone(1350)],
    'Raised 2 at 1000',
  ],
  [
    'an exception in one, whose teardown takes 5 s, in which a peer crashes',
    [gone(5950), gone(3050), raised(1000, 5950), gone(5950)],
    'Raised 2 at 1000',
  ],
  [
    'an exception in one that ends at once, and SIGTERM for the others before the next look',
    [gone(1050, TERMINATED), gone(1050, TERMINATED), raised(1000, 1050), gone(1050)],
    'Open at 950',
  ],
  [
    'an exception in one that ends at once, and SIGTERM for all others',
    [gone(1050, TERMINATED), gone(1050, TERMINATED), raised(1000, 1050), gone(1050, TERMINATED)],
    'Raised 2 at 1000',
  ],
  [
    'SIGKILL of one, and SIGTERM for all others before the next look',
    [gone(1050, TERMINATED), gone(1050), gone(1050, TERMINATED), gone(1050, TERMINATED)],
    'Silent 1 at 950',
  ],
  [
    'an exception in one, and SIGTERM for all while it is torn down',
    [
      gone(1050, TERMINATED),
      gone(1050, TERMINATED),
      { ...raised(1000, 1050), ...TERMINATED },
      gone(1050, TERMINATED),
    ],
    'Raised 2 at 1000',
  ],
  [
    'a segmentation fault of one, whose peers raise, and are ended before the next look',
    [
      { ...raised(1004, 1050), ...TERMINATED },
      gone(1050, { byItself: true }),
      raised(1003, 1050),
      gone(1050, TERMINATED),
    ],
    'Silent 1 at 950',
  ],
  [
    'an exception in one that was gone when its peer crashed',
    [raised(1000, 1050), gone(1150, { byItself: true }), RUNS, RUNS],
    'Raised 0 at 1000',
  ],
  ['SIGTERM of one alone', [gone(1050, TERMINATED), RUNS, RUNS, RUNS], 'Silent 0 at 950'],
  [
    'a failure of another Pod, of which all hear together',
    [raised(1004, 1350), raised(1000, 1350), raised(1012, 1350), raised(1008, 1450)],
    'Open at 1000',
  ],
  ['all are killed together', [gone(1050), gone(1050), gone(1050), gone(1050)], 'Open at 950'],
  [
    'two of many ranks, of which each is looked at every 800 ms',
    [
      { aliveMs: 600, goneMs: 1400 },
      { aliveMs: 950, goneMs: 1750 },
      { aliveMs: 1900, goneMs: 2700 },
      { aliveMs: 1900, goneMs: 2700 },
    ],
    'Open at 600',
  ],
];

test.each(TABLE)('%s', (_, seen, expected) => {
  const ranks = seen.map((each, local): RankSeen => {
    return { local, rank: RANKS[local] ?? 0, aliveMs: T, ...each };
  });
  const first = firstOf(ranks, 900);
  const which = first?.local === undefined ? '' : ` ${first.local}`;
  const when = first?.atMs === undefined ? '' : ` at ${first.atMs}`;
  expect(first === undefined ? undefined : `${first.firstRank}${which}${when}`).toBe(expected);
  expect(first?.rank).toBe(first?.local === undefined ? undefined : RANKS[first.local]);
});
