import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { Goodput, JobSetStatus } from '../../jobset/jobset-status.ts';
import { type StatusView, statusView } from '../../jobset/view/status-view.ts';
import { memberScreen, memberTable } from './printed-at.fixture.ts';
import { statusChanges } from './status-changes.ts';
import { livePrinter } from './status-printer.ts';

const CREATED_MS = Date.parse('2026-01-01T00:00:00Z');
const MINUTE_MS = 60_000;

/** Released after a minute, and the last status write since. */
const RELEASED: Goodput = {
  time: '2026-01-01T00:01:00.000000Z',
  phase: 'Running',
  waitingMs: MINUTE_MS,
};

const AVOIDED = {
  node: 'node-7',
  time: '2026-01-01T00:10:00.000000Z',
  reason: 'certain suspect 3 times in 1h',
  pod: 'w-0-5',
  worker: 'worker 5 of w (w-0, index 5)',
};

/** Ten minutes after its creation, unless a test says otherwise. */
function viewOf(status: Partial<JobSetStatus>, atMs = CREATED_MS + 10 * MINUTE_MS): StatusView {
  const jobSet = jobSetWith(0, 1, 7);
  const progress = {
    step: 330,
    checkpoint: 300,
    silentMs: 0,
    firstStepMs: 8 * MINUTE_MS,
    checkpointMs: 3 * MINUTE_MS,
  };
  const reports = [{ pod: 'w-0-0', epoch: 1, channel: 'Hub' as const, progress }];
  const told = { ...jobSet, status: { ...jobSet.status, ...status } };
  return statusView(told, [], reports, new Set(), atMs);
}

it('tells where the time went, with what members report since the last status write', () => {
  expect(
    memberTable(viewOf({ goodput: RELEASED }))
      .split('\n')
      .slice(2, 4),
  ).toEqual([
    '  time: 10m, 50.0 % of it productive',
    '  the rest: Unsaved 3m (30.0 %), Waiting 60.0 s (10.0 %), Starting 60.0 s (10.0 %)',
  ]);
});

it('counts no time after the end', () => {
  const ended: Goodput = {
    ...RELEASED,
    time: '2026-01-01T00:02:00.000000Z',
    phase: 'Finished',
    productiveMs: MINUTE_MS,
  };
  const [line] = memberTable(viewOf({ goodput: ended }))
    .split('\n')
    .slice(2);
  expect(line).toBe('  time: 2m, 50.0 % of it productive');
});

it('tells nothing of the time for which the operator does not account', () => {
  expect(memberTable(viewOf({}))).not.toContain('time:');
  expect(viewOf({}).jobSet.goodput).toBeNull();
});

it('names at most four avoided nodes', () => {
  const avoidedNodes = Array.from({ length: 6 }, (_, i) => ({ ...AVOIDED, node: `node-${i}` }));
  const lines = memberTable(viewOf({ avoidedNodes })).match(/ {2}avoids node node-\d since/g);
  expect(lines).toHaveLength(4);
});

it('tells once that a node is avoided, and never that time passes', () => {
  const before = viewOf({ goodput: RELEASED });
  const after = viewOf({ goodput: RELEASED, avoidedNodes: [AVOIDED] }, CREATED_MS + 3_600_000);
  expect(statusChanges(before, after)).toEqual([
    expect.stringMatching(/^avoids node node-7 since/),
  ]);
  expect(statusChanges(after, after)).toEqual([]);
});

it('is one document while only time passes', () => {
  const written: string[] = [];
  const to = { write: (text: string) => written.push(text), screen: undefined };
  const print = livePrinter('json', to, () => new Date(0));
  for (let i = 10; i < 20; i++) print(viewOf({ goodput: RELEASED }, CREATED_MS + i * MINUTE_MS));
  expect(written).toHaveLength(1);
  const { jobSet } = JSON.parse(written[0] ?? '') as StatusView;
  expect(jobSet.goodput).toMatchObject({
    elapsedMs: 10 * MINUTE_MS,
    classes: { Productive: 5 * MINUTE_MS, Pending: 3 * MINUTE_MS },
  });
});

it.each([20, 40, 80])('fits a screen of %d columns', (columns) => {
  const view = viewOf({ goodput: RELEASED, avoidedNodes: [AVOIDED] });
  const screen = memberScreen(view, { rows: 24, columns });
  expect(screen.length).toBeLessThan(24);
  expect(Math.max(...screen.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});
