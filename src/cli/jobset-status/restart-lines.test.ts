import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSetStatus, RestartRecord, Suspect } from '../../jobset/jobset.ts';
import { EXTRA_RESTARTS, RESTART_EPOCH } from '../../jobset/names.ts';
import { restartBudget } from '../../jobset/view/restart-budget.ts';
import { type StatusView, statusView } from '../../jobset/view/status-view.ts';
import { memberTable } from './member-table.ts';
import { budgetText } from './restart-lines.ts';
import { statusChanges } from './status-changes.ts';

const RECORD: RestartRecord = {
  epoch: 4,
  time: '2026-01-01T00:00:00.000000Z',
  cause: 'WorkerFailed',
  counted: true,
  witness: { pod: 'w-0-9', exitCode: 1, reason: 'WorkerExited' },
};

function suspect(index: number, confidence: Suspect['confidence']): Suspect {
  return {
    worker: `worker ${index} of w (w-0, index ${index})`,
    replicatedJob: 'w',
    jobIndex: 0,
    completionIndex: index,
    pod: `w-0-${index}`,
    node: 'node-b',
    why: 'killed by SIGKILL',
    confidence,
  };
}

function viewOf(...restartHistory: readonly RestartRecord[]): StatusView {
  const jobSet = jobSetWith(4, 5, 7);
  return statusView({ ...jobSet, status: { ...jobSet.status, restartHistory } }, [], undefined);
}

/** The lines about restarts. */
function told(...history: readonly RestartRecord[]): readonly string[] {
  return memberTable(viewOf(...history))
    .split('\n')
    .slice(1, -2)
    .filter((line) => line !== '' && !line.includes('Pods are not there'));
}

it.each<[string, Readonly<Record<string, string>>, JobSetStatus, number, string]>([
  ['nothing', {}, {}, 10, '0 of 10 restarts used'],
  ['one restart', {}, { inPlaceRestartsCountTowardsMax: 1 }, 1, '1 of 1 restart used'],
  [
    'an addition',
    { [EXTRA_RESTARTS]: '2' },
    { inPlaceRestartsCountTowardsMax: 10, restartsCountTowardsMax: 1 },
    10,
    '11 of 12 restarts used, with 2 extra',
  ],
  [
    'restarts that led to nothing',
    {},
    { inPlaceRestartsCountTowardsMax: 4, progress: { restartsWithoutProgress: 3 } },
    10,
    '4 of 10 restarts used, 3 in a row without progress',
  ],
])('tells the budget with %s', (_what, annotations, status, maxRestarts, text) => {
  const jobSet = storedJobSet({ failurePolicy: { maxRestarts } }, { annotations });
  expect(budgetText(restartBudget({ ...jobSet, status }))).toBe(text);
});

it('says that a user asked for a restart', () => {
  const jobSet = jobSetWith(4, 5, 7);
  const metadata = { ...jobSet.metadata, annotations: { [RESTART_EPOCH]: '4' } };
  const { witness: _, ...record } = { ...RECORD, cause: 'Resumed' as const };
  const status = { ...jobSet.status, restartHistory: [record, { ...record, epoch: 3 }] };
  const table = memberTable(statusView({ ...jobSet, metadata, status }, [], undefined));
  expect(table).toContain('epoch 4 ended: Requested');
  expect(table).toContain('epoch 3 ended: Resumed');
});

it('names who certainly failed first, not the Pod that was seen to fail', () => {
  expect(told({ ...RECORD, suspects: [suspect(5, 'Certain')] })).toEqual([
    `  ${RECORD.time} epoch 4 ended: WorkerFailed; worker 5 of w (w-0, index 5), Pod w-0-5 on node node-b: killed by SIGKILL`,
  ]);
});

it('names all who are suspected where nothing is certain', () => {
  const suspects = [suspect(5, 'Likely'), suspect(6, 'Likely')];
  expect(told({ ...RECORD, suspects })).toEqual([
    expect.stringContaining('WorkerFailed; likely worker 5 of w'),
    expect.stringMatching(/^ {4}or likely worker 6 /),
  ]);
});

it('says that the cause is not known, or not yet', () => {
  const seen = 'first seen: Pod w-0-9 exited with code 1 (WorkerExited)';
  expect(told(RECORD)).toEqual([
    expect.stringContaining(`WorkerFailed; the cause is not known yet; ${seen}`),
  ]);
  expect(told({ ...RECORD, phases: { announceMs: 7 } })).toEqual([
    expect.stringContaining(`WorkerFailed; the cause is not known; ${seen}`),
  ]);
});

it('says that sidecars cannot tell who failed first', () => {
  const jobSet = jobSetWith(4, 5, 7);
  const restartHistory = [{ ...RECORD, phases: { announceMs: 7 } }];
  const status = { ...jobSet.status, restartMode: 'Sidecar' as const, restartHistory };
  const table = memberTable(statusView({ ...jobSet, status }, [], undefined));
  expect(table).toContain('sidecar agents cannot tell who failed first');
});

it('shows suspects and last words of the newest restart only', () => {
  const newest = { ...RECORD, suspects: [suspect(5, 'Likely')] };
  const earlier = { ...newest, epoch: 3, lastWords: { pod: 'w-0-1', text: 'old' } };
  expect(told(newest, earlier)).toHaveLength(2);
});

it('shows the end of last words, line by line, without what could change the terminal', () => {
  const text = `${'noise\n'.repeat(20)}Traceback:\r\n\n\tline 1\nError: \u001b[2J\u202eevil\u0000`;
  const lines = told({ ...RECORD, lastWords: { pod: 'w-0-9\u001b', text } });
  expect(lines.slice(1)).toEqual([
    '    last words of Pod w-0-9\\x1b:',
    ...Array.from({ length: 5 }, () => '      noise'),
    '      Traceback:',
    '        line 1',
    '      Error: \\x1b[2J\\u202eevil\\x00',
  ]);
});

it('escapes what a suspect holds', () => {
  const suspects = [{ ...suspect(5, 'Certain'), why: '\u001b]0;x\u0007', node: 'a\u2066b' }];
  expect(told({ ...RECORD, suspects })[0]).toMatch(/ on node a\\u2066b: \\x1b\]0;x\\a$/);
});

it('tells of suspects when they are found, and of each once', () => {
  const before = viewOf(RECORD);
  const judged = { ...RECORD, suspects: [suspect(5, 'Certain')] };
  const after = viewOf(judged);
  expect(statusChanges(before, after)).toEqual([
    expect.stringMatching(/^worker 5 .*: killed by SIGKILL$/),
  ]);
  expect(statusChanges(after, after)).toEqual([]);
  const next = viewOf({ ...judged, epoch: 5 }, RECORD);
  expect(statusChanges(after, next)).toEqual([
    expect.stringContaining('epoch 5 ended: WorkerFailed; worker 5'),
  ]);
});
