import { type ApiStatusError, failure } from '@lockstep/kube/status.ts';
import { describe, expect, it } from 'vitest';
import type { JobSet } from '../../jobset/jobset.ts';
import type { FinalState } from './final-state.ts';
import { isNamed, unexplained } from './judgment.ts';

const IN_PLACE: JobSet = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'train' },
  spec: { failurePolicy: { restartStrategy: 'InPlaceRestart' } },
};
const WARNED: JobSet = {
  ...IN_PLACE,
  spec: { ...IN_PLACE.spec, coordinator: { replicatedJob: 'a' } },
};
const TAKEN_OUT: JobSet = { ...IN_PLACE, spec: {} };

const STATE: FinalState = {
  jobSet: { conditions: [] },
  jobs: { 'train-a-0': { metadata: { labels: { tier: 'a' } }, status: { counts: [1, 1, 0, 0] } } },
  pods: { 'a/0/0': [{ spec: { hostname: 'a' }, phase: 'Running', isEnding: false }] },
  others: {},
  running: ['a/0/0'],
};
/** Its Job and its Pod are made of an older template. */
const OLDER: FinalState = {
  ...STATE,
  jobs: { 'train-a-0': { metadata: { labels: { tier: 'b' } }, status: { counts: [1, 1, 0, 0] } } },
  pods: { 'a/0/0': [{ spec: { hostname: 'b' }, phase: 'Running', isEnding: false }] },
};

describe('a changed group', () => {
  it('keeps what its Jobs and Pods were made with only where its user is warned', () => {
    expect(unexplained('Running', [IN_PLACE, WARNED], [STATE, OLDER])).toEqual([]);
    expect(unexplained('Running', [IN_PLACE, IN_PLACE], [STATE, OLDER])).toEqual([
      'replace /jobs/train-a-0/metadata/labels/tier "b"',
      'replace /pods/a~10~10/0/spec/hostname "b"',
    ]);
  });

  it.each<[string, Partial<FinalState>]>([
    ['workers', { running: [] }],
    ['conditions', { jobSet: { conditions: ['Failed FailedJobs'] } }],
    ['Jobs', { jobs: {} }],
    ['counts', { jobs: { 'train-a-0': { status: { counts: [1, 0, 0, 0] } } } }],
    ['Pods', { pods: {} }],
    ['Services', { others: { 'Service train': { spec: { clusterIP: 'None' } } } }],
    ['phases', { pods: { 'a/0/0': [{ phase: 'Pending', isEnding: false }] } }],
  ])('has the same %s as a new one, whatever its user is warned of', (_what, other) => {
    expect(unexplained('Running', [IN_PLACE, WARNED], [STATE, { ...STATE, ...other }])).not.toEqual(
      [],
    );
  });

  it('says that it is taken out of restarts in place, and has the same workers', () => {
    const out: FinalState = {
      ...OLDER,
      jobSet: {
        conditions: ['InPlaceRestartBypassed StrategyChanged'],
        restartMode: 'Supervisor',
      },
    };
    const change = [IN_PLACE, TAKEN_OUT] as const;
    expect(unexplained('Running', change, [STATE, out])).toEqual([]);
    expect(unexplained('Running', change, [STATE, OLDER])).toEqual([
      'the condition InPlaceRestartBypassed is not True',
    ]);
    expect(unexplained('Finished', change, [STATE, OLDER])).toEqual([]);
    expect(unexplained('Running', change, [STATE, { ...out, running: [] }])).toEqual([
      'remove /running/0',
    ]);
  });

  it('may keep its Jobs where none of its spec can be made, if no worker runs', () => {
    const refused: FinalState = {
      ...STATE,
      jobSet: { conditions: ['JobsRefused CreateFailed'] },
      running: [],
    };
    const change = [IN_PLACE, IN_PLACE] as const;
    expect(unexplained('Suspended', change, [{ ...refused, jobs: {} }, refused])).toEqual([]);
    expect(
      unexplained('Suspended', change, [
        { ...refused, jobs: {} },
        { ...refused, running: ['a/0/0'] },
      ]),
    ).not.toEqual([]);
    expect(unexplained('Suspended', change, [STATE, refused])).not.toEqual([]);
  });
});

describe('a refusal', () => {
  const refusal = (message: string, ...fields: readonly string[]): ApiStatusError =>
    failure('Invalid', message, { causes: fields.map((field) => ({ field })) });

  it.each([
    ['/spec/network/subdomain', 'is invalid', 'spec.network.subdomain'],
    ['/spec/network/subdomain', 'is invalid', 'spec.network'],
    ['/spec/network/subdomain', 'the subdomain is immutable', 'spec'],
    ['/spec/replicatedJobs/0/name', 'names are immutable', 'spec.replicatedJobs'],
    ['/metadata/annotations/lockstep~1standby', 'lockstep/standby is Warm', 'spec'],
  ])('names %s by "%s" about %s', (path, message, field) => {
    expect(isNamed(path, refusal(message, field))).toBe(true);
  });

  it.each([
    ['/spec/network/subdomain', 'is invalid', 'spec'],
    ['/spec/replicatedJobs/0/name', 'a container named so', 'spec.other'],
    ['/spec/replicatedJobs/0/template/spec/suspend', 'is invalid', 'spec.replicatedJobs'],
    ['/metadata/annotations/lockstep~1standby', 'the standby-count is wrong', 'spec'],
  ])('does not name %s by "%s" about %s', (path, message, field) => {
    expect(isNamed(path, refusal(message, field))).toBe(false);
  });
});
