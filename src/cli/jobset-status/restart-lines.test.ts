import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSetStatus, RestartRecord, Suspect } from '../../jobset/jobset-status.ts';
import { EXTRA_RESTARTS, RESTART_EPOCH } from '../../jobset/names.ts';
import { restartBudget } from '../../jobset/view/restart-budget.ts';
import { type StatusView, statusView } from '../../jobset/view/status-view.ts';
import { memberTable } from './printed-at.fixture.ts';
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

const wideTable = (view: StatusView): string => memberTable(view, { isWide: true });

/** The lines of a wide table about restarts, from the newest on. */
function told(...history: readonly RestartRecord[]): readonly string[] {
  const lines = wideTable(viewOf(...history)).split('\n');
  const first = lines.findIndex((line) => line.includes(' ended: '));
  return lines
    .slice(first, -1)
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
  const table = wideTable(statusView({ ...jobSet, metadata, status }, [], undefined));
  expect(table).toContain('epoch 4 ended: Requested');
  expect(table).toContain('epoch 3 ended: Resumed');
});

it('names who certainly failed first, not the Pod that was seen to fail', () => {
  expect(told({ ...RECORD, suspects: [suspect(5, 'Certain')] })).toEqual([
    '  2026-01-01 00:00:00 UTC epoch 4 ended: worker 5, Pod w-0-5 on node node-b: killed by SIGKILL',
  ]);
});

it('names all who are suspected where nothing is certain', () => {
  const suspects = [suspect(5, 'Likely'), suspect(6, 'Likely')];
  expect(told({ ...RECORD, suspects })).toEqual([
    expect.stringContaining('epoch 4 ended: likely worker 5, Pod w-0-5 on node'),
    expect.stringMatching(/^ {4}or likely worker 6, /),
  ]);
});

it('says that the cause is not known, or not yet', () => {
  const seen = 'first seen: Pod w-0-9 exited with code 1 (WorkerExited)';
  expect(told(RECORD)).toEqual([
    expect.stringContaining(`ended: the cause is not known yet; ${seen}`),
  ]);
  expect(told({ ...RECORD, phases: { announceMs: 7 } })).toEqual([
    expect.stringContaining(`ended: the cause is not known; ${seen}`),
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

it('shows last words line by line, without what could change the terminal', () => {
  const text = `${'noise\n'.repeat(20)}Traceback:\r\n\n\tline 1\nError: \u001b[2J\u202eevil\u0000`;
  const lines = told({ ...RECORD, lastWords: { pod: 'w-0-9\u001b', text } });
  expect(lines.slice(1)).toEqual([
    '    last words of Pod w-0-9\\x1b:',
    ...Array.from({ length: 20 }, () => '      noise'),
    '      Traceback:',
    '        line 1',
    '      Error: \\x1b[2J\\u202eevil\\x00',
  ]);
});

it('says whose last words it shows, if they come from no suspect', () => {
  const lastWords = { pod: 'w-0-9', text: 'bye' };
  const titleOf = (more: Partial<RestartRecord>) => told({ ...RECORD, lastWords, ...more })[1];
  expect(titleOf({})).toBe('    last words of Pod w-0-9:');
  expect(titleOf({ suspects: [suspect(9, 'Certain')] })).toBe('    last words of Pod w-0-9:');
  const ageOf = (beforeEndMs: number) => titleOf({ lastWords: { ...lastWords, beforeEndMs } });
  expect([900, 12_000, 3_600_000, 7_200_000].map(ageOf)).toEqual([
    '    last words of Pod w-0-9:',
    '    last words of Pod w-0-9, 12s before its end:',
    '    last words of Pod w-0-9, 60m before its end:',
    '    last words of Pod w-0-9, 120m before its end:',
  ]);
  expect(titleOf({ suspects: [suspect(5, 'Certain')] })).toBe(
    '    last words of Pod w-0-9, which is no suspect and was only seen first:',
  );
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
    expect.stringMatching(/ epoch 4 ended: worker 5, .*: killed by SIGKILL$/),
  ]);
  expect(statusChanges(after, after)).toEqual([]);
  const next = viewOf({ ...judged, epoch: 5 }, RECORD);
  expect(statusChanges(after, next)).toEqual([expect.stringContaining('epoch 5 ended: worker 5')]);
});

it('tells the last failure in one line, and the last line of what the worker said', () => {
  const lastWords = { pod: 'w-0-5', text: 'Traceback:\n  line 1\nRuntimeError: loss is NaN\n' };
  const record = { ...RECORD, suspects: [suspect(5, 'Certain')], lastWords };
  expect(memberTable(viewOf(record)).split('\n').slice(1, 3)).toEqual([
    '  last failure 10m ago: worker 5 on node node-b: killed by SIGKILL',
    '  last words: RuntimeError: loss is NaN',
  ]);
});

it('says how old the last line is, and whose if that is not the worker above', () => {
  const lastWords = { pod: 'w-0-5', text: 'bye' };
  const lineOf = (more: Partial<RestartRecord>) =>
    memberTable(viewOf({ ...RECORD, lastWords, ...more })).split('\n')[2];
  const old = { lastWords: { ...lastWords, beforeEndMs: 3_600_000 } };
  expect(lineOf({ ...old, suspects: [suspect(5, 'Certain')] })).toBe(
    '  last words, 60m before its end: bye',
  );
  expect(lineOf({ ...old, suspects: [] })).toBe('  last words, 60m before its end: bye');
  expect(lineOf({ suspects: [suspect(4, 'Certain'), suspect(5, 'Likely')] })).toBe(
    '  last words of Pod w-0-5: bye',
  );
  expect(lineOf({ suspects: [suspect(4, 'Certain')] })).toBe(
    '  last words of Pod w-0-5, which is no suspect and was only seen first: bye',
  );
});

it('begins with what a person wants to know', () => {
  const jobSet = jobSetWith(4, 5, 7);
  const released = { ...jobSet, status: { ...jobSet.status, syncedEpoch: 5 } };
  expect(memberTable(statusView(released, [], undefined)).split('\n')[0]).toBe(
    'train: Running, 0 of 1 workers, 0 of 0 restarts used',
  );
});

it('wraps at words on a narrow terminal, and never in a wide table', () => {
  const record = { ...RECORD, suspects: [suspect(5, 'Certain')] };
  const narrow = memberTable(viewOf(record), { width: 40 });
  expect(narrow).toContain(
    '\n  last failure 10m ago: worker 5 on node\n    node-b: killed by SIGKILL\n',
  );
  const wide = memberTable(viewOf(record), { isWide: true, width: 40 });
  expect(wide).toContain('worker 5, Pod w-0-5 on node node-b: killed by SIGKILL\n');
});
