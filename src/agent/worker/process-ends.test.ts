import { describe, expect, it } from 'vitest';
import type { WorkerEnd } from '../../jobset/worker-end/worker-end.ts';
import { mayHaveRaisedMs } from './end-evidence.ts';
import { firstFailed, leftEarly, type SteppedEnd, waitedFor } from './process-ends.ts';

type PartialEnd = Partial<WorkerEnd>;

function ends(all: readonly PartialEnd[]): readonly WorkerEnd[] {
  return all.map((end) => ({ epoch: 7, how: 'Exited', atMs: 1000, ...end }));
}

const EXIT_1: PartialEnd = { exit: { exitCode: 1 } };
const ABORT_OF_PEER: PartialEnd = { how: 'Signaled', exit: { signal: 'SIGABRT' } };
const SEGV: PartialEnd = { how: 'Signaled', exit: { signal: 'SIGSEGV' } };
const KILL: PartialEnd = { how: 'Signaled', exit: { signal: 'SIGKILL' } };
const TERM: PartialEnd = { how: 'Signaled', exit: { signal: 'SIGTERM' } };

const EXIT_137: PartialEnd = { exit: { exitCode: 137 } };

function oom(end: PartialEnd): PartialEnd {
  return { ...end, oom: true };
}

function failed(failedMs: number): PartialEnd {
  return { ...EXIT_1, failedMs };
}

describe('of processes whose ends were seen together, the first', () => {
  it.each<[string, readonly PartialEnd[], number, boolean]>([
    ['is the only one', [EXIT_1], 0, true],
    ['was killed by SIGSEGV, and not the one that exited', [EXIT_1, SEGV], 1, true],
    ['was killed by SIGKILL, and not the one that exited', [EXIT_1, EXIT_1, KILL], 2, true],
    ['was not killed by SIGTERM, which a peer may send', [TERM, SEGV], 1, true],
    ['is not the one that a library aborted for its peer', [ABORT_OF_PEER, SEGV], 1, true],
    ['is fatal even if a peer printed a traceback before', [failed(400), SEGV], 1, true],
    ['printed its traceback first', [failed(30), failed(400)], 1, true],
    ['is open if tracebacks came together', [failed(400), failed(405)], 1, false],
    ['is open if a peer printed none', [EXIT_1, failed(400)], 1, false],
    ['is open where nothing tells', [EXIT_1, EXIT_1], 0, false],
    ['is open between two of SIGKILL', [EXIT_1, KILL, KILL], 1, false],
    ['was killed when memory ran out', [oom(failed(30)), oom(KILL)], 1, true],
    ['was killed in its shell when memory ran out', [oom(failed(30)), oom(EXIT_137)], 1, true],
    ['is open between two that exit when memory ran out', [oom(EXIT_1), oom(EXIT_1)], 0, false],
  ])('%s', (_, all, index, isSure) => {
    expect(firstFailed(ends(all))).toEqual({ index, isSure });
  });
});

describe('of processes that run on, one that printed a traceback', () => {
  it.each<[string, PartialEnd, number, boolean]>([
    ['before leaves it open who failed first', failed(100), 400, false],
    ['before one that printed none leaves it open', EXIT_1, 400, false],
    ['after it says nothing', failed(400), 100, true],
    ['before one of SIGKILL says nothing', KILL, 400, true],
  ])('%s', (_, first, failedMs, isSure) => {
    expect(firstFailed(ends([first]), [1000 - failedMs])).toEqual({ index: 0, isSure });
  });

  it.each<[string, Parameters<typeof mayHaveRaisedMs>, number]>([
    ['counts before the first step', [700, undefined], 700],
    ['counts after the last step', [700, 650], 700],
    ['was caught if a step followed', [700, 2000], Number.POSITIVE_INFINITY],
    ['is not there', [undefined, 650], Number.POSITIVE_INFINITY],
    ['may be there at any time where none is read', ['Unread', 650], Number.NEGATIVE_INFINITY],
  ])('%s', (_, known, expected) => {
    expect(mayHaveRaisedMs(...known)).toBe(expected);
  });
});

describe('a process that exited with 0 while its peers had work', () => {
  const LATER = { epoch: 7, atMs: 5020, steppedMs: 4900 };
  const LEFT: SteppedEnd = { ...LATER, how: 'Exited', exit: { exitCode: 0 }, atMs: 5000 };
  const RAISED: SteppedEnd = { ...LATER, how: 'Exited', exit: { exitCode: 1 } };
  const TOLD: SteppedEnd = { ...LATER, how: 'Killed', exit: { signal: 'SIGKILL' } };
  const SHELL: SteppedEnd = { ...LATER, how: 'Exited', exit: { exitCode: 139 } };

  it.each<[string, readonly SteppedEnd[], number | undefined]>([
    ['comes before one that raised', [RAISED, LEFT, TOLD, TOLD], 1],
    ['comes before others that were ended', [TOLD, TOLD, LEFT, TOLD], 2],
    ['is missing', [RAISED, TOLD, TOLD, TOLD], undefined],
    ['is one of several, so the work is done', [LEFT, LEFT, RAISED, TOLD], undefined],
    ['was not missed by a peer that stepped on', [LEFT, { ...RAISED, steppedMs: 8000 }], undefined],
    ['says less than a SIGSEGV', [LEFT, SHELL], undefined],
    ['says less than a stop', [LEFT, { ...TOLD, states: 'T' }], undefined],
    ['may be missed by nobody in a phase', [LEFT, { ...RAISED, inPhase: true }], undefined],
    ['came after a peer had failed', [{ ...RAISED, atMs: 4990 }, LEFT], undefined],
    ['came after a peer printed a traceback', [LEFT, { ...RAISED, failedMs: 2400 }], undefined],
    ['is seen after a peer printed a traceback', [LEFT, { ...RAISED, failedMs: 1500 }], 0],
  ])('%s', (_, all, expected) => {
    expect(leftEarly(all, 900)).toBe(expected);
  });

  it('says nothing if no steps are known', () => {
    expect(leftEarly([LEFT, RAISED], undefined)).toBeUndefined();
  });
});

describe('the process of a silent member that its peers waited for', () => {
  const waiting: PartialEnd = {
    how: 'Hung',
    exit: { signal: 'SIGKILL' },
    step: 330,
    silentMs: 60_000,
    longestMs: 900,
    cpuMs: 20,
  };

  it.each<[string, PartialEnd, number | undefined]>([
    ['was stopped', { states: 'T', stoppedMs: 60_000 }, 2],
    ['was at another place', { where: 'load' }, 2],
    ['is behind in its steps', { step: 320 }, 2],
    ['was busy while the others waited', { cpuMs: 4900 }, 2],
    ['is not known where all are alike', {}, undefined],
  ])('%s', (_, odd, expected) => {
    const others = { ...waiting, where: 'all_reduce' };
    const all = ends([others, others, { ...others, ...odd }, others]);
    expect(waitedFor(all)).toBe(expected);
  });

  it('is not one of two that differ', () => {
    const odd = { ...waiting, step: 320 };
    expect(waitedFor(ends([odd, waiting, odd, waiting]))).toBeUndefined();
  });
});
