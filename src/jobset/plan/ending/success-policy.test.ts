import { describe, expect, test } from 'vitest';
import { replicatedJob } from '../../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../../defaults.ts';
import type { SuccessPolicy } from '../../jobset.ts';
import { meetsSuccessPolicy } from './success-policy.ts';

describe('success policy', () => {
  const only = (operator: SuccessPolicy['operator'], ...targets: string[]): SuccessPolicy => ({
    operator,
    targetReplicatedJobs: targets,
  });
  test.each([
    ['no policy asks for all', undefined, { a: 2 }, false],
    ['no policy is met by all', undefined, { a: 2, b: 1 }, true],
    ['All of one ReplicatedJob', only('All', 'a'), { a: 2 }, true],
    ['All of one ReplicatedJob, one missing', only('All', 'a'), { a: 1, b: 1 }, false],
    ['Any', only('Any'), { b: 1 }, true],
    ['Any of one ReplicatedJob, another succeeded', only('Any', 'a'), { b: 1 }, false],
    ['Any, nothing succeeded', only('Any'), {}, false],
  ])('%s', (_behaviour, successPolicy, succeeded, expected) => {
    const spec = {
      replicatedJobs: [replicatedJob('a', 1, 2), replicatedJob('b')],
      ...(successPolicy === undefined ? {} : { successPolicy }),
    };
    const counts = new Map(Object.entries(succeeded));
    expect(meetsSuccessPolicy(withDefaults(spec), counts)).toBe(expected);
  });

  test.each(['All', 'Any'] as const)('%s is met by a JobSet with zero replicas', (operator) => {
    const none = withDefaults({
      replicatedJobs: [replicatedJob('a', 1, 0)],
      successPolicy: { operator },
    });
    expect(meetsSuccessPolicy(none, new Map())).toBe(true);
    expect(meetsSuccessPolicy(withDefaults({ successPolicy: { operator } }), new Map())).toBe(true);
  });
});
