import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { jobOf, podOf, uids } from './job.fixture.ts';
import { claimPods, wouldAdopt } from './pod-claims.ts';

const JOB = jobOf({ selector: { matchLabels: { app: 'x' } } });

function labelled(uid: string, labels: StringMap, more: object = {}): Stored<Pod> {
  const pod = podOf({ uid });
  return { ...pod, metadata: { ...pod.metadata, labels, ...more } };
}

function withMetadata(job: Stored<Job>, more: object): Stored<Job> {
  return { ...job, metadata: { ...job.metadata, ...more } };
}

test('a Job adopts what it selects, and disowns what it selects no more', () => {
  const controlled = [labelled('own', { app: 'x' }), labelled('lost', { app: 'y' })];
  const orphans = [
    labelled('found', { app: 'x' }),
    labelled('strange', {}),
    labelled('going', { app: 'x' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ];
  const claims = claimPods(JOB, controlled, orphans);
  expect([uids(claims.own), uids(claims.adopted), uids(claims.disowned)]).toEqual([
    ['own'],
    ['found'],
    ['lost'],
  ]);
});

test('a Job that is being deleted neither adopts nor disowns', () => {
  const deleting = withMetadata(JOB, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const claims = claimPods(
    deleting,
    [labelled('own', { app: 'x' }), labelled('lost', { app: 'y' })],
    [labelled('found', { app: 'x' })],
  );
  expect([uids(claims.own), claims.adopted, claims.disowned]).toEqual([['own'], [], []]);
});

test('a finished Job keeps what it controls, and adopts nothing', () => {
  const status = { conditions: [{ type: 'Failed', status: 'True' }] } as const;
  const claims = claimPods(
    { ...JOB, status },
    [labelled('own', { app: 'x' }), labelled('lost', { app: 'y' })],
    [labelled('found', { app: 'x' })],
  );
  expect([uids(claims.own), claims.adopted, claims.disowned]).toEqual([['own', 'lost'], [], []]);
});

const OURS = 'kubernetes.io/job-controller';
const COMPLETE = { conditions: [{ type: 'Complete', status: 'True' }] } as const;

test.each<[name: string, job: Stored<Job>, adopts: boolean]>([
  ['that selects it', JOB, true],
  ['of another namespace', withMetadata(JOB, { namespace: 'other' }), false],
  [
    'that is being deleted',
    withMetadata(JOB, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    false,
  ],
  ['that is finished', { ...JOB, status: COMPLETE }, false],
  ['of another controller', jobOf({ ...JOB.spec, managedBy: 'example.com/x' }), false],
  ['that names this controller', jobOf({ ...JOB.spec, managedBy: OURS }), true],
  ['that selects nothing', jobOf(), false],
])('a Pod without a controller is offered to a Job %s: %#', (_name, job, adopts) => {
  expect(wouldAdopt(job, labelled('a', { app: 'x' }))).toBe(adopts);
});
