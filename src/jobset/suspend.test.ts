import { describe, expect, test } from 'vitest';
import { storedJob } from '../../test/fixtures/jobset-objects.ts';
import type { PodTemplateSpec } from '../kube/pod.ts';
import { resumeOf } from './suspend.ts';

const JOB = storedJob('train-w-0', 'w', {
  suspend: true,
  status: { startTime: '2026-01-01T00:00:00Z' },
});
const TOLERATION = { key: 'gpu', operator: 'Exists', tolerationSeconds: 5 } as const;

describe('resuming a Job', () => {
  test('only unsuspends it if its template is what it should be', () => {
    expect(resumeOf(JOB, JOB.spec.template)).toEqual({
      clearsStartTime: false,
      patch: { spec: { suspend: false } },
    });
  });

  test('brings what may change while it is suspended, and clears the start time for it', () => {
    const desired: PodTemplateSpec = {
      metadata: { labels: { queue: 'a' }, annotations: { note: 'b' } },
      spec: {
        ...JOB.spec.template.spec,
        nodeSelector: { pool: 'x' },
        tolerations: [TOLERATION],
        schedulingGates: [{ name: 'g' }],
      },
    };
    expect(resumeOf(JOB, desired)).toEqual({
      clearsStartTime: true,
      patch: {
        spec: {
          suspend: false,
          template: {
            metadata: { labels: { queue: 'a' }, annotations: { note: 'b' } },
            spec: {
              nodeSelector: { pool: 'x' },
              tolerations: [TOLERATION],
              schedulingGates: [{ name: 'g' }],
            },
          },
        },
      },
    });
  });

  test('does not repeat what is there, whatever the order of its keys', () => {
    const present = { tolerationSeconds: 5, operator: 'Exists', key: 'gpu' } as const;
    const template = { spec: { ...JOB.spec.template.spec, tolerations: [present] } };
    const job = { ...JOB, spec: { ...JOB.spec, template } };
    const desired = { spec: { ...template.spec, tolerations: [TOLERATION] } };
    expect(resumeOf(job, desired).patch).toEqual({ spec: { suspend: false } });
  });
});
