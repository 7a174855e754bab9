import { describe, expect, it } from 'vitest';
import type { RestartRecord, Suspect } from '../jobset-status.ts';
import { type LastCause, lastCauseInWords, lastCauseOf } from './last-cause.ts';

const RECORD: RestartRecord = {
  epoch: 5,
  time: '2026-01-01T00:00:00.000000Z',
  cause: 'WorkerFailed',
  counted: true,
};
const SUSPECT: Suspect = {
  worker: 'worker 2 of w (w-0, index 2)',
  replicatedJob: 'w',
  jobIndex: 0,
  completionIndex: 2,
  pod: 'culprit',
  why: 'its processes were stopped while the others waited',
  confidence: 'Certain',
};
/** Rank 2 was stopped in epoch 5; all others hung, and rank 0 was seen first. */
const HANG: RestartRecord = {
  ...RECORD,
  witness: { pod: 'innocent', exitCode: null, reason: 'WorkerHung', message: 'was silent' },
  suspects: [SUSPECT],
};
const HUNG = { epoch: 5, end: { signal: 'SIGKILL' }, hung: 'made no progress for 10 s' } as const;

function told(
  pod: string,
  cause:
    | { readonly epoch: number; readonly end: { readonly exitCode: number } }
    | typeof HUNG
    | undefined,
  ...history: readonly RestartRecord[]
): string | null {
  const report = cause && ({ pod, epoch: 6, channel: 'Hub', cause } as const);
  const last = lastCauseOf(pod, report, undefined, history);
  return last && lastCauseInWords(last);
}

describe('the last cause of a member', () => {
  it('names nobody else than the record does', () => {
    expect(told('innocent', HUNG, HANG)).toBe('epoch 5: followed another');
    expect(told('innocent', undefined, HANG)).toBe('epoch 5: followed another');
    const older = { epoch: 4, end: { exitCode: 1 } };
    expect(told('culprit', older, HANG)).toBe(`epoch 5: ${SUSPECT.why}`);
    expect(told('culprit', undefined, HANG)).toBe(`epoch 5: ${SUSPECT.why}`);
    expect(told('quiet', undefined, HANG)).toBeNull();
  });

  it('says how sure that is', () => {
    const suspects = [{ ...SUSPECT, why: 'exited with code 1', confidence: 'Likely' } as const];
    expect(told('culprit', undefined, { ...RECORD, suspects })).toBe(
      'epoch 5: likely first, exited with code 1',
    );
  });

  it('keeps what members tell where nobody is suspected, and the end itself for tools', () => {
    expect(told('innocent', HUNG, { ...RECORD, suspects: [] })).toBe(
      'epoch 5: hung, made no progress for 10 s',
    );
    expect(told('innocent', HUNG, RECORD)).toBe('epoch 5: hung, made no progress for 10 s');
    expect(told('innocent', { epoch: 6, end: { exitCode: 3 } }, HANG)).toBe(
      'epoch 6: exited with code 3',
    );
    const report = { pod: 'innocent', epoch: 6, channel: 'Hub', cause: HUNG } as const;
    expect(lastCauseOf('innocent', report, undefined, [HANG])).toEqual({
      epoch: 5,
      hung: 'made no progress for 10 s',
      isFollower: true,
    });
  });

  it.each<[LastCause, string]>([
    [{ epoch: 2, signal: 'SIGKILL' }, 'epoch 2: was killed by SIGKILL'],
    [{ epoch: 2 }, 'epoch 2: failed'],
  ])('tells %j', (cause, text) => {
    expect(lastCauseInWords(cause)).toBe(text);
  });
});
