import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob } from '../../test/fixtures/jobset-objects.ts';
import type { Job } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import { classifyJobs } from './child-jobs.ts';
import { withDefaults } from './defaults.ts';
import type { JobSetSpec, SuccessPolicy } from './jobset.ts';
import { headlessService } from './network.ts';
import { replicatedJobsStatus } from './replicated-jobs-status.ts';
import { mayCreateJobs, restartsInPlace } from './restart-strategy.ts';
import { meetsSuccessPolicy } from './success-policy.ts';

const JOBS = [replicatedJob('a', 1, 2), replicatedJob('b')];
const [A0, A1, B0] = [
  storedJob('train-a-0', 'a'),
  storedJob('train-a-1', 'a', { index: 1 }),
  storedJob('train-b-0', 'b'),
];

describe('success policy', () => {
  const only = (operator: SuccessPolicy['operator'], ...targets: string[]): SuccessPolicy => ({
    operator,
    targetReplicatedJobs: targets,
  });
  test.each([
    ['no policy asks for all', undefined, [A0, A1], false],
    ['no policy is met by all', undefined, [A0, A1, B0], true],
    ['All of one ReplicatedJob', only('All', 'a'), [A0, A1], true],
    ['All of one ReplicatedJob, one missing', only('All', 'a'), [A0, B0], false],
    ['Any', only('Any'), [B0], true],
    ['Any of one ReplicatedJob, another succeeded', only('Any', 'a'), [B0], false],
    ['Any, nothing succeeded', only('Any'), [], false],
  ])('%s', (_behaviour, successPolicy, successful, expected) => {
    const spec = {
      replicatedJobs: JOBS,
      ...(successPolicy === undefined ? {} : { successPolicy }),
    };
    expect(meetsSuccessPolicy(withDefaults(spec), successful)).toBe(expected);
  });

  test.each(['All', 'Any'] as const)('%s is met by a JobSet without any Job', (operator) => {
    const none = withDefaults({
      replicatedJobs: [replicatedJob('a', 1, 0)],
      successPolicy: { operator },
    });
    expect(meetsSuccessPolicy(none, [])).toBe(true);
    expect(meetsSuccessPolicy(withDefaults({ successPolicy: { operator } }), [])).toBe(true);
  });
});

describe('child Jobs', () => {
  const failed = { conditions: [{ type: 'Failed', status: 'True' }] } as const;
  test('are sorted by attempt and condition', () => {
    const jobs = [
      storedJob('old', 'a', { attempt: 1, status: failed }),
      storedJob('new', 'a', { attempt: 3 }),
      storedJob('failing', 'a', {
        attempt: 2,
        status: { conditions: [{ type: 'FailureTarget', status: 'True' }] },
      }),
      storedJob('failed', 'a', { attempt: 2, status: failed }),
      storedJob('done', 'a', {
        attempt: 2,
        status: { conditions: [{ type: 'Complete', status: 'True' }] },
      }),
      storedJob('odd', 'a', {
        metadata: { labels: { 'jobset.sigs.k8s.io/restart-attempt': 'x' } },
      }),
      storedJob('bare', 'a', { metadata: { labels: {} } }),
    ];
    const { unreadable, ...readable } = classifyJobs(jobs, 2);
    const names = (list: readonly Stored<Job>[]): readonly string[] =>
      list.map(({ metadata }) => metadata.name);
    const label = 'label jobset.sigs.k8s.io/restart-attempt of Job';
    expect(names(readable.previous)).toEqual(['old']);
    expect(names(readable.active)).toEqual(['new', 'failing']);
    expect(names(readable.successful)).toEqual(['done']);
    expect(names(readable.failed)).toEqual(['failed']);
    expect(unreadable.map(({ problem }) => problem)).toEqual([
      `${label} odd is "x", expected an integer`,
      `${label} bare is missing, expected an integer`,
    ]);
  });

  test('are counted by ReplicatedJob, in descending order of names', () => {
    const jobs = classifyJobs(
      [
        storedJob('train-a-0', 'a', { pods: 2, status: { active: 2, ready: 1, succeeded: 1 } }),
        storedJob('train-a-1', 'a', { pods: 2, status: { active: 2, ready: 1 }, suspend: true }),
        storedJob('train-b-0', 'b', {
          status: { conditions: [{ type: 'Complete', status: 'True' }] },
        }),
        storedJob('unknown', 'x'),
        storedJob('previous', 'b', { attempt: -1 }),
      ],
      0,
    );
    const old = [
      { name: 'a', ready: 9, succeeded: 9, failed: 9, active: 9, suspended: 9, syncedEpoch: 4 },
    ];
    expect(
      replicatedJobsStatus(withDefaults({ replicatedJobs: JOBS }).replicatedJobs, jobs, old),
    ).toEqual([
      { name: 'b', ready: 0, succeeded: 1, failed: 0, active: 0, suspended: 0 },
      { name: 'a', ready: 1, succeeded: 0, failed: 0, active: 2, suspended: 1, syncedEpoch: 4 },
    ]);
  });
});

describe('restart strategy', () => {
  const strategy = (restartStrategy: 'Recreate' | 'BlockingRecreate' | 'InPlaceRestart') =>
    withDefaults({ failurePolicy: { restartStrategy } });
  const lingering = classifyJobs([storedJob('old', 'a', { attempt: -1 })], 0);

  test('only BlockingRecreate waits for all previous Jobs to be gone', () => {
    expect(mayCreateJobs(strategy('Recreate'), lingering)).toBe(true);
    expect(mayCreateJobs(strategy('InPlaceRestart'), lingering)).toBe(true);
    expect(mayCreateJobs(strategy('BlockingRecreate'), lingering)).toBe(false);
    expect(mayCreateJobs(strategy('BlockingRecreate'), classifyJobs([], 0))).toBe(true);
  });

  test('restarts are in place until the annotation or a missing policy bypasses them', () => {
    expect(restartsInPlace(strategy('InPlaceRestart'), undefined)).toBe(true);
    expect(restartsInPlace(strategy('Recreate'), undefined)).toBe(false);
    expect(restartsInPlace(withDefaults({}), undefined)).toBe(false);
    const bypass = { 'jobset.sigs.k8s.io/disable-in-place-restart': '' };
    expect(restartsInPlace(strategy('InPlaceRestart'), bypass)).toBe(false);
  });
});

describe('network', () => {
  const OWNER = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train', uid: 'u' };
  const service = (network: NonNullable<JobSetSpec['network']>) =>
    headlessService({ name: 'train', namespace: 'ml' }, withDefaults({ network }), OWNER);

  test('is a headless Service without ports, named as the subdomain', () => {
    expect(service({ publishNotReadyAddresses: false, subdomain: 'net' })).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'net', namespace: 'ml', ownerReferences: [OWNER] },
      spec: {
        clusterIP: 'None',
        selector: { 'jobset.sigs.k8s.io/jobset-name': 'train' },
        publishNotReadyAddresses: false,
      },
    });
  });

  test('is none if the JobSet wants no host names', () => {
    expect(service({ enableDNSHostnames: false })).toBeUndefined();
  });
});
