import type { StringMap } from '@lockstep/kube/meta.ts';
import { describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../jobset.ts';
import type { JobSetStatus, RestartRecord } from '../jobset-status.ts';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT, RESTART_BACKOFF } from '../names.ts';
import type { MemberSteps } from '../progress/group-progress.ts';
import {
  compareUrgency,
  type Seen,
  type ShownState,
  shownState,
  stateWords,
} from './shown-state.ts';
import { silenceOf } from './silence.ts';

const NOW_MS = Date.parse('2026-01-01T10:00:00Z');

/** A group of 4 in epoch 3, which is released, with changes. */
function group(status: JobSetStatus = {}): JobSet {
  const jobSet = jobSetWith(2, 3, 7);
  const spec = { ...jobSet.spec, replicatedJobs: [replicatedJob('w', 2, 2)] };
  return { ...jobSet, spec, status: { ...jobSet.status, syncedEpoch: 3, ...status } };
}

const UNSEEN = storedJobSet({ replicatedJobs: [replicatedJob('w', 2, 2)] });
const PLAIN = { ...UNSEEN, status: { restarts: 0 } };
const GATHERING = { deprecatedEpoch: 3 };

/** This many short epochs. The last one ended `agoMs` ago. */
function crashLoop(count: number, agoMs: number): JobSetStatus {
  const time = new Date(NOW_MS - agoMs).toISOString();
  const record: RestartRecord = { epoch: 3, time, cause: 'WorkerFailed', counted: true, ranMs: 9 };
  return { ...GATHERING, restartHistory: Array.from({ length: count }, () => record) };
}

function condition(type: string, reason: string): JobSetStatus {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return { conditions: [{ type, status: 'True', reason, message: 'because', lastTransitionTime }] };
}

describe('the state of a JobSet in words', () => {
  it.each<[string, JobSet, Seen]>([
    ['Running', group(), {}],
    ['Running', group(), { started: 0 }],
    ['Starting', group({ deprecatedEpoch: 0, syncedEpoch: 0 }), {}],
    ['Starting 2 of 4', group({ deprecatedEpoch: 0, syncedEpoch: 0 }), { started: 2 }],
    [
      'Starting 3 of 4',
      group({ deprecatedEpoch: 0, syncedEpoch: 0 }),
      { started: 2, announced: 3 },
    ],
    ['At barrier', group(GATHERING), { started: 2 }],
    ['At barrier 3 of 4', group(GATHERING), { announced: 3 }],
    ['At barrier 4 of 4', group(GATHERING), { announced: 5 }],
    ['Backing off 4s', group(crashLoop(6, 100)), { announced: 4 }],
    ['At barrier 4 of 4', group(crashLoop(6, 4000)), { announced: 4 }],
    ['At barrier', group(crashLoop(3, 0)), {}],
    ['Starting 0 of 4', PLAIN, { started: 0 }],
    ['Running', PLAIN, { started: 4 }],
    ['Running', PLAIN, { started: null }],
    ['Recreating Jobs', { ...PLAIN, status: condition('RestartingJobSet', '') }, { started: 4 }],
    ['Suspended', { ...PLAIN, spec: { ...PLAIN.spec, suspend: true } }, { started: 0 }],
    ['Failed', group({ terminalState: 'Failed', ...condition('Rejected', '') }), {}],
    ['Completed', group({ terminalState: 'Completed' }), {}],
    ['Rejected', group(condition('Rejected', 'Invalid')), {}],
    ['Unschedulable', group(condition('MemberNotStarting', 'Unschedulable')), {}],
    ['ErrImagePull', PLAIN, { started: 4, held: { reason: 'ErrImagePull', why: '' } }],
    ['No operator?', UNSEEN, { started: 0 }],
    [
      'Starting 0 of 4',
      { ...UNSEEN, spec: { ...UNSEEN.spec, managedBy: 'kueue.x-k8s.io/multikueue' } },
      { started: 0 },
    ],
    ['Name conflict', group(condition('NameConflict', 'ServiceExists')), {}],
    ['Jobs refused', group(condition('JobsRefused', 'CreationFailed')), { started: 2 }],
  ])('is "%s"', (words, jobSet, seen) => {
    expect(stateWords(shownState(jobSet, seen, NOW_MS), NOW_MS)).toBe(words);
  });

  const AGO_10M = new Date(NOW_MS - 600_000).toISOString();
  const TEN = { [PROGRESS_TIMEOUT]: '10s', [FIRST_PROGRESS_TIMEOUT]: '20m' };
  const FAST = { steps: 60, ms: 60_000 };
  const SLOW = { steps: 4, ms: 60_000 };
  it.each<[string, StringMap, readonly MemberSteps[]]>([
    ['Running', TEN, [{ step: 9, silentMs: 5000 }]],
    ['Running', TEN, [{ step: 9, silentMs: 6900, recent: FAST }]],
    ['Hung? silent 7s of 10s', TEN, [{ step: 9, silentMs: 7100, recent: FAST }]],
    ['Hung? silent 8s of 10s', TEN, [{ silentMs: 0 }, { silentMs: 8000 }]],
    ['Running', { [PROGRESS_TIMEOUT]: '5m' }, [{ silentMs: 34_000, recent: SLOW }]],
    [
      'Running, silent 40s of 5m',
      { [PROGRESS_TIMEOUT]: '5m' },
      [{ silentMs: 40_000, recent: SLOW }],
    ],
    ['Running, silent 99s', { [PROGRESS_TIMEOUT]: 'Auto' }, [{ silentMs: 99_000 }]],
    ['Running, silent 99s', TEN, [{ silentMs: 99_000, phase: 'evaluate' }]],
    ['Hung? silent 10m', {}, [{ silentMs: 600_000 }]],
    ['Running, no step for 10m since the release', {}, []],
    ['Hung? no step for 10m since the release', { [PROGRESS_TIMEOUT]: 'Auto' }, []],
    ['Hung? no step for 10m of 20m since the release', TEN, []],
    ['Running, no step for 10m of 30m since the release', { [FIRST_PROGRESS_TIMEOUT]: '30m' }, []],
    // Their reports about the last epoch.
    ['Hung? no step for 10m since the release', {}, [{ step: 9, silentMs: 610_000 }]],
  ])('"%s" with %j and %j', (words, annotations, steps) => {
    const released = group({ syncedTime: AGO_10M });
    const jobSet = { ...released, metadata: { ...released.metadata, annotations } };
    const silence = silenceOf(jobSet, steps, NOW_MS);
    expect(stateWords(shownState(jobSet, { silence }, NOW_MS), NOW_MS)).toBe(words);
    expect(stateWords(shownState(jobSet, {}, NOW_MS), NOW_MS)).toBe('Running');
  });

  it('gives workers a minute for the first step', () => {
    const released = group({ syncedTime: new Date(NOW_MS - 60_000).toISOString() });
    expect(silenceOf(released, [], NOW_MS)).toBeUndefined();
  });

  it('tells why somebody has to act', () => {
    const seen = shownState(group(condition('Rejected', 'Invalid')), {}, NOW_MS);
    expect(seen).toEqual({ kind: 'Stuck', text: 'Rejected', why: 'because' });
  });

  it('does not back off where that is off', () => {
    const looping = group(crashLoop(6, 100));
    const metadata = { ...looping.metadata, annotations: { [RESTART_BACKOFF]: 'Off' } };
    expect(shownState({ ...looping, metadata }, {}, NOW_MS).kind).toBe('AtBarrier');
  });

  it('counts down to the end of a back-off, and no further', () => {
    const seen = shownState(group(crashLoop(6, 100)), {}, NOW_MS);
    const texts = [0, 900, 3899, 3900, 9000].map((ms) => stateWords(seen, NOW_MS + ms));
    expect(texts).toEqual([
      'Backing off 4s',
      'Backing off 3s',
      'Backing off 1s',
      'Backing off',
      'Backing off',
    ]);
  });
});

it('puts trouble first', () => {
  const kinds = ['Completed', 'Running', 'Failed', 'Stuck'] as const;
  const states = kinds.map((kind): ShownState => ({ kind, text: kind }));
  expect(states.toSorted(compareUrgency).map(({ kind }) => kind)).toEqual([
    'Stuck',
    'Failed',
    'Running',
    'Completed',
  ]);
});
