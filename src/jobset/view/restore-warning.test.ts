import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { restoreWarning } from './restore-warning.ts';

const RELEASED = '2026-01-01T00:10:00.000000Z';
const NOW_MS = Date.parse(RELEASED) + 30_000;
const GOODPUT = { time: RELEASED, phase: 'Running', checkpoint: 1300 } as const;

function warning(
  reported: GroupProgress | undefined,
  status: JobSetStatus = {},
): string | undefined {
  const stored = jobSetWith(1, 2, 7);
  const running = { ...stored.status, syncedEpoch: 2, syncedTime: RELEASED, goodput: GOODPUT };
  return restoreWarning({ ...stored, status: { ...running, ...status } }, reported, NOW_MS);
}

/** Workers that have made steps for 20 s. */
const at = (highestStep: number, more: GroupProgress = {}): GroupProgress => ({
  lowestStep: highestStep,
  highestStep,
  stepsPerSecond: 1,
  firstStepMs: 20_000,
  ...more,
});

it.each<[string, boolean, GroupProgress | undefined, JobSetStatus?]>([
  ['begins anew', true, at(20)],
  ['begins anew and has saved since', true, at(20, { checkpoint: 10 })],
  ['goes on from an older checkpoint', true, at(1200, { checkpoint: 1190 })],
  ['goes on from the checkpoint', false, at(1320)],
  ['counts the checkpoint as the next step', false, at(1298)],
  ['is behind by three steps', true, at(1297)],
  ['has loaded the checkpoint, and counts its own steps', false, at(20, { checkpoint: 1300 })],
  ['has saved further, and counts its own steps', false, at(20, { checkpoint: 1310 })],
  ['names checkpoints by another number', false, at(20, { checkpoint: 700 })],
  [
    'has named checkpoints by another number before',
    false,
    at(20),
    { progress: { step: 400, checkpoint: 1300, restartsWithoutProgress: 0 } },
  ],
  [
    'has named checkpoints by steps before',
    true,
    at(20),
    { progress: { step: 1330, checkpoint: 1300, restartsWithoutProgress: 0 } },
  ],
  ['still loads, with a step of 0', false, at(0, { stepsPerSecond: 0 })],
  ['has just begun, so its rate is not known', false, { highestStep: 3, firstStepMs: 4000 }],
  ['reports no steps', false, { checkpoint: 10, firstStepMs: 20_000 }],
  ['has told nothing since its release', false, at(20, { firstStepMs: 90_000 })],
  ['was asked by a reader whose clock is behind', true, at(20, { firstStepMs: 31_000 })],
  ['cannot be asked', false, undefined],
  [
    'has never reported a checkpoint',
    false,
    at(20),
    { goodput: { time: RELEASED, phase: 'Running' } },
  ],
  ['has a release of an unknown time', false, at(20), { syncedTime: '' }],
  ['waits at the barrier', false, at(20), { deprecatedEpoch: 2 }],
  ['is over', false, at(20), { terminalState: 'Failed' }],
])('a run that %s: it warns: %s', (_, isWarned, reported, status) => {
  expect(warning(reported, status) !== undefined).toBe(isWarned);
});

it('names the checkpoint, and nothing that changes with each step', () => {
  const text =
    'the run is behind the checkpoint of step 1,300 that was reported: its restore may have failed, or have taken an older one';
  for (const step of [20, 21]) expect(warning(at(step))).toBe(text);
});
