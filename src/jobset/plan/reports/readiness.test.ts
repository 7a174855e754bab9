import type { Stored } from '@lockstep/kube/meta.ts';
import { describe, expect, it } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { COMPLETE, FAILED, planOf } from '../../../../test/fixtures/planned.ts';
import type { JobSet, JobSetSpec } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import type { Snapshot } from '../snapshot.ts';

const SPEC: JobSetSpec = { replicatedJobs: [replicatedJob('w', 2)] };
const IN_PLACE: JobSetSpec = {
  ...SPEC,
  failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
};
const BEGUN = {
  restarts: 0,
  restartsCountTowardsMax: 0,
  executionAttempts: 0,
  startTime: '2026-01-01T00:00:00Z',
};
const READY = { active: 2, ready: 2 };

function jobSetOf(spec: JobSetSpec, status?: JobSetStatus): Stored<JobSet> {
  const jobSet = storedJobSet(spec, { generation: 3 });
  return status === undefined ? jobSet : { ...jobSet, status };
}

function told(jobSet: Stored<JobSet>, more: Partial<Snapshot> = {}): readonly string[] {
  const { status = jobSet.status } = planOf(jobSet, { lacks: new Set(['goodput']), ...more });
  return (status?.conditions ?? [])
    .filter(({ type }) => type === 'Ready' || type === 'Stalled')
    .map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
}

function condition(type: string, status: 'True' | 'False' = 'True') {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return { type, status, reason: 'X', message: '', lastTransitionTime } as const;
}

describe('Ready', () => {
  const counted = (ready: number, succeeded = 0) => ({
    replicatedJobsStatus: [{ name: 'w', ready, succeeded, failed: 0, active: 1, suspended: 0 }],
  });
  const released = { ...BEGUN, deprecatedEpoch: 0, syncedEpoch: 1 };

  it.each<[string, JobSetSpec, JobSetStatus | undefined, string]>([
    ['a new JobSet', SPEC, undefined, 'Ready=False JobsNotReady'],
    ['a new group', IN_PLACE, undefined, 'Ready=False Starting'],
    ['the default status', IN_PLACE, { observedGeneration: -1 }, 'Ready=False Starting'],
    ['Jobs that start', SPEC, { ...BEGUN, ...counted(0) }, 'Ready=False JobsNotReady'],
    ['a suspended JobSet', { ...SPEC, suspend: true }, BEGUN, 'Ready=False Suspended'],
    ['a released group', IN_PLACE, released, 'Ready=True EpochReleased'],
    [
      'a group that restarts in place',
      IN_PLACE,
      { ...released, deprecatedEpoch: 1 },
      'Ready=False RestartingInPlace',
    ],
    [
      'a group in the words of attempts, that is released',
      IN_PLACE,
      { ...BEGUN, previousInPlaceRestartAttempt: 0, currentInPlaceRestartAttempt: 1 },
      'Ready=True EpochReleased',
    ],
    [
      'a group that restarts, in the words of attempts',
      IN_PLACE,
      { ...BEGUN, previousInPlaceRestartAttempt: 1, currentInPlaceRestartAttempt: 1 },
      'Ready=False RestartingInPlace',
    ],
  ])('of %s', (_, spec, status, expected) => {
    expect(told(jobSetOf(spec, status))).toEqual([expected]);
  });

  it('follows the counters that are written, so that it costs no write of its own', () => {
    const job = storedJob('js-w-0', 'w', { pods: 2, status: READY });
    expect(told(jobSetOf(SPEC, BEGUN), { jobs: [job] })).toEqual(['Ready=True JobsReady']);
    const waiting = jobSetOf(SPEC, {
      ...BEGUN,
      ...counted(0),
      observedGeneration: 3,
      conditions: [
        {
          ...condition('Ready', 'False'),
          reason: 'JobsNotReady',
          message: 'not all Jobs are ready',
        },
      ],
    });
    expect(planOf(waiting, { jobs: [job], lacks: new Set(['goodput']) }).status).toBeUndefined();
  });

  it('is False while all Jobs are recreated, and True after success', () => {
    const restarting = { ...BEGUN, restarts: 1, conditions: [condition('RestartingJobSet')] };
    expect(told(jobSetOf(SPEC, restarting))).toEqual(['Ready=False RestartingJobSet']);
    const done = storedJob('js-w-0', 'w', { status: COMPLETE });
    expect(told(jobSetOf(SPEC, BEGUN), { jobs: [done] })).toEqual(['Ready=True Completed']);
  });
});

describe('Stalled', () => {
  it('is True with a failure, and says where to look', () => {
    const job = storedJob('js-w-0', 'w', { status: FAILED });
    expect(told(jobSetOf(SPEC, BEGUN), { jobs: [job] })).toEqual([
      'Ready=False Failed',
      'Stalled=True Failed',
    ]);
  });

  it('is True while the spec cannot be acted on, and False when it can', () => {
    const wrong = storedJobSet(IN_PLACE, { annotations: { 'lockstep/standby': 'x' } });
    expect(told(wrong)).toEqual(['Ready=False Rejected', 'Stalled=True Rejected']);
    const conditions = [condition('Rejected'), condition('Stalled')];
    expect(told(jobSetOf(SPEC, { ...BEGUN, conditions }))).toEqual([
      'Stalled=False GoesOn',
      'Ready=False JobsNotReady',
    ]);
  });
});

describe('observedGeneration', () => {
  const generationOf = (status?: JobSetStatus, lacks: readonly string[] = []) =>
    planOf(jobSetOf(SPEC, status), { lacks: new Set(['goodput', ...lacks]) }).status
      ?.observedGeneration;

  it('is the generation of the spec that was looked at', () => {
    expect(generationOf()).toBe(3);
    expect(generationOf({ ...BEGUN, observedGeneration: 2 })).toBe(3);
  });

  it('is not written again and again to a server that drops it, and nothing else is reported', () => {
    expect(generationOf(BEGUN, ['observedGeneration'])).toBeUndefined();
    expect(
      told(jobSetOf(SPEC, BEGUN), { lacks: new Set(['goodput', 'observedGeneration']) }),
    ).toEqual([]);
  });

  it('is proof that the definition has it, if that may not be read', () => {
    const unread = { lacks: new Set(['goodput', 'observedGeneration']), isDefinitionUnread: true };
    const seen = { ...BEGUN, observedGeneration: 2, conditions: [condition('Ready')] };
    expect(told(jobSetOf(SPEC, seen), unread)).toEqual(['Ready=False JobsNotReady']);
    expect(told(jobSetOf(SPEC, { observedGeneration: -1 }), unread)).toEqual([
      'Ready=False JobsNotReady',
    ]);
    expect(told(jobSetOf(SPEC, BEGUN), unread)).toEqual([]);
  });

  it('takes back what was reported, and says so, under a definition that lost it later', () => {
    const conditions = [condition('Ready'), condition('Suspended', 'False'), condition('Stalled')];
    const before = jobSetOf(IN_PLACE, { ...BEGUN, deprecatedEpoch: 1, syncedEpoch: 1, conditions });
    const lacks = new Set(['observedGeneration']);
    const { status } = planOf(before, { lacks, isDefinitionUnread: false });
    expect(status?.conditions?.map(({ type }) => type)).toEqual([
      'Suspended',
      'DefinitionOutdated',
    ]);
    expect(status?.conditions?.at(-1)?.message).toMatch(
      /^the observed generation with Ready and Stalled is off: .* lacks status\.observedGeneration\./,
    );
    const after = { ...before, ...(status && { status }) };
    expect(planOf(after, { lacks, isDefinitionUnread: false }).status).toBeUndefined();
  });
});
