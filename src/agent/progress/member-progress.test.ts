import { expect, test } from 'vitest';
import { HangWatch } from './hang-watch.ts';
import { MemberProgress } from './member-progress.ts';

function watching(): MemberProgress {
  const progress = new MemberProgress();
  progress.begin(0);
  return progress;
}

/** Looks four times a second up to that time. */
function passTo(progress: MemberProgress, fromMs: number, toMs: number): void {
  for (let nowMs = fromMs + 250; nowMs <= toMs; nowMs += 250) progress.look(nowMs);
}

test('what is known of the standby is reported with the progress, through restarts', () => {
  const progress = watching();
  progress.standby = 'Exited';
  progress.standbyDeaths = { count: 2 };
  expect(progress.progress).toBeUndefined();
  progress.took('7');
  const told = { silentMs: 0, standby: 'Exited', standbyDeaths: { count: 2 } };
  expect(progress.progress).toEqual({ step: 7, ...told });
  progress.begin(1000);
  progress.took('1');
  expect(progress.progress).toEqual({ step: 1, ...told });
});

test('the member is as far as its last rank, and as silent as its most silent one', () => {
  const progress = watching();
  progress.took('331 checkpoint=300', 0);
  passTo(progress, 0, 1000);
  progress.took('330 checkpoint=200 phase=evaluate', 5);
  passTo(progress, 1000, 1500);
  expect(progress.progress).toEqual({ step: 330, checkpoint: 200, ranks: 6, silentMs: 1500 });
  expect(progress.mostSilent.local).toBe(0);
  progress.took('332', 0);
  passTo(progress, 1500, 2000);
  expect(progress.mostSilent.local).toBe(5);
  expect(progress.progress).toMatchObject({ phase: 'evaluate', silentMs: 1000 });
  expect(progress.toldAt(2000)).toMatchObject({ firstStepMs: 2000, checkpointMs: 1000 });
  expect(progress.newestStepMs).toBe(1500);
});

test('reports of the worker as a whole say nothing once a rank has reported', () => {
  const progress = watching();
  progress.took('9');
  passTo(progress, 0, 500);
  expect(progress.reporters).toMatchObject([{ watch: { silentMs: 500 } }]);
  progress.took('4', 1);
  progress.took('10');
  expect(progress.progress).toEqual({ step: 4, ranks: 2, silentMs: 0 });
});

test('a line that says nothing of progress makes no reporter', () => {
  const progress = watching();
  expect(progress.took('eight', 0)).toBe(false);
  expect(progress.took('phase=standby', 0)).toBe(true);
  expect(progress.reporters.map(({ local }) => local)).toEqual([undefined]);
});

test('a rank that finished holds nothing back', () => {
  const progress = watching();
  progress.took('8', 0);
  progress.took('9', 1);
  passTo(progress, 0, 1000);
  progress.took('10', 1);
  progress.finished(0);
  expect(progress.silentMs).toBe(0);
  expect(progress.progress?.step).toBe(10);
});

test('ranks that are behind, or silent for long, are reported with the usual of the rest', () => {
  const progress = watching();
  for (const local of [0, 1, 2]) progress.took('8', local);
  progress.took('5 phase=load rank=11', 3);
  passTo(progress, 0, 30_000);
  expect(progress.toldAt(30_000)?.lag).toMatchObject([
    { local: 3, rank: 11, step: 5, phase: 'load' },
  ]);
  for (const local of [0, 1, 3]) progress.took('9', local);
  expect(progress.toldAt(30_000)).toMatchObject({
    lag: [{ local: 2, step: 8, silentMs: 30_000 }],
    rest: { step: 9, silentMs: 0 },
  });
  progress.took('10', 2);
  expect(progress.toldAt(30_000)).not.toHaveProperty('lag');
});

test.each([
  ['a rank whose time-out has passed is due though the others report', ['2'], 'Ask'],
  ['a rank with a longer time-out of its own is not', ['2 phase=save timeout=10m'], undefined],
  ['a rank whose own time-out has passed is', ['2 phase=save timeout=20s'], 'Ask'],
])('%s', (_name, lines, finding) => {
  const progress = watching();
  const hangs = new HangWatch(progress, undefined);
  hangs.begin(2);
  for (const line of lines) progress.took(line, 3);
  let found: string | undefined;
  for (let nowMs = 250; nowMs <= 61_000; nowMs += 250) {
    progress.look(nowMs);
    progress.took(String(nowMs), 0);
    found ??= hangs.look(nowMs, { progressTimeout: 60_000 });
  }
  expect(found).toBe(finding);
});

test('ranks may wait for one that is in a phase with a time-out of its own', () => {
  const progress = watching();
  const hangs = new HangWatch(progress, undefined);
  hangs.begin(2);
  progress.took('2', 1);
  progress.took('2 phase=save timeout=2m', 0);
  const finding = (untilMs: number, fromMs: number) => {
    passTo(progress, fromMs, untilMs);
    return hangs.look(untilMs, { progressTimeout: 60_000 });
  };
  expect(finding(100_000, 0)).toBeUndefined();
  expect(finding(120_000, 100_000)).toBe('Ask');
});
