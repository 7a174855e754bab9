import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import { defaultJobSet, withDefaults } from './defaults.ts';
import { DEFAULT_FEATURE_GATES } from './feature-gates.ts';
import type { JobSetSpec } from './jobset.ts';

const POD = { spec: { containers: [{ name: 'main' }] } };

function spec(job: Partial<JobSpec>, more: JobSetSpec = {}): JobSetSpec {
  return {
    replicatedJobs: [{ name: 'w', template: { spec: { template: POD, ...job } } }],
    ...more,
  };
}

function jobSpecOf(of: JobSetSpec): JobSpec | undefined {
  return withDefaults(of).replicatedJobs[0]?.template.spec;
}

/** The JobSet that the mutating webhook stores. */
describe('a new JobSet', () => {
  const stored = (of: unknown, gates = DEFAULT_FEATURE_GATES): unknown =>
    defaultJobSet(storedJobSet(of as JobSetSpec), gates).spec;

  test('is stored with upstream’s defaults, and with no others', () => {
    const given = {
      ...spec({}),
      failurePolicy: { rules: [{ action: 'FailJobSet' }, { name: '', action: 'FailJobSet' }] },
      volumeClaimPolicies: [{ templates: [] }, { retentionPolicy: { whenDeleted: 'Retain' } }],
    };
    expect(stored(given)).toEqual({
      replicatedJobs: [
        {
          name: 'w',
          template: {
            spec: {
              completionMode: 'Indexed',
              template: { spec: { ...POD.spec, restartPolicy: 'OnFailure' } },
            },
          },
        },
      ],
      network: { enableDNSHostnames: true, publishNotReadyAddresses: true },
      successPolicy: { operator: 'All' },
      startupPolicy: { startupPolicyOrder: 'AnyOrder' },
      failurePolicy: {
        rules: [
          { name: 'failurePolicyRule0', action: 'FailJobSet' },
          { name: 'failurePolicyRule1', action: 'FailJobSet' },
        ],
      },
      volumeClaimPolicies: [
        { templates: [], retentionPolicy: { whenDeleted: 'Delete' } },
        { retentionPolicy: { whenDeleted: 'Retain' } },
      ],
    });
  });

  test('without a spec gets one', () => {
    expect(stored(undefined)).toMatchObject({ successPolicy: { operator: 'All' } });
  });

  test('that restarts in place is stored with the needed defaults, unless the feature is off', () => {
    const given = spec({}, { failurePolicy: { restartStrategy: 'InPlaceRestart' } });
    expect(stored(given)).toMatchObject({
      replicatedJobs: [
        { template: { spec: { backoffLimit: 2_147_483_647, parallelism: 1, completions: 1 } } },
      ],
    });
    const off = { ...DEFAULT_FEATURE_GATES, InPlaceRestart: false };
    expect(JSON.stringify(stored(given, off))).not.toContain('backoffLimit');
  });

  test.each([
    ['a text', 'x'],
    ['lists that are none', { replicatedJobs: {} }],
    ['a template that is none', { replicatedJobs: [{ name: 'w', template: 5 }] }],
    ['rules that are none', { failurePolicy: { rules: ['x'] } }],
    ['a policy that is none', { volumeClaimPolicies: [{ retentionPolicy: 'Delete' }] }],
  ])('of the wrong shape is left to the schema: %s', (_what, given) => {
    expect(stored(given)).toEqual(given);
  });
});

describe('defaults', () => {
  test('for an ordinary JobSet are upstream’s', () => {
    expect(withDefaults(spec({}))).toEqual({
      replicatedJobs: [
        {
          name: 'w',
          groupName: 'default',
          replicas: 1,
          template: {
            spec: {
              completionMode: 'Indexed',
              template: { spec: { ...POD.spec, restartPolicy: 'OnFailure' } },
            },
          },
        },
      ],
      network: { enableDNSHostnames: true, publishNotReadyAddresses: true },
      successPolicy: { operator: 'All' },
      startupPolicy: { startupPolicyOrder: 'AnyOrder' },
      suspend: false,
      volumeClaimPolicies: [],
    });
  });

  const IN_PLACE = { failurePolicy: { restartStrategy: 'InPlaceRestart' } } as const;

  test.each([
    ['neither', {}, { parallelism: 1, completions: 1 }],
    ['parallelism alone', { parallelism: 4 }, { parallelism: 4, completions: 4 }],
    ['completions alone', { completions: 5 }, { parallelism: 5, completions: 5 }],
    ['both', { parallelism: 1, completions: 2 }, { parallelism: 1, completions: 2 }],
  ])('of an in-place restart take one number from the other: %s', (_given, job, expected) => {
    expect(jobSpecOf(spec(job, IN_PLACE))).toMatchObject(expected);
  });

  test('for an in-place restart never let the Job give up or replace a Pod early', () => {
    expect(jobSpecOf(spec({}, IN_PLACE))).toMatchObject({
      backoffLimit: 2_147_483_647,
      podReplacementPolicy: 'Failed',
      completionMode: 'Indexed',
      template: { spec: { restartPolicy: 'Never' } },
    });
  });

  test('change nothing that is said, and nothing the second time', () => {
    const said: JobSetSpec = spec(
      {
        backoffLimit: 3,
        podReplacementPolicy: 'TerminatingOrFailed',
        completionMode: 'NonIndexed',
        template: { spec: { ...POD.spec, restartPolicy: 'OnFailure' } },
      },
      {
        ...IN_PLACE,
        network: { enableDNSHostnames: false },
        successPolicy: { operator: 'Any' },
        suspend: true,
      },
    );
    const once = withDefaults(said);
    expect(once).toMatchObject(said);
    expect(withDefaults(once)).toEqual(once);
  });
});
