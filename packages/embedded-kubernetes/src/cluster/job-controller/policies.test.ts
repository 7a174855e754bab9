/** Policies of a Job about failed Pods, failed indexes and early success. */

import type { JobSpec, PodFailurePolicyRule } from '@lockstep/kube/objects/job.ts';
import type { ContainerStatus, PodStatus } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { failureCountAnnotations } from './index-failures.ts';
import { jobOf, type PodTraits, planOf, podOf, uids } from './job.fixture.ts';
import { judgeFailedPod } from './pod-failure-policy.ts';

function verdictOf(spec: Partial<JobSpec>, pods: readonly PodTraits[], status = {}) {
  const plan = planOf(jobOf(spec, { startTime: '2026-01-01T00:00:00Z', ...status }), pods);
  const verdict = plan.status.conditions?.find(
    ({ type }) => type === 'FailureTarget' || type === 'SuccessCriteriaMet',
  );
  return [verdict?.reason, verdict?.message];
}

describe('podFailurePolicy', () => {
  const failed = (exitCode: number, index = 0): PodTraits => ({
    uid: `p${index}`,
    index,
    phase: 'Failed',
    exitCode,
  });
  const on = (
    action: PodFailurePolicyRule['action'],
    operator: 'In' | 'NotIn',
    ...values: readonly number[]
  ): PodFailurePolicyRule => ({ action, onExitCodes: { operator, values } });

  it.each([
    ['a code that is listed fails the Job', [on('FailJob', 'In', 42)], 42, 0],
    ['a code that is not listed fails the Job', [on('FailJob', 'NotIn', 1)], 42, 0],
    [
      'the first rule that matches decides',
      [on('Ignore', 'In', 1), on('FailJob', 'In', 42)],
      42,
      1,
    ],
  ])('%s', (_, rules, code, rule) => {
    expect(verdictOf({ podFailurePolicy: { rules } }, [failed(code)])).toEqual([
      'PodFailurePolicy',
      `Container main for pod team/train-p0 failed with exit code 42 matching FailJob rule at index ${rule}`,
    ]);
  });

  it('goes before the back-off limit', () => {
    const spec = { backoffLimit: 0, podFailurePolicy: { rules: [on('FailJob', 'In', 42)] } };
    expect(verdictOf(spec, [failed(42)])[0]).toBe('PodFailurePolicy');
    expect(verdictOf(spec, [failed(41)])[0]).toBe('BackoffLimitExceeded');
  });

  it('judges by a condition of the Pod', () => {
    const rule = { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget' }] } as const;
    const pod: PodTraits = { uid: 'p0', index: 0, phase: 'Failed', condition: 'DisruptionTarget' };
    expect(verdictOf({ podFailurePolicy: { rules: [rule] } }, [pod])).toEqual([
      'PodFailurePolicy',
      'Pod team/train-p0 has condition DisruptionTarget matching FailJob rule at index 0',
    ]);
  });

  it('looks only at the container that it names, and at no success', () => {
    const rule = (containerName: string): PodFailurePolicyRule => ({
      action: 'FailJob',
      onExitCodes: { containerName, operator: 'NotIn', values: [7] },
    });
    expect(verdictOf({ podFailurePolicy: { rules: [rule('other')] } }, [failed(42)])[0]).toBe(
      undefined,
    );
    const ended: PodTraits = { uid: 'p0', index: 0, phase: 'Failed', exitCode: 0 };
    expect(verdictOf({ podFailurePolicy: { rules: [rule('main')] } }, [ended])[0]).toBe(undefined);
  });

  const container = (name: string, state: ContainerStatus['state'] = {}, lastCode?: number) => ({
    name,
    state,
    ready: false,
    restartCount: 0,
    image: '',
    imageID: '',
    ...(lastCode === undefined ? {} : { lastState: { terminated: { exitCode: lastCode } } }),
  });
  const exited = (exitCode: number) => ({ terminated: { exitCode } });

  it.each<[name: string, status: PodStatus, expected: string | undefined]>([
    ['its last exit', { containerStatuses: [container('a', exited(7), 42)] }, undefined],
    ['no exit before it', { containerStatuses: [container('a', {}, 42)] }, undefined],
    [
      'any container, also one that ended before',
      { containerStatuses: [container('a', exited(0)), container('b', exited(42))] },
      'Container b',
    ],
    [
      'init containers, too',
      { initContainerStatuses: [container('i', exited(42))], containerStatuses: [container('a')] },
      'Container i',
    ],
    [
      'regular containers first',
      {
        initContainerStatuses: [container('i', exited(42))],
        containerStatuses: [container('a', exited(42))],
      },
      'Container a',
    ],
  ])('looks at %s', (_, status, expected) => {
    const pod = podOf({ uid: 'p0', index: 0, phase: 'Failed' });
    const job = jobOf({ podFailurePolicy: { rules: [on('FailJob', 'In', 42)] } });
    const { message } = judgeFailedPod(job, { ...pod, status: { ...status, phase: 'Failed' } });
    expect(message.slice(0, message.indexOf(' for pod')) || undefined).toBe(expected);
  });

  it('ignores without counting, and the Pod is replaced once it may go', () => {
    const spec = { backoffLimit: 0, podFailurePolicy: { rules: [on('Ignore', 'In', 42)] } };
    const plan = planOf(jobOf(spec), [failed(42), { uid: 'p1', index: 1 }]);
    expect(plan.status.failed).toBe(undefined);
    expect(plan.status.uncountedTerminatedPods).toEqual({});
    expect(uids(plan.settled)).toEqual(['p0']);
    expect(plan.created).toEqual([0]);
  });
});

describe('backoffLimitPerIndex', () => {
  const perIndex = { backoffLimit: 2_147_483_647, backoffLimitPerIndex: 1, completions: 3 };
  const failed = (index: number, failuresBefore: number): PodTraits => ({
    uid: `p${index}-${failuresBefore}`,
    index,
    phase: 'Failed',
    exitCode: 1,
    failuresBefore,
  });

  it('keeps a failed Pod until its successor is there, which takes its count over', () => {
    const spec = { ...perIndex, parallelism: 1 };
    const waiting = planOf(jobOf(spec), [failed(0, 0)]);
    expect([waiting.created, uids(waiting.settled), waiting.status.failed]).toEqual([
      [0],
      [],
      undefined,
    ]);
    const replaced = waiting.replaced.get(0);
    expect(failureCountAnnotations(jobOf(spec), replaced)).toEqual({
      'batch.kubernetes.io/job-index-failure-count': '1',
    });
    const after = planOf(jobOf(spec), [failed(0, 0), { uid: 'next', index: 0, failuresBefore: 1 }]);
    expect(uids(after.settled)).toEqual(['p0-0']);
  });

  it('waits longer the more often an index has failed', () => {
    const spec = { ...perIndex, backoffLimitPerIndex: 9, parallelism: 3 };
    const recent = { finishedAt: '2026-01-01T00:09:59Z' };
    const plan = planOf(jobOf(spec), [
      { ...failed(0, 0), ...recent },
      { ...failed(1, 2), ...recent },
    ]);
    expect([plan.created, plan.requeueAfterMs]).toEqual([[2], 9000]);
  });

  it('gives an index up, and fails the Job when all others are done', () => {
    const spec = { ...perIndex, parallelism: 3 };
    const plan = planOf(jobOf(spec), [failed(0, 1), { uid: 'p1', index: 1 }]);
    expect([plan.status.failedIndexes, plan.created]).toEqual(['0', [2]]);
    const done = { completedIndexes: '1,2', succeeded: 2, failedIndexes: '0' };
    expect(verdictOf(spec, [], done)).toEqual(['FailedIndexes', 'Job has failed indexes']);
  });

  it('fails the Job early beyond maxFailedIndexes, and an index at once by FailIndex', () => {
    const rules = [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }] as const;
    const spec = { ...perIndex, maxFailedIndexes: 0, podFailurePolicy: { rules } };
    expect(verdictOf(spec, [failed(2, 0)])).toEqual([
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    ]);
  });
});

describe('successPolicy', () => {
  const status = { completedIndexes: '0,2', succeeded: 2 };
  it.each([
    ['indexes', { succeededIndexes: '0,2' }, 'SuccessPolicy'],
    ['a count', { succeededCount: 2 }, 'SuccessPolicy'],
    ['a count of some indexes', { succeededIndexes: '0-1', succeededCount: 1 }, 'SuccessPolicy'],
    ['indexes that are not all done', { succeededIndexes: '0-2' }, undefined],
    ['a higher count', { succeededCount: 3 }, undefined],
  ])('by %s', (_, rule, reason) => {
    const spec = { completions: 4, parallelism: 4, successPolicy: { rules: [rule] } };
    expect(verdictOf(spec, [{ uid: 'p1', index: 1 }], status)[0]).toBe(reason);
  });

  it('by more indexes than can be counted one by one', () => {
    const rules = [{ succeededIndexes: '0-1999999999' }];
    const spec = { completions: 2_000_000_000, parallelism: 1, successPolicy: { rules } };
    const many = { completedIndexes: '0-999999', succeeded: 1_000_000 };
    expect(verdictOf(spec, [], many)[0]).toBeUndefined();
  });

  it('ends the Pods that still run, and yields to a failure', () => {
    const rules = [{ succeededCount: 2 }];
    const spec = { completions: 4, parallelism: 4, successPolicy: { rules } };
    const plan = planOf(jobOf(spec, status), [{ uid: 'p1', index: 1 }]);
    expect([uids(plan.stopped), plan.created]).toEqual([['p1'], []]);
    const failing = { ...spec, backoffLimit: 0 };
    const failed: PodTraits = { uid: 'p1', index: 1, phase: 'Failed', exitCode: 1 };
    expect(verdictOf(failing, [failed], status)[0]).toBe('BackoffLimitExceeded');
  });
});
