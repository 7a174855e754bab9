import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { MemberSteps } from '../../jobset/progress/group-progress.ts';
import { type StatusView, statusView } from '../../jobset/view/status-view.ts';
import { memberScreen, memberTable } from './printed-at.fixture.ts';
import { livePrinter } from './status-printer.ts';

function podOf(index: number): Stored<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `w-0-${index}`,
      namespace: 'default',
      uid: `uid-${index}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'w-0', uid: 'job', controller: true },
      ],
    },
    spec: { nodeName: 'n', containers: [] },
    status: { phase: 'Running' },
  };
}

/** A running group; undefined: the member reports no progress. */
function group(...progress: readonly (MemberSteps | undefined)[]): StatusView {
  const pods = progress.map((_, index) => podOf(index));
  const reports = progress.map((of, index) => ({
    pod: `w-0-${index}`,
    epoch: 1,
    channel: 'Hub' as const,
    ...(of === undefined ? {} : { progress: of }),
  }));
  const jobSet = jobSetWith(0, 1, 7);
  const released = { ...jobSet, status: { ...jobSet.status, syncedEpoch: 1 } };
  return statusView(released, pods, reports);
}

function recent(perSecond: number): Pick<MemberSteps, 'recent'> {
  return { recent: { steps: perSecond * 100, ms: 100_000 } };
}

const HEALTHY = group(
  { step: 331, checkpoint: 300, silentMs: 90, ...recent(12) },
  { step: 330, silentMs: 61_000, phase: 'evaluate', ...recent(12.5) },
);

describe('a table of members that report progress', () => {
  it('shows it of each, and of the group', () => {
    expect(memberTable(HEALTHY).split('\n').slice(1)).toEqual([
      '  epoch 1, checkpoint of step 300, 12 steps/s',
      '',
      'WORKER  POD    NODE  PHASE    EPOCH  STEP  SILENT  CHECKPOINT  WORKER PHASE  LAST CAUSE',
      '0       w-0-0  n     Running  1      331   -       300         -             -',
      '1       w-0-1  n     Running  1      330   61s     -           evaluate      -',
      '',
    ]);
  });

  it('has no column for what no member reports', () => {
    expect(memberTable(group({ silentMs: 6000, phase: 'compile' }, undefined))).toMatch(
      / EPOCH {2}SILENT {2}WORKER PHASE {2}LAST CAUSE\n.* 1 {6}6s {6}compile .*\n.* 1 {6}- {7}- /,
    );
    const without = memberTable(group(undefined, undefined));
    expect(without).toContain('EPOCH  LAST CAUSE');
    expect(without.split('\n')[1]).toBe('  epoch 1');
  });

  it.each([
    [200, ['STEP', 'SILENT', 'CHECKPOINT', 'WORKER PHASE']],
    [82, ['STEP', 'SILENT', 'WORKER PHASE']],
    [66, ['STEP', 'SILENT']],
    [50, ['STEP']],
    [35, ['STEP']],
    [20, []],
  ])('shows as much of it as fits a screen of %d columns', (columns, expected) => {
    const rows = memberScreen(HEALTHY, { rows: 24, columns });
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(columns);
    const headings = rows.find((row) => row.startsWith('WORKER')) ?? '';
    const shown = ['STEP', 'SILENT', 'CHECKPOINT', 'WORKER PHASE'].filter((heading) =>
      headings.includes(heading),
    );
    expect(shown).toEqual(expected);
  });

  it('counts warm standbys, and names the Pods that get none any more', () => {
    const ready = { silentMs: 0, standby: 'Ready' } as const;
    const lines = (...progress: readonly (MemberSteps | undefined)[]) =>
      memberTable(group(...progress))
        .split('\n')
        .slice(2, 3);
    expect(lines(ready, ready, undefined)).toEqual(['  standbys: 2 of 3 ready']);
    expect(lines(ready, { silentMs: 0, standby: 'Exited' })).toEqual([
      '  standbys: 1 of 2 ready, 1 off: worker 1 (a standby exited with 0)',
    ]);
    const off = Array.from({ length: 6 }, () => ({ silentMs: 0, standby: 'OutOfMemory' as const }));
    expect(lines(...off)[0]).toMatch(
      /^ {2}standbys: 0 of 6 ready, 6 off: (worker [0-3] \(memory ran out beside a standby, or its agent was killed\)(, )?){4} and 2 more$/,
    );
  });

  it('names the Pods whose standbys die, whether one is ready now or not', () => {
    const lines = (...progress: readonly (MemberSteps | undefined)[]) =>
      memberTable(group(...progress))
        .split('\n')
        .slice(2, 4);
    const crashing = { silentMs: 0, standbyDeaths: { count: 4, last: { exitCode: 1 } } };
    const once = { silentMs: 0, standby: 'Ready', standbyDeaths: { count: 1 } } as const;
    expect(lines(undefined, once, crashing)).toEqual([
      '  standbys: 1 of 3 ready',
      '  standbys that failed: worker 1 (died once since the release), ' +
        'worker 2 (died 4 times since the release, last: exited with code 1); ' +
        'lockstep logs train --agent says more',
    ]);
    const [ready, died] = lines(...Array.from({ length: 6 }, () => crashing));
    expect(ready).toBe('  standbys: 0 of 6 ready');
    expect(died).toMatch(/worker 3 \([^)]*\) and 2 more; lockstep logs train --agent says more$/);
  });

  it('names the ranks that are behind the others of their Pod', () => {
    const lag = [
      { local: 3, rank: 11, step: 1328, silentMs: 41_000 },
      { local: 5, silentMs: 20_000 },
    ];
    const screen = memberTable(
      group({ step: 9, silentMs: 0 }, { step: 1328, silentMs: 41_000, lag }),
    );
    expect(screen).toContain(
      '  behind in their Pods: rank 11 (process 3) at step 1,328, silent 41s (worker 1), ' +
        'process 5 silent 20s (worker 1)\n',
    );
  });

  it.each([
    [0, '0 steps/s'],
    [0.0001, '0.4 steps/h'],
    [0.02, '1.2 steps/min'],
    [0.99, '59 steps/min'],
    [1.25, '1.3 steps/s'],
    [9_007_199_254_740_991, '9007199254740991 steps/s'],
  ])('shows %d steps a second as %s', (perSecond, text) => {
    const steps = { silentMs: 0, step: 1, recent: { steps: perSecond * 1e6, ms: 1e9 } };
    expect(memberTable(group(steps)).split('\n')[1]).toBe(`  epoch 1, ${text}`);
  });
});

describe('a live view of a healthy run', () => {
  const steps = Array.from({ length: 180 }, (_, i) => group({ step: i * 7, silentMs: i }));

  it('appends one line of progress a minute, not one for each step', () => {
    const lines: string[] = [];
    let second = 0;
    const print = livePrinter(
      'table',
      { write: (text) => lines.push(text), screen: undefined },
      () => new Date(second * 1000),
    );
    for (const [i, view] of steps.entries()) {
      second = i;
      print(view);
    }
    expect(lines.slice(2)).toEqual([
      '1970-01-01T00:00:00.000Z step 0, epoch 1\n',
      '1970-01-01T00:01:00.000Z step 420, epoch 1\n',
      '1970-01-01T00:02:00.000Z step 840, epoch 1\n',
    ]);
  });

  it('is one document for all steps, with the progress at that time', () => {
    const written: string[] = [];
    const to = { write: (text: string) => written.push(text), screen: undefined };
    const print = livePrinter('json', to, () => new Date(0));
    for (const view of steps) print(view);
    expect(written).toHaveLength(1);
    const { jobSet, members } = JSON.parse(written[0] ?? '') as StatusView;
    expect(jobSet.progress).toEqual({ lowestStep: 0, highestStep: 0 });
    expect(members[0]?.progress).toEqual({ step: 0, silentMs: 0 });
  });
});
