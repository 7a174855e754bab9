import { describe, expect, it } from 'vitest';
import { type DemoReport, type MeasuredRestart, renderReport } from './report.ts';

const inPlace: MeasuredRestart = {
  strategy: 'InPlaceRestart',
  mode: 'supervisor',
  standby: null,
  epoch: 1,
  witness: {
    pod: 'mnist-workers-0-2-abcde',
    container: 'worker',
    exitCode: 137,
    signal: null,
    reason: 'Error',
  },
  podsRecreated: 0,
  stepsLost: 30,
  phasesMs: { announced: 400, atBarrier: 300, released: 100, firstStep: 200 },
  totalMs: 1000,
};
const recreated: MeasuredRestart = {
  ...inPlace,
  strategy: 'Recreate',
  mode: null,
  epoch: null,
  podsRecreated: 4,
  phasesMs: { podsGone: 1000, podsRunning: 2000, firstStep: 1000 },
  totalMs: 4000,
};
const warm: MeasuredRestart = { ...inPlace, standby: 'Warm', totalMs: 500 };
const report: DemoReport = {
  accuracy: 0.96684,
  durationMs: 23_456,
  workers: 4,
  steps: 700,
  restarts: [inPlace, recreated],
};

describe('the report of the demo', () => {
  const text = renderReport(report);

  it('says what was trained, what failed and why, and what it cost', () => {
    expect(text).toContain('Trained by 4 workers in 700 steps (23.5 s in all): 96.68 % accuracy');
    expect(text).toContain('failed: mnist-workers-0-2-abcde/worker');
    expect(text).toContain('why:    exit code 137 (Error)');
    expect(text).toContain('Pods recreated: 0, steps lost: 30');
    expect(text).toContain('Down for 1.00 s in place, 4.00 s with Recreate: 4.0 times as long.');
  });

  it('draws each phase from where the last one ended', () => {
    const rows = text.split('\n').filter((line) => line.includes('#'));
    expect(rows.map((row) => row.trim().split(/\s{2,}/)[0])).toEqual([
      'announced',
      'all at barrier',
      'released',
      'first step',
      'old Pods gone',
      'new Pods run',
      'first step',
    ]);
    expect(rows[3]?.indexOf('#')).toBeGreaterThan(rows[0]?.lastIndexOf('#') ?? 80);
  });

  it('compares with a warm standby, where there was one', () => {
    const both = renderReport({ ...report, restarts: [inPlace, recreated, warm] });
    expect(both).toContain('InPlaceRestart, supervisor, warm standby: epoch 1 ended');
    expect(both).toContain('Down for 1.00 s in place, 4.00 s with Recreate: 4.0 times as long.');
    expect(both).toContain('With a warm standby beside each worker, down for 0.50 s.');
    expect(text).not.toContain('standby');
  });

  it('fits 80 columns, without control characters, however long the names are', () => {
    const long: DemoReport = {
      ...report,
      restarts: [{ ...inPlace, witness: { ...inPlace.witness, pod: 'p'.repeat(200) } }],
    };
    for (const line of (text + renderReport(long)).split('\n')) {
      expect(line).toMatch(/^[\x20-\x7e]{0,80}$/);
    }
  });

  it('says that an exit code is unknown rather than inventing one', () => {
    const unseen = { ...inPlace, witness: { ...inPlace.witness, exitCode: null } };
    expect(renderReport({ ...report, restarts: [unseen] })).toContain('exit code unknown');
  });
});
