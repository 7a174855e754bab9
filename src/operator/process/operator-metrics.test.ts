import { createMetrics, type Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { expect, test } from 'vitest';
import { operatorMetrics } from './operator-metrics.ts';

async function linesOf(metrics: Metrics): Promise<readonly string[]> {
  const { body } = await metrics.handler({
    method: 'GET',
    path: '/metrics',
    headers: {},
    signal: new AbortController().signal,
  });
  return Buffer.from(body as Uint8Array)
    .toString()
    .split('\n');
}

const OF = { namespace: 'ml', name: 'train' };
const LABELS = 'jobset_name="train",namespace="ml"';

test('metrics count outcomes by JobSet, restarts by cause, and the phases of restarts', async () => {
  const metrics = createMetrics();
  const { observe, forcedDeletion } = operatorMetrics(metrics);
  forcedDeletion('LostNodeDeadline');
  observe(OF, { kind: 'EpochEnded', cause: 'WorkerFailed', counted: true, detectMs: 40 });
  observe(OF, { kind: 'EpochReleased', announceMs: 300, backoffMs: 1000, releaseMs: 1020 });
  observe(OF, { kind: 'EpochEnded', cause: 'Resumed', counted: false });
  observe(OF, { kind: 'JobsRestarted', counted: true });
  observe(OF, { kind: 'EpochEnded', cause: 'JobsRecreated', counted: true });
  observe(OF, { kind: 'Failed' });
  observe(OF, { kind: 'Completed' });

  const lines = await linesOf(metrics);
  expect(lines).toEqual(
    expect.arrayContaining([
      `jobset_completed_total{${LABELS}} 1`,
      `jobset_failed_total{${LABELS}} 1`,
      'lockstep_restarts_total{cause="WorkerFailed",counted="true"} 1',
      'lockstep_restarts_total{cause="Resumed",counted="false"} 1',
      'lockstep_restarts_total{cause="JobFailed",counted="true"} 1',
      'lockstep_forced_pod_deletions_total{reason="LostNodeDeadline"} 1',
      'lockstep_restart_phase_seconds_sum{phase="detect"} 0.04',
      'lockstep_restart_phase_seconds_sum{phase="announce"} 0.3',
      'lockstep_restart_phase_seconds_sum{phase="backoff"} 1',
      'lockstep_restart_phase_seconds_sum{phase="release"} 0.02',
    ]),
  );
  expect(lines.join('\n')).not.toContain('JobsRecreated');
});

test('time has a series for each class from the start, so that the first increase shows', async () => {
  const metrics = createMetrics();
  const { observe } = operatorMetrics(metrics);
  observe(OF, { kind: 'TimeAccounted', ms: { Lost: 1500, Starting: 250 } });
  const lines = await linesOf(metrics);
  const series = lines.filter((line) => line.startsWith('lockstep_goodput_seconds_total{'));
  expect(series.toSorted()).toEqual([
    'lockstep_goodput_seconds_total{class="Hung"} 0',
    'lockstep_goodput_seconds_total{class="Lost"} 1.5',
    'lockstep_goodput_seconds_total{class="Productive"} 0',
    'lockstep_goodput_seconds_total{class="Restarting"} 0',
    'lockstep_goodput_seconds_total{class="Running"} 0',
    'lockstep_goodput_seconds_total{class="Starting"} 0.25',
    'lockstep_goodput_seconds_total{class="Suspended"} 0',
    'lockstep_goodput_seconds_total{class="Waiting"} 0',
  ]);
});

test('keeps no series of a JobSet that is deleted: no unbounded label', async () => {
  const metrics = createMetrics();
  const { observe, forget } = operatorMetrics(metrics);
  observe(OF, { kind: 'Failed' });
  observe({ namespace: 'ml', name: 'other' }, { kind: 'Completed' });
  forget(OF);
  forget({ namespace: 'ml', name: 'never-seen' });
  const text = (await linesOf(metrics)).join('\n');
  expect(text).not.toContain('train');
  expect(text).toContain('jobset_completed_total{jobset_name="other",namespace="ml"} 1');
});
