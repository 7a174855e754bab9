import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import type { JobSetSpec } from '../jobset.ts';
import { DEFAULT_SIZE_LIMITS, DEFINITION_LIMITS, type SizeLimits } from '../size-limits.ts';
import { sizeErrors } from './size.ts';
import { validateJobSetCreate, validateJobSetUpdate } from './validation.ts';

const LIMITS: SizeLimits = { maxJobs: 10, maxPods: 100 };

/** ReplicatedJobs by their replicas, and the parallelism of each. */
function sized(
  ...sizes: readonly (readonly [replicas: number, parallelism?: number])[]
): JobSetSpec {
  return {
    replicatedJobs: sizes.map(([replicas, parallelism], i) =>
      replicatedJob(`w${i}`, parallelism, replicas),
    ),
  };
}

describe('the size of a JobSet', () => {
  test.each<readonly [string, JobSetSpec, readonly number[]]>([
    ['no Jobs at all', {}, []],
    ['as many Jobs as there may be', sized([10]), []],
    ['one Job more', sized([11]), [11]],
    ['one Job more in two ReplicatedJobs', sized([5], [6]), [11]],
    ['as many Pods as there may be', sized([2, 50]), []],
    ['one Pod more', sized([2, 50], [1]), [101]],
    ['too many of both', sized([11, 10]), [11, 110]],
    ['negative numbers that seem to make room', sized([9, 50], [1, -400]), [450]],
    ['numbers whose product is no int32', sized([2_000_000_000, 2_000_000_000]), [2e9, 4e18]],
  ])('is judged: %s', (_what, spec, values) => {
    const errors = sizeErrors(withDefaults(spec), LIMITS);
    expect(errors.map(({ badValue }) => badValue)).toEqual(values);
  });

  test.each<readonly [string, JobSetSpec, JobSetSpec, number]>([
    ['may stay too large', sized([20]), sized([20]), 0],
    ['may shrink and stay too large', sized([20]), sized([15]), 0],
    ['may not grow', sized([20]), sized([21]), 1],
    ['may not grow in Pods while it shrinks in Jobs', sized([20, 6]), sized([19, 7]), 1],
  ])('of a stored JobSet %s', (_what, before, after, count) => {
    expect(sizeErrors(withDefaults(after), LIMITS, withDefaults(before))).toHaveLength(count);
  });

  test('is reported with field, value, limit, and the source of the limit', () => {
    const told = (limits: SizeLimits): string =>
      JSON.stringify(sizeErrors(withDefaults(sized([200_000])), limits)[0]);
    expect(told(DEFAULT_SIZE_LIMITS)).toBe(
      '{"type":"FieldValueInvalid","field":"spec.replicatedJobs","badValue":200000,' +
        '"detail":"the sum of replicas must not exceed 20000 (limits.maxJobs of the operator)"}',
    );
    expect(told(DEFINITION_LIMITS)).toContain('the sum of replicas must not exceed 100000"');
  });
});

describe('a JobSet that was stored too large', () => {
  const stored = storedJobSet(sized([30_000]));
  const update = (spec: JobSetSpec) =>
    validateJobSetUpdate(stored, { ...stored, spec }, DEFAULT_FEATURE_GATES, DEFAULT_SIZE_LIMITS);

  test('is refused as a new one', () => {
    const found = validateJobSetCreate(
      stored,
      DEFAULT_FEATURE_GATES,
      undefined,
      DEFAULT_SIZE_LIMITS,
    );
    expect(found.map(({ badValue }) => badValue)).toEqual([30_000]);
  });

  test.each([
    ['be suspended', { ...sized([30_000]), suspend: true }],
    ['shrink', sized([20_000])],
    ['shrink and stay too large', sized([25_000])],
  ])('may %s', (_what, spec) => {
    expect(update(spec)).toEqual([]);
  });

  test('may not grow', () => {
    expect(update(sized([30_001]))).toMatchObject([{ badValue: 30_001 }]);
  });
});
