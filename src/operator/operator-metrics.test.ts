import { expect, test } from 'vitest';
import { createMetrics } from '../runtime/metrics.ts';
import { operatorMetrics } from './operator-metrics.ts';

test('counts outcomes by JobSet and cause, and the phases of restarts', async () => {
  const metrics = createMetrics();
  const { observe } = operatorMetrics(metrics);
  const of = { namespace: 'ml', name: 'train' };
  observe(of, { kind: 'EpochEnded', cause: 'WorkerFailed', counted: true, detectMs: 40 });
  observe(of, { kind: 'EpochReleased', announceMs: 300, releaseMs: 20 });
  observe(of, { kind: 'EpochEnded', cause: 'Resumed', counted: false });
  observe(of, { kind: 'JobsRestarted', counted: true });
  observe(of, { kind: 'EpochEnded', cause: 'JobsRecreated', counted: true });
  observe(of, { kind: 'Failed' });
  observe(of, { kind: 'Completed' });

  const { body } = await metrics.handler({
    method: 'GET',
    path: '/metrics',
    headers: {},
    signal: new AbortController().signal,
  });
  const lines = Buffer.from(body as Uint8Array)
    .toString()
    .split('\n');
  const labels = 'jobset_name="train",namespace="ml"';
  expect(lines).toEqual(
    expect.arrayContaining([
      `jobset_completed_total{${labels}} 1`,
      `jobset_failed_total{${labels}} 1`,
      `lockstep_restarts_total{${labels},cause="WorkerFailed",counted="true"} 1`,
      `lockstep_restarts_total{${labels},cause="Resumed",counted="false"} 1`,
      `lockstep_restarts_total{${labels},cause="JobFailed",counted="true"} 1`,
      'lockstep_restart_phase_seconds_sum{phase="detect"} 0.04',
      'lockstep_restart_phase_seconds_sum{phase="announce"} 0.3',
      'lockstep_restart_phase_seconds_sum{phase="release"} 0.02',
    ]),
  );
  expect(lines.join('\n')).not.toContain('JobsRecreated');
});
