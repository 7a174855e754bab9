import { describe, expect, it } from 'vitest';
import type { GoodputClass } from '../jobset/goodput/classes.ts';
import type { GoodputAt, GoodputShare } from '../jobset/goodput/goodput-at.ts';
import { avoidedLines, goodputLines, goodputTable } from './goodput-lines.ts';

const NONE: Readonly<Record<GoodputClass, number>> = {
  Waiting: 0,
  Suspended: 0,
  Starting: 0,
  Productive: 0,
  Lost: 0,
  Hung: 0,
  Restarting: 0,
  Running: 0,
  Pending: 0,
};

const UNKNOWN: GoodputShare = {
  share: null,
  unknown: 'no checkpoint was reported',
  savedMs: 0,
  judgedMs: 0,
  judgedUntilMs: 0,
};
const UNKNOWN_LINE = 'goodput unknown: no checkpoint was reported';

function goodput(classes: Partial<Record<GoodputClass, number>>): GoodputAt {
  const elapsedMs = Object.values(classes).reduce((sum, ms) => sum + ms, 0);
  return { elapsedMs, classes: { ...NONE, ...classes }, ...UNKNOWN };
}

const HOUR_MS = 3_600_000;
const DAY: GoodputAt = {
  ...goodput({
    Waiting: 90_000,
    Starting: HOUR_MS / 2,
    Productive: 22 * HOUR_MS,
    Lost: HOUR_MS,
    Restarting: 2400,
    Pending: HOUR_MS / 2 - 90_000 - 2400,
  }),
  share: 0.9375,
  unknown: null,
  judgedUntilMs: Date.parse('2026-11-23T03:10:12.9Z'),
};

describe('lines', () => {
  it.each<[string, GoodputAt, readonly string[]]>([
    [
      'the productive share, and the rest, the largest first',
      DAY,
      [
        'time: 24h, 91.7 % of it productive',
        'the rest: Lost 60m (4.2 %), Starting 30m (2.1 %), Unsaved 28m (2.0 %), Waiting 90.0 s (0.1 %), Restarting 2.40 s (<0.1 %)',
        'goodput 93.8 % until 2026-11-23T03:10:12Z',
      ],
    ],
    [
      'workers that report nothing',
      goodput({ Waiting: 1000, Running: 9000 }),
      [
        'time: 10.0 s, and no checkpoint has saved any of it',
        'the rest: Running 9.00 s (90.0 %), Waiting 1.00 s (10.0 %)',
        UNKNOWN_LINE,
      ],
    ],
    [
      'nothing lost',
      goodput({ Productive: 50 }),
      ['time: 0.05 s, 100.0 % of it productive', UNKNOWN_LINE],
    ],
    [
      'a new JobSet',
      goodput({}),
      ['time: 0.00 s, and no checkpoint has saved any of it', UNKNOWN_LINE],
    ],
  ])('tell %s', (_what, of, lines) => {
    expect(goodputLines(of)).toEqual(lines);
  });

  it('are none where the operator does not account for time', () => {
    expect(goodputLines(null)).toEqual([]);
  });
});

describe('a table', () => {
  it('has the classes above 0, the largest first, what they mean, and their sum', () => {
    expect(goodputTable(DAY, 80)).toEqual([
      '  Productive      22h   91.7 %  work that a checkpoint or the end has saved',
      '  Lost            60m    4.2 %  work that no checkpoint had saved',
      '  Starting        30m    2.1 %  from a release to the first step',
      '  Unsaved         28m    2.0 %  work that the next checkpoint will save',
      '  Waiting      90.0 s    0.1 %  before the first release, or after a resume',
      '  Restarting   2.40 s   <0.1 %  from the end of an epoch to the next release',
      '  total           24h  100.0 %  since the JobSet was created',
      '  goodput               93.8 %  of the time under way until 2026-11-23T03:10:12Z',
    ]);
  });

  it('has no meanings where they have no room', () => {
    expect(goodputTable(DAY, 70)[0]).toBe('  Productive      22h   91.7 %');
    expect(goodputTable(DAY, 70)[1]).toMatch(/saved$/);
  });

  it.each([10, 20, 40, 60, 200])('keeps within %d columns', (width) => {
    for (const row of goodputTable(DAY, width)) expect(row.length).toBeLessThanOrEqual(width);
  });
});

it('names nodes that are avoided, without what could change the terminal', () => {
  const node = {
    node: 'node-7',
    time: '2026-01-01T00:10:00.000000Z',
    reason: 'failed 3 times in 1h \u001b[2J',
    pod: 'train-w-0-5-abcde',
    worker: 'worker 5 of w (w-0, index 5)',
  };
  expect(avoidedLines([node])).toEqual([
    'avoids node node-7 since 2026-01-01 00:10:00 UTC: failed 3 times in 1h \\x1b[2J; worker 5 of w left it, Pod train-w-0-5-abcde',
  ]);
});

it('has no share of no time at all', () => {
  expect(goodputTable(goodput({}), 80)).toEqual([
    '  total        0.00 s    0.0 %  since the JobSet was created',
    '  goodput              unknown  no checkpoint was reported',
  ]);
});
