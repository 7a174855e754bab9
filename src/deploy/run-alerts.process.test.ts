/**
 * What the alerts about runs say of courses of runs, by Prometheus' own engine, where it was built
 * (`npm run test:alerts`).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { buildPromtool, isPromtoolBuilt } from '../../tools/promtool.ts';
import { monitoring } from './monitoring.ts';
import { defaultSettings } from './settings.ts';

const HOUR = 60;
const LAST = 30 * HOUR;
interface PrometheusRule {
  readonly spec: { readonly groups: readonly object[] };
}

/** promtool takes 20 s for a table alone on a machine, and more beside other suites. */
const EVALUATION_TIMEOUT_MS = 300_000;

/** How old the runs of the tests are. */
const MONTH_SECONDS = 30 * 86_400;

type Classes = Readonly<Record<string, number>>;

/** What a run does from that minute on: seconds of each class in each minute, and steps. */
interface Course {
  readonly fromMinute: number;
  readonly seconds: Classes;
  readonly steps?: number;
}

interface Run {
  /** What it has when its metrics begin, and when that is. */
  readonly before?: Classes;
  readonly beginsAt?: number;
  readonly course: readonly Course[];
  /** At that minute these amounts change, by class, or `step`. */
  readonly jumps?: Readonly<Record<number, Classes>>;
  /** Epochs end at these minutes. */
  readonly restartsAt?: readonly number[];
  /** Another replica leads from then on, after minutes without any. */
  readonly handover?: { readonly atMinute: number; readonly gap: number };
  /** From that minute on it is not measured. */
  readonly endsAt?: number;
}

const WORKING = { Productive: 57, Starting: 3 };

/** Values of each minute for each series, by what stands between its braces. */
function seriesOf(run: Run): ReadonlyMap<string, readonly (number | undefined)[]> {
  const { before = {}, beginsAt = 0, course, jumps = {}, restartsAt = [], handover, endsAt } = run;
  const sums: Record<string, number> = { ...before };
  const all = new Map<string, (number | undefined)[]>();
  let step = 0;
  let epoch = 1;
  for (let minute = 0; minute <= LAST; minute++) {
    const now = course.findLast(({ fromMinute }) => fromMinute <= minute);
    if (minute < beginsAt || minute >= (endsAt ?? LAST + 1)) continue;
    for (const [name, value] of Object.entries(now?.seconds ?? {})) {
      sums[name] = (sums[name] ?? 0) + value;
    }
    step += now?.steps ?? 0;
    if (restartsAt.includes(minute)) epoch++;
    for (const [name, value] of Object.entries(jumps[minute] ?? {})) {
      if (name === 'step') step += value;
      else sums[name] = (sums[name] ?? 0) + value;
    }
    const since = handover === undefined ? -1 : minute - handover.atMinute;
    if (handover !== undefined && since >= 0 && since < handover.gap) continue;
    const pod = since < 0 ? 'operator-a' : 'operator-b';
    const note = (metric: string, labels: string, value: number): void => {
      const key = `lockstep_jobset_${metric}{namespace="team",jobset="train",pod="${pod}"${labels}}`;
      const values = all.get(key) ?? [];
      values[minute] = value;
      all.set(key, values);
    };
    for (const [name, value] of Object.entries(sums)) {
      if (value > 0) note('goodput_seconds', `,class="${name}"`, value);
    }
    note('step', '', step);
    note('epoch', '', epoch);
  }
  return all;
}

function valuesOf(values: readonly (number | undefined)[]): string {
  return Array.from({ length: LAST + 1 }, (_, minute) => {
    const value = values[minute];
    const ended = value === undefined && values[minute - 1] !== undefined;
    return value === undefined ? (ended ? 'stale' : '_') : String(value);
  }).join(' ');
}

/** A run, the minutes at which promtool looks at the alert, and the minutes at which it fires. */
type Case = readonly [name: string, run: Run, at: readonly number[], firing: readonly number[]];

/** What promtool says of an alert that fires where the test expects none. */
const FIRING =
  /name: (.+),\s+alertname: \w+, time: (\w+),\s+exp:\[\],\s+got:\[\s+0:\s+Labels:\{.*jobset="train"/g;
const MINUTES: Readonly<Record<string, number>> = { m: 1, h: HOUR, d: 24 * HOUR };

/** `1d1h` in minutes. */
function minutesOf(time: string): number {
  const parts = [...time.matchAll(/(\d+)([a-z]+)/g)];
  return parts.reduce((sum, [, count, unit = '']) => {
    return sum + Number(count) * (MINUTES[unit] ?? Number.NaN);
  }, 0);
}

/** At which of its minutes the alert fires for each case, by one run of promtool for all. */
async function firingMinutes(
  alert: string,
  cases: readonly Case[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-alerts-'));
  try {
    const installed = monitoring(defaultSettings('1.2.3'));
    const [rules] = installed.filter(({ of }) => of.kind === 'PrometheusRule');
    const { groups } = (rules?.object as PrometheusRule | undefined)?.spec ?? {};
    writeFileSync(join(directory, 'rules.yaml'), stringify({ groups }, { lineWidth: 0 }));
    const tests = cases.map(([name, run, at]) => ({
      name,
      interval: '1m',
      input_series: [...seriesOf(run)].map(([series, values]) => ({
        series,
        values: valuesOf(values),
      })),
      alert_rule_test: at.map((minute) => ({
        eval_time: `${minute}m`,
        alertname: alert,
        exp_alerts: [],
      })),
    }));
    const test = { rule_files: ['rules.yaml'], evaluation_interval: '1m', tests };
    const file = join(directory, 'test.yaml');
    writeFileSync(file, stringify(test, { lineWidth: 0, aliasDuplicateObjects: false }));
    const promtool = await buildPromtool(() => undefined);
    const checked = await outputOf(promtool, ['check', 'rules', join(directory, 'rules.yaml')]);
    expect(checked).toContain('SUCCESS');
    const text = await outputOf(promtool, ['test', 'rules', file]);
    const firing = [...text.matchAll(FIRING)];
    // Each complaint is one that is understood.
    expect(firing).toHaveLength(text.match(/name: .+,$/gm)?.length ?? 0);
    return new Map(
      cases.map(([name]) => [
        name,
        firing.filter(([, of]) => of === name).map(([, , time = '']) => minutesOf(time)),
      ]),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the program says, however it ends. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

const MONTH: Classes = { Productive: 0.95 * MONTH_SECONDS, Lost: 0.05 * MONTH_SECONDS };

const GOODPUT_LOW: readonly Case[] = [
  [
    'a run of 30 days at 95 % that stops dead, within about an hour',
    {
      before: MONTH,
      course: [
        { fromMinute: 0, seconds: WORKING },
        { fromMinute: 300, seconds: { Restarting: 60 } },
      ],
    },
    [299, 340, 370, 600],
    [370, 600],
  ],
  [
    'a run that loses a quarter of its time',
    {
      before: MONTH,
      course: [{ fromMinute: 0, seconds: { Productive: 45, Lost: 10, Starting: 5 } }],
    },
    [300],
    [300],
  ],
  [
    'a run that goes on as before, never',
    { before: MONTH, course: [{ fromMinute: 0, seconds: WORKING }] },
    [60, 300, 900],
    [],
  ],
  [
    'a young run that compiles for 40 minutes, never',
    {
      beginsAt: 60,
      course: [
        { fromMinute: 60, seconds: { Starting: 60 } },
        { fromMinute: 100, seconds: { Productive: 60 } },
      ],
    },
    [100, 130, 150, 180, 240, 300],
    [],
  ],
  [
    'a run whose pending work of 100 minutes is lost once, never',
    {
      before: MONTH,
      course: [
        { fromMinute: 0, seconds: { Productive: 60 } },
        { fromMinute: 200, seconds: { Pending: 60 } },
        { fromMinute: 300, seconds: { Restarting: 60 } },
        { fromMinute: 302, seconds: { Pending: 60 } },
      ],
      jumps: { 300: { Pending: -6000, Lost: 6000 } },
    },
    [301, 310, 330, 350, 356, 360, 365, 400],
    [],
  ],
  [
    'a run that saves its pending work every two hours, never',
    {
      before: MONTH,
      course: [{ fromMinute: 0, seconds: { Pending: 60 } }],
      jumps: {
        120: { Pending: -7200, Productive: 7200 },
        240: { Pending: -7200, Productive: 7200 },
      },
    },
    [119, 121, 180, 241, 300],
    [],
  ],
  [
    'a run under another leader, after a gap, never',
    {
      before: MONTH,
      course: [{ fromMinute: 0, seconds: WORKING }],
      handover: { atMinute: 300, gap: 3 },
    },
    [299, 301, 303, 304, 330, 356, 361, 400],
    [],
  ],
  [
    'a run that is suspended for two hours, never',
    {
      before: MONTH,
      course: [
        { fromMinute: 0, seconds: WORKING },
        { fromMinute: 200, seconds: { Suspended: 60 } },
        { fromMinute: 320, seconds: WORKING },
      ],
    },
    [230, 260, 319, 330, 380, 400],
    [],
  ],
  [
    'a run that stopped, and is over, not any more',
    {
      before: MONTH,
      course: [
        { fromMinute: 0, seconds: WORKING },
        { fromMinute: 200, seconds: { Restarting: 60 } },
      ],
      endsAt: 300,
    },
    [270, 306, 400],
    [270],
  ],
];

const STEADY: Course = { fromMinute: 0, seconds: WORKING, steps: 12 };

const SLOW: readonly Case[] = [
  [
    'a run whose steps a second fall by half',
    { course: [STEADY, { fromMinute: 1500, seconds: WORKING, steps: 6 }] },
    [1499, 1520, 1550, 1600, 1700],
    [1550, 1600, 1700],
  ],
  ['a run that keeps its speed, never', { course: [STEADY] }, [300, 900, 1600], []],
  [
    'a run that is slower by a third, never',
    { course: [STEADY, { fromMinute: 1500, seconds: WORKING, steps: 8 }] },
    [1520, 1550, 1600, 1700],
    [],
  ],
  [
    'a young run that slows down after a quick start, never',
    {
      beginsAt: 60,
      course: [
        { fromMinute: 60, seconds: WORKING, steps: 30 },
        { fromMinute: 100, seconds: WORKING, steps: 10 },
      ],
    },
    [100, 120, 140, 160],
    [],
  ],
  [
    'a run that restarts from a checkpoint, never',
    { course: [STEADY], restartsAt: [1500], jumps: { 1500: { step: -400 } } },
    [1501, 1510, 1520, 1531, 1545, 1600],
    [],
  ],
  [
    'a run that restarts every quarter of an hour, never',
    {
      course: [STEADY],
      restartsAt: Array.from({ length: 20 }, (_, i) => 1500 + 15 * i),
      jumps: Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [1500 + 15 * i, { step: -150 }]),
      ),
    },
    [1530, 1560, 1600, 1700],
    [],
  ],
  [
    'a run under another leader, after a gap, never',
    { course: [STEADY], handover: { atMinute: 1500, gap: 3 } },
    [1499, 1501, 1503, 1504, 1510, 1516, 1530, 1540],
    [],
  ],
  [
    'a run that slows down while leaders change',
    {
      course: [STEADY, { fromMinute: 1500, seconds: WORKING, steps: 6 }],
      handover: { atMinute: 1520, gap: 1 },
    },
    [1499, 1560, 1600],
    [1560, 1600],
  ],
  [
    'a run that makes a step in three minutes, never',
    {
      course: [STEADY].map((each) => ({ ...each, steps: 0 })),
      jumps: Object.fromEntries(
        Array.from({ length: 600 }, (_, i) => [
          3 * i + (i > 500 && i % 2 === 0 ? 1 : 0),
          { step: 1 },
        ]),
      ),
    },
    [1530, 1560, 1600],
    [],
  ],
];

describe.runIf(isPromtoolBuilt()).each<[alert: string, cases: readonly Case[]]>([
  ['LockstepRunGoodputLow', GOODPUT_LOW],
  ['LockstepRunSlow', SLOW],
])('%s', (alert, cases) => {
  let firing: ReadonlyMap<string, readonly number[]>;

  beforeAll(async () => {
    firing = await firingMinutes(alert, cases);
  }, EVALUATION_TIMEOUT_MS);

  it.each(cases)('tells of %s', (name, _run, _at, expected) => {
    expect(firing.get(name)).toEqual(expected);
  });
});
