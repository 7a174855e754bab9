import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { EXECUTION_ATTEMPT } from '../names.ts';
import { resumeOf } from './job-resume.ts';

const SUSPENDED = { conditions: [{ type: 'Suspended', status: 'True' }] } as const;
const JOB = storedJob('train-w-0', 'w', {
  suspend: true,
  status: { ...SUSPENDED, startTime: '2026-01-01T00:00:00Z' },
});
const TOLERATION = { key: 'gpu', operator: 'Exists', tolerationSeconds: 5 } as const;

interface Template {
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly spec?: Partial<PodSpec>;
}

function withTemplate(job: Stored<Job>, { labels, annotations, spec }: Template): Stored<Job> {
  const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) };
  const template = { metadata, spec: { ...job.spec.template.spec, ...spec } };
  return { ...job, spec: { ...job.spec, template } };
}

/** The patch of the template, or why there is none. */
function templatePatch(present: Template, wanted: Template): unknown {
  const resume = resumeOf(withTemplate(JOB, present), withTemplate(JOB, wanted), true);
  return resume.kind === 'Resume' ? resume.patch.spec['template'] : resume.kind;
}

describe('resuming a Job', () => {
  test('only unsuspends it if its template is what it should be', () => {
    expect(resumeOf(JOB, JOB, true)).toEqual({
      kind: 'Resume',
      clearsStartTime: false,
      changesResources: false,
      patch: { spec: { suspend: false } },
    });
  });

  test('brings what may change while it is suspended, and clears the start time for it', () => {
    const desired = withTemplate(JOB, {
      labels: { queue: 'a' },
      annotations: { note: 'b' },
      spec: {
        nodeSelector: { pool: 'x' },
        tolerations: [TOLERATION],
        schedulingGates: [{ name: 'g' }],
      },
    });
    expect(resumeOf(JOB, desired, true)).toEqual({
      kind: 'Resume',
      clearsStartTime: true,
      changesResources: false,
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

  const STARTED = { startTime: '2026-01-01T00:00:00Z' };
  test.each<[string, JobStatus, string | undefined, string]>([
    ['that has not started', {}, undefined, 'Resume'],
    ['that has started and is not told to be suspended', STARTED, undefined, 'Wait'],
    ['that is told to be suspended', { ...STARTED, ...SUSPENDED }, undefined, 'Resume'],
    ['whose Pods are still there', { ...SUSPENDED, active: 1 }, undefined, 'Wait'],
    ['of the Job controller by name', STARTED, 'kubernetes.io/job-controller', 'Wait'],
    ['of another manager', STARTED, 'kueue.x-k8s.io/multikueue', 'Resume'],
    ['of another manager that runs it', { active: 1 }, 'kueue.x-k8s.io/multikueue', 'Wait'],
  ])('changes a Job %s only when Kubernetes takes that', (_which, status, managedBy, kind) => {
    const spec = { ...JOB.spec, ...(managedBy && { managedBy }) };
    const job = { ...JOB, spec, status };
    const desired = withTemplate(job, { spec: { nodeSelector: { pool: 'x' } } });
    expect(resumeOf(job, desired, true)).toMatchObject(
      kind === 'Wait' ? { kind } : { kind, clearsStartTime: status.startTime !== undefined },
    );
    expect(resumeOf(job, job, true), 'nothing to change').toMatchObject({ kind: 'Resume' });
  });

  test('rebuilds instead of merging: what was removed from the template disappears (8.2)', () => {
    const present = {
      labels: { queue: 'a', old: 'x' },
      annotations: { note: 'b' },
      spec: {
        nodeSelector: { pool: 'x', zone: 'z' },
        tolerations: [TOLERATION],
        schedulingGates: [{ name: 'g' }],
      },
    };
    const wanted = { labels: { queue: 'a' }, spec: { nodeSelector: { pool: 'y' } } };
    expect(templatePatch(present, wanted)).toEqual({
      metadata: { labels: { old: null }, annotations: null },
      spec: { nodeSelector: { pool: 'y', zone: null }, tolerations: null, schedulingGates: null },
    });
  });

  test('keeps the labels that Kubernetes adds to every Job', () => {
    const added = {
      'batch.kubernetes.io/controller-uid': 'u',
      'batch.kubernetes.io/job-name': 'j',
      'controller-uid': 'u',
      'job-name': 'j',
    };
    expect(templatePatch({ labels: { ...added, a: 'b' } }, { labels: { a: 'b' } })).toBeUndefined();
  });

  test('does not repeat existing values in another order of keys', () => {
    const present = { tolerationSeconds: 5, operator: 'Exists', key: 'gpu' } as const;
    const patch = templatePatch(
      { spec: { tolerations: [present] } },
      { spec: { tolerations: [TOLERATION] } },
    );
    expect(patch).toBeUndefined();
  });

  test('records the run in the Job', () => {
    const metadata = { ...JOB.metadata, annotations: { [EXECUTION_ATTEMPT]: '2' } };
    expect(resumeOf(JOB, { ...JOB, metadata }, true)).toMatchObject({
      patch: { metadata: { annotations: { [EXECUTION_ATTEMPT]: '2' } } },
    });
  });
});

describe('container resources of a suspended JobSet (KEP-1150)', () => {
  const main = (resources: Container['resources']): Partial<PodSpec> => ({
    containers: [
      { name: 'main', image: 'i', ...(resources && { resources }) },
      { name: 'side', image: 's' },
    ],
  });

  test('reach the Job, container by container, and nothing else of them does', () => {
    const wanted = main({ requests: { cpu: '2' } });
    const patch = templatePatch({ spec: main({ requests: { cpu: '1' } }) }, { spec: wanted });
    expect(patch).toEqual({ spec: wanted });
    const otherImage = { containers: [{ name: 'main', image: 'new' }] };
    expect(templatePatch({ spec: main(undefined) }, { spec: otherImage })).toBeUndefined();
  });

  test.each([
    ['another text of the same amount', { limits: { cpu: '1000m' } }, { limits: { cpu: '1' } }],
    [
      'a request that the API server took from the limit',
      { limits: { cpu: '1' }, requests: { cpu: '1' } },
      { limits: { cpu: '1' } },
    ],
  ])('do not change by %s', (_what, present, wanted) => {
    expect(templatePatch({ spec: main(present) }, { spec: main(wanted) })).toBeUndefined();
  });

  test('are marked, because Kubernetes may refuse them, and left out without the gate', () => {
    const present = withTemplate(JOB, { spec: main(undefined) });
    const desired = withTemplate(JOB, { spec: main({ limits: { cpu: '1' } }) });
    expect(resumeOf(present, desired, true)).toMatchObject({ changesResources: true });
    expect(resumeOf(present, desired, false)).toMatchObject({
      changesResources: false,
      patch: { spec: { suspend: false } },
    });
  });
});
