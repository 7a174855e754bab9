import { describe, expect, it } from 'vitest';
import type { JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { asRecorded, toRecord } from './recorded-annotations.ts';

function jobSet(annotations: Record<string, string>, status?: JobSetStatus): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train', annotations },
    spec: { failurePolicy: { restartStrategy: 'Recreate', maxRestarts: 1 } },
    ...(status && { status }),
  };
}

describe('a JobSet with recorded annotations', () => {
  const recordedAnnotations = {
    'lockstep/restart-strategy': 'InPlaceRestart',
    'lockstep/progress-timeout': '5m',
    'lockstep/keep-failed': '1h',
    'lockstep/restart-epoch': '1',
    'example.com/other': 'x',
  };

  it('is read with them: fields by the record alone, others weaker than its own', () => {
    const own = { 'lockstep/restart-strategy': 'BlockingRecreate', 'lockstep/keep-failed': 'Off' };
    const read = asRecorded(jobSet(own, { restarts: 0, recordedAnnotations }));
    expect(read.spec.failurePolicy).toEqual({ restartStrategy: 'InPlaceRestart', maxRestarts: 1 });
    expect(read.metadata.annotations).toEqual({ ...own, 'lockstep/progress-timeout': '5m' });
    expect(asRecorded(read)).toBe(read);
  });

  it('is left as it is without a record, or with one that says nothing', () => {
    for (const record of [
      undefined,
      {},
      { 'lockstep/max-restarts': 'many' },
      null,
      'x',
      { 'lockstep/max-restarts': 1 },
    ]) {
      const status = { restarts: 0, recordedAnnotations: record } as JobSetStatus;
      const given = jobSet({ 'lockstep/max-restarts': '9' }, status);
      expect(asRecorded(given)).toBe(given);
    }
  });
});

describe('the first status', () => {
  it.each<[string, Record<string, string>, Record<string, string>, Record<string, string>]>([
    ['records nothing of a JobSet without annotations', {}, {}, {}],
    [
      'records fields that are not in the spec',
      { 'lockstep/restart-strategy': 'InPlaceRestart', 'lockstep/max-restarts': '1' },
      {},
      { 'lockstep/restart-strategy': 'InPlaceRestart' },
    ],
    [
      'records defaults that it lacks',
      { 'lockstep/keep-failed': '1h' },
      { 'lockstep/progress-timeout': '5m' },
      { 'lockstep/progress-timeout': '5m' },
    ],
    ['records no wrong value', { 'lockstep/max-restarts': 'many' }, {}, {}],
  ])('%s', (_, own, defaults, expected) => {
    expect(toRecord(jobSet(own), jobSet({ ...own, ...defaults }))).toEqual(expected);
  });
});
