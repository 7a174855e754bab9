import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { expect, test } from 'vitest';
import { jobOf, podOf } from './job.fixture.ts';
import { createJobMetrics, creationReason, type JobMetrics } from './job-metrics.ts';

/** The samples after `use`, without their common prefix. */
async function samplesAfter(use: (metrics: JobMetrics) => void): Promise<readonly string[]> {
  const registry = createMetrics();
  use(createJobMetrics(registry));
  const { signal } = new AbortController();
  const request = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
  const { body } = await registry.handler(request);
  if (!(body instanceof Uint8Array)) throw new Error('a page was expected');
  return Buffer.from(body)
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('job_controller_') && !line.includes('_bucket'))
    .map((line) => line.replace('job_controller_', ''));
}

const NONINDEXED = { completionMode: 'NonIndexed' } as const;

test('counts what is new in each status', async () => {
  const complete = {
    succeeded: 3,
    failed: 1,
    conditions: [
      { type: 'SuccessCriteriaMet', status: 'True', reason: 'CompletionsReached' },
      { type: 'Complete', status: 'True', reason: 'CompletionsReached' },
    ],
  } as const;
  const samples = await samplesAfter((metrics) => {
    metrics.told(jobOf(NONINDEXED, { succeeded: 1 }), complete);
    metrics.told(jobOf(NONINDEXED, complete), complete);
  });
  expect(samples).toEqual([
    'jobs_finished_total{completion_mode="NonIndexed",result="succeeded",reason="CompletionsReached"} 1',
    'job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 2',
    'job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 1',
  ]);
});

test('indexes count by their limit, and those that a Job forgets as it shrinks do not', async () => {
  const samples = await samplesAfter((metrics) => {
    const job = jobOf({ backoffLimitPerIndex: 1 }, { completedIndexes: '0' });
    metrics.told(job, { completedIndexes: '0-2', failedIndexes: '4,5' });
    metrics.told(jobOf({}, { completedIndexes: '0-5' }), { completedIndexes: '0,1' });
  });
  expect(samples).toEqual([
    'job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
    'job_finished_indexes_total{status="succeeded",backoffLimit="perIndex"} 2',
    'job_finished_indexes_total{status="failed",backoffLimit="perIndex"} 2',
  ]);
});

test('ended Pods that still wear the finalizer come and go', async () => {
  const samples = await samplesAfter((metrics) => {
    const running = podOf({ uid: 'a' });
    const failed = podOf({ uid: 'a', phase: 'Failed' });
    const counted = podOf({ uid: 'a', phase: 'Failed', isUntracked: true });
    metrics.podChanged(undefined, running);
    metrics.podChanged(running, failed);
    metrics.podChanged(failed, failed);
    metrics.podChanged(failed, counted);
    metrics.podChanged(counted, undefined);
  });
  expect(samples).toEqual([
    'terminated_pods_tracking_finalizer_total{event="add"} 1',
    'terminated_pods_tracking_finalizer_total{event="delete"} 1',
  ]);
});

test('passes, creations, judgements and Jobs of others', async () => {
  const samples = await samplesAfter((metrics) => {
    metrics.synced(jobOf(), { action: 'pods_created', isSuccess: true, durationMs: 500 });
    metrics.created('new', 2, 1);
    metrics.judged(['Ignore', 'FailJob', 'Ignore']);
    metrics.added(jobOf({ managedBy: 'example.com/x' }));
    metrics.added(jobOf());
  });
  const labels = '{completion_mode="Indexed",result="success",action="pods_created"}';
  expect(samples).toEqual([
    `job_syncs_total${labels} 1`,
    `job_sync_duration_seconds_sum${labels} 0.5`,
    `job_sync_duration_seconds_count${labels} 1`,
    'job_pods_creation_total{reason="new",status="succeeded"} 2',
    'job_pods_creation_total{reason="new",status="failed"} 1',
    'pod_failures_handled_by_failure_policy_total{action="Ignore"} 2',
    'pod_failures_handled_by_failure_policy_total{action="FailJob"} 1',
    'jobs_by_external_controller_total{controller_name="example.com/x"} 1',
  ]);
});

test.each([
  ['TerminatingOrFailed', 0, 0, 'new'],
  ['TerminatingOrFailed', 0, 1, 'recreate_terminating_or_failed'],
  ['TerminatingOrFailed', 1, 0, 'recreate_terminating_or_failed'],
  ['Failed', 1, 1, 'recreate_failed'],
  ['Failed', 0, 0, 'new'],
] as const)(
  'under %s with %i failed and %i terminating Pods a creation is %s',
  (policy, failed, terminating, reason) => {
    const job = jobOf({ podReplacementPolicy: policy });
    expect(creationReason(job, failed, terminating)).toBe(reason);
  },
);
