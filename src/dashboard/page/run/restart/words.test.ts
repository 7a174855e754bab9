import { expect, it } from 'vitest';
import type { Suspect } from '../../../../jobset/jobset-status.ts';
import type { ReportedRestart } from '../../../../jobset/view/reported-restarts.ts';
import { culpritOf, restartInWords } from './words.ts';

const RECORD: ReportedRestart = {
  epoch: 4,
  time: '2026-11-23T10:00:00.500000Z',
  cause: 'WorkerFailed',
  counted: true,
  witness: { pod: 'p-2', node: 'n', exitCode: 1, reason: 'WorkerExited' },
};
const suspect = (pod: string, confidence: Suspect['confidence']): Suspect => ({
  worker: `worker of ${pod}`,
  replicatedJob: 'w',
  jobIndex: 0,
  pod,
  why: 'was killed by SIGKILL',
  confidence,
});

it('names who failed first, as far as it is known', () => {
  const suspects = [suspect('p-1', 'Likely'), suspect('p-3', 'Certain')];
  expect(culpritOf({ ...RECORD, suspects })).toMatchObject({ pod: 'p-3', confidence: 'Certain' });
  expect(culpritOf({ ...RECORD, suspects: suspects.slice(0, 1) })?.confidence).toBe('Likely');
  expect(culpritOf(RECORD)).toBeNull();
});

it('tells a restart in one line', () => {
  const likely = { ...RECORD, suspects: [suspect('p-1', 'Likely')] };
  expect(restartInWords(likely)).toBe('likely worker of p-1: was killed by SIGKILL');
  expect(restartInWords(RECORD)).toBe(
    'the cause is not known; first seen: Pod p-2 on node n exited with code 1 (WorkerExited)',
  );
  expect(restartInWords({ ...RECORD, cause: 'Scaled' })).toBe('its size changed');
});
