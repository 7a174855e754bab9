import { describe, expect, it } from 'vitest';
import type { FailurePolicy, JobSet } from '../jobset.ts';
import { fieldAnnotationErrors, withFieldsOf } from './field-annotations.ts';

const STRATEGY = 'lockstep/restart-strategy';
const MAX = 'lockstep/max-restarts';

function jobSet(failurePolicy?: unknown, annotations = {}): JobSet {
  const metadata = { name: 'train', annotations };
  const spec = failurePolicy === undefined ? {} : { failurePolicy: failurePolicy as FailurePolicy };
  return { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata, spec };
}

describe('annotations that set fields', () => {
  it.each<[string, unknown, Record<string, string>, unknown]>([
    ['none', undefined, {}, undefined],
    [
      'a strategy, where there is no policy',
      undefined,
      { [STRATEGY]: 'InPlaceRestart' },
      { restartStrategy: 'InPlaceRestart' },
    ],
    ['a number, where there is no policy', undefined, { [MAX]: '3' }, { maxRestarts: 3 }],
    [
      'both, over what a wrapper filled in',
      { restartStrategy: 'Recreate', maxRestarts: 0, rules: [] },
      { [STRATEGY]: 'InPlaceRestart', [MAX]: '10' },
      { restartStrategy: 'InPlaceRestart', maxRestarts: 10, rules: [] },
    ],
    [
      'a strategy over a chosen one',
      { restartStrategy: 'InPlaceRestart' },
      { [STRATEGY]: 'Recreate' },
      { restartStrategy: 'Recreate' },
    ],
    ['wrong ones', { maxRestarts: 1 }, { [STRATEGY]: 'inplace', [MAX]: '-1' }, { maxRestarts: 1 }],
    ['over a policy of another shape', 'none', { [MAX]: '3' }, 'none'],
  ])('%s', (_, policy, annotations, expected) => {
    expect(withFieldsOf(jobSet(policy, annotations)).spec.failurePolicy).toEqual(expected);
  });

  it('returns the same object where nothing changes', () => {
    const given = jobSet({ maxRestarts: 3 }, { [MAX]: '3' });
    expect(withFieldsOf(given)).toBe(given);
  });

  it.each([
    [STRATEGY, 'InPlaceRestart', true],
    [STRATEGY, 'Recreate', true],
    [STRATEGY, 'BlockingRecreate', true],
    [STRATEGY, 'recreate', false],
    [STRATEGY, '', false],
    [MAX, '0', true],
    [MAX, '2147483647', true],
    [MAX, '2147483648', false],
    [MAX, '010', false],
    [MAX, '1.5', false],
    [MAX, '-1', false],
    [MAX, 'Off', false],
  ])('%s: %s is right: %s', (key, value, isRight) => {
    const errors = fieldAnnotationErrors({ [key]: value });
    expect(errors).toHaveLength(isRight ? 0 : 1);
    if (!isRight) expect(errors[0]?.field).toBe(`metadata.annotations[${key}]`);
  });
});
