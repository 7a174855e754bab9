import { describe, expect, it } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSetStatus, RestartRecord } from '../../jobset/jobset-status.ts';
import { parseReport } from './command.ts';
import { type RestartReport, reportLines, restartReport } from './restart-report.ts';

const WITNESS = { pod: 'train-w-0-2', container: 'worker', exitCode: 1, reason: 'WorkerExited' };
const FIRST: RestartRecord = {
  epoch: 1,
  time: '2026-01-01T00:10:00.000000Z',
  cause: 'WorkerFailed',
  counted: true,
  ranMs: 600_000,
  witness: {
    ...WITNESS,
    worker: 'worker 2 of w (w-0, index 2)',
    message: 'made no progress for 61 s',
  },
  phases: { detectMs: 100, announceMs: 300, releaseMs: 100 },
};
const SECOND: RestartRecord = {
  epoch: 2,
  time: '2026-01-01T00:20:00.000000Z',
  cause: 'Scaled',
  counted: false,
  phases: { announceMs: 1000, releaseMs: 500 },
  suspects: [
    {
      worker: 'worker 5 of w (w-0, index 5)',
      replicatedJob: 'w',
      jobIndex: 0,
      completionIndex: 5,
      pod: 'train-w-0-5',
      node: 'node-b',
      why: 'killed by SIGSEGV',
      confidence: 'Certain',
    },
  ],
  lastWords: { pod: 'train-w-0-5', text: `${'line\n'.repeat(20)}\u001b[31m\u202eError` },
};

function reportOf(status: JobSetStatus): RestartReport {
  return restartReport(
    {
      ...storedJobSet({ failurePolicy: { maxRestarts: 10 } }),
      status: { inPlaceRestarts: 2, inPlaceRestartsCountTowardsMax: 1, ...status },
    },
    Date.parse('2026-01-01T01:00:00Z'),
  );
}

const REPORT = reportOf({ restartHistory: [SECOND, FIRST] });

describe('the report about a JobSet', () => {
  it('begins with the totals', () => {
    expect(reportLines(REPORT, 100).slice(0, 3)).toEqual([
      'JobSet default/train: 1 of 10 restarts used',
      'for failures: 2 restarts in place, 0 of all Jobs',
      'recorded: 2 restarts (1 WorkerFailed, 1 Scaled), 2.00 s down, 1.00 s on average',
    ]);
    expect(reportLines(reportOf({}), 100)[2]).toBe('no restart is recorded');
  });

  it('tells where the time went, and which nodes were left, the oldest first', () => {
    const avoided = {
      time: '2026-01-01T00:10:00.000000Z',
      reason: 'certain suspect 3 times in 1h',
      pod: 'train-w-0-5',
      worker: 'worker 5 of w (w-0, index 5)',
    };
    const report = reportOf({
      goodput: {
        time: '2026-01-01T00:30:00.000000Z',
        phase: 'Suspended',
        waitingMs: 600_000,
        productiveMs: 1_200_000,
      },
      avoidedNodes: [
        { node: 'newer', ...avoided },
        { node: 'older', ...avoided },
      ],
    });
    expect(reportLines(report, 100).slice(3)).toEqual([
      '',
      'where the time went:',
      '  Suspended       30m   50.0 %  the JobSet was suspended',
      '  Productive      20m   33.3 %  work that a checkpoint or the end has saved',
      '  Waiting         10m   16.7 %  before the first release, or after a resume',
      '  total           60m  100.0 %  since the JobSet was created',
      '  goodput              100.0 %  of the time under way',
      '',
      expect.stringMatching(
        /^avoids node older since .*: certain suspect 3 times in 1h; worker 5 /,
      ),
      expect.stringMatching(/^avoids node newer since /),
    ]);
    expect(report.goodput?.classes).toMatchObject({ Suspended: 1_800_000, Waiting: 600_000 });
  });

  it('tells each restart in the order of time: what ended it, who failed, and when', () => {
    const lines = reportLines(REPORT, 80);
    const second = lines.findIndex((line) => line.includes('epoch 2'));
    expect(lines.slice(4, second - 1)).toEqual([
      '2026-01-01 00:10:00 UTC epoch 1 ended: a worker failed, counted; had run for 10m',
      '    the cause is not known; first seen: worker 2, Pod train-w-0-2: made no progress for 61 s (WorkerExited)',
      '    from the failure: announced after 0.10 s, all at barrier after 0.40 s, released after 0.50 s',
      '  restarting          0.40 s  #############',
      '  cost in all         0.40 s',
    ]);
    expect(lines[second]).toMatch(
      /epoch 2 ended: its size changed, not counted: no failure; never released$/,
    );
    expect(lines[second + 1]).toContain('last words of Pod train-w-0-5:');
  });

  it('tells for how long a crash loop holds the group back, and held it back', () => {
    const crash = (epoch: number): RestartRecord => ({
      ...FIRST,
      epoch,
      time: '2026-01-01T00:59:59.500000Z',
      ranMs: 10,
    });
    const phases = { announceMs: 100, backoffMs: 900, releaseMs: 910 };
    const restartHistory = [crash(4), { ...crash(3), phases }, crash(2), crash(1)];
    const report = reportOf({ deprecatedEpoch: 4, syncedEpoch: 4, restartHistory });
    expect(report.backoffLeftMs).toBe(500);
    const lines = reportLines(report, 60);
    expect(lines.at(-1)).toBe('  back-off: 0.50 s left');
    expect(lines.join('\n')).toContain(
      'all at barrier after 0.10 s, back-off over after 1.00 s, released after 1.01 s',
    );
    expect(reportOf({ restartHistory }).backoffLeftMs).toBeNull();
  });

  it('tells what each restart cost, as far as that is known', () => {
    const course = {
      fromMs: 0,
      parts: [
        { class: 'Productive', ms: 560_000 },
        { class: 'Lost', ms: 19_000 },
        { class: 'Hung', ms: 21_000 },
      ],
    } as const;
    const goodput = {
      time: '2026-01-01T00:10:05.000000Z',
      phase: 'Suspended',
      productiveMs: 560_000,
      lostMs: 19_000,
      hungMs: 21_000,
      restartingMs: 400,
      startingMs: 4600,
      course: {
        fromMs: 600_000,
        parts: [
          { class: 'Restarting', ms: 400 },
          { class: 'Starting', ms: 4600 },
        ],
      },
    } as const;
    const report = reportOf({ goodput, restartHistory: [{ ...FIRST, course }] });
    expect(reportLines(report, 70).slice(-5)).toEqual([
      `  work lost           19.0 s  ${'#'.repeat(17)}`,
      `  hung                21.0 s  ${' '.repeat(17)}${'#'.repeat(19)}`,
      `  restarting          0.40 s  ${' '.repeat(36)}`.trimEnd(),
      `  starting            4.60 s  ${' '.repeat(36)}${'#'.repeat(4)}`,
      '  cost in all         45.0 s',
    ]);
    expect(report.restartHistory[0]?.cost).toEqual({
      lostMs: 19_000,
      hungMs: 21_000,
      restartingMs: 400,
      startingMs: 4600,
      totalMs: 45_000,
    });
    expect(REPORT.restartHistory[0]?.cost, 'without courses').toEqual({
      restartingMs: 400,
      totalMs: 400,
    });
    const bare = { ...SECOND, phases: {} };
    expect(reportOf({ restartHistory: [bare] }).restartHistory[0]?.cost).toBeNull();
  });

  it('shows all last words without what could change the terminal', () => {
    const lines = reportLines(REPORT, 100);
    expect(lines.filter((line) => line === '      line')).toHaveLength(20);
    expect(lines).toContain('      \\x1b[31m\\u202eError');
  });

  it('counts from the end of the epoch where the failure has no time', () => {
    const lines = reportLines(REPORT, 100);
    const second = lines.findIndex((line) => line.includes('epoch 2'));
    expect(lines.slice(second)).toContain(
      '    from the end of the epoch: all at barrier after 1.00 s, released after 1.50 s',
    );
  });

  it.each([20, 40, 60, 80, 200])('keeps the timeline within %d columns', (width) => {
    const rows = reportLines(REPORT, width).filter((line) => /^ {2}\S/.test(line));
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(width);
  });

  it('ends with the failure of the JobSet', () => {
    const condition = {
      type: 'Failed',
      status: 'True',
      reason: 'ReachedMaxRestarts',
      message: 'worker 2 of w exited with code 1',
      lastTransitionTime: '2026-01-01T00:30:00Z',
    } as const;
    const last = { ...FIRST, epoch: 3, counted: false, time: '2026-01-01T00:30:00.400000Z' };
    const hang = { ...WITNESS, reason: 'WorkerHung' };
    const restartHistory = [{ ...last, witness: hang }, FIRST];
    const report = reportOf({ conditions: [condition], restartHistory });
    const text = reportLines(report, 100).join('\n');
    expect(text).toContain('epoch 3 ended: a worker hung, final: the JobSet failed; had run');
    expect(text).toContain('recorded: 1 restart (1 WorkerFailed)');
    expect(reportLines(report, 100).at(-1)).toBe(
      '2026-01-01 00:30:00 UTC the JobSet failed: worker 2 of w exited with code 1 (ReachedMaxRestarts)',
    );
    expect(report.failure).toMatchObject({ reason: 'ReachedMaxRestarts' });
  });
});

it('refuses another form of output', () => {
  expect(parseReport('a', { output: 'xml' })).toEqual({
    errors: ['--output is "xml", allowed are json, yaml'],
  });
});
