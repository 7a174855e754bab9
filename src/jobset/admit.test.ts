/**
 * Properties of admission. Any JobSet is either refused with causes or accepted. The rules of the
 * definition refuse nothing that the webhook accepts. An accepted JobSet stays acceptable.
 */

import { ruleTree, violations } from '@lockstep/embedded-kubernetes/kinds';
import { formatFieldErrors } from '@lockstep/kube/field-error.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import { admitJobSet } from './admit.ts';
import { defaultJobSet } from './defaults.ts';
import { DEFAULT_FEATURE_GATES } from './feature-gates.ts';
import type { JobSet, JobSetSpec, ReplicatedJob } from './jobset.ts';
import { JOBSET_SCHEMA } from './schema/schema.ts';
import { MAX_REPLICATED_JOBS } from './schema/schema-rules.ts';
import { jobSetWarnings, validateJobSetUpdate } from './validation/validation.ts';

const RULES = ruleTree(JOBSET_SCHEMA);
const admit = (jobSet: JobSet) => admitJobSet(jobSet, DEFAULT_FEATURE_GATES);
const json = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value));

/** Few values, so that names meet, and mostly valid ones, so that some JobSets are valid. */
const name = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('a', 'b', 'w') },
  { weight: 1, arbitrary: fc.constantFrom('B', '', '9', 'l'.repeat(64)) },
);
const small = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(1, 2) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 2_147_483_647) },
);
const mostly = <T>(right: T, wrong: T) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constant(wrong) },
  );
const optional = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

const job: fc.Arbitrary<ReplicatedJob> = fc
  .record({
    name,
    replicas: optional(small),
    groupName: optional(name),
    dependsOn: optional(
      fc.uniqueArray(
        fc.record({ name, status: fc.constantFrom('Ready' as const, 'Complete' as const) }),
        { selector: (item) => item.name, maxLength: 2 },
      ),
    ),
    spec: fc.record({
      parallelism: optional(small),
      completions: optional(small),
      backoffLimit: optional(small),
      completionMode: optional(fc.constantFrom('Indexed' as const, 'NonIndexed' as const)),
      podReplacementPolicy: optional(fc.constantFrom('Failed' as const)),
    }),
    mount: name,
  })
  .map(({ spec, mount, ...rest }) => {
    const volumeMounts = [{ name: mount, mountPath: '/m' }];
    const pod = { spec: { containers: [{ name: 'c', command: ['c'], volumeMounts }] } };
    return json({ ...rest, template: { spec: { ...spec, template: pod } } }) as never;
  });

const spec: fc.Arbitrary<JobSetSpec> = fc
  .record({
    replicatedJobs: optional(fc.uniqueArray(job, { selector: (of) => of.name, maxLength: 3 })),
    network: optional(fc.record({ subdomain: name })),
    successPolicy: optional(
      fc.record({
        operator: mostly('All', 'Most'),
        targetReplicatedJobs: fc.array(name),
      }),
    ),
    failurePolicy: optional(
      fc.record({
        maxRestarts: small,
        restartStrategy: fc.constantFrom('Recreate', 'InPlaceRestart'),
        rules: fc.array(
          fc.record({
            name,
            action: fc.constantFrom('FailJobSet', 'RestartJob'),
            onJobFailureReasons: fc.array(mostly('PodFailurePolicy', 'x'), { maxLength: 2 }),
            onJobFailureMessagePatterns: fc.array(mostly('(?i)x', '('), { maxLength: 2 }),
            targetReplicatedJobs: fc.array(name, { maxLength: 1 }),
          }),
          { maxLength: 2 },
        ),
      }),
    ),
    startupPolicy: optional(
      fc.record({ startupPolicyOrder: fc.constantFrom('InOrder', 'AnyOrder') }),
    ),
    coordinator: optional(fc.record({ replicatedJob: name, jobIndex: small, podIndex: small })),
    managedBy: optional(mostly('a.b/c', '')),
    volumeClaimPolicies: optional(
      fc.array(
        fc.record({
          templates: fc.array(fc.record({ metadata: fc.record({ name }) }), { maxLength: 1 }),
        }),
        { maxLength: 1 },
      ),
    ),
  })
  .map((value) => json(value));

const jobSet = fc
  .record({ spec, metadata: fc.record({ name: mostly('train', 'n'.repeat(60)) }) })
  .map(({ spec: of, metadata }) => storedJobSet(of, metadata));

test('what the rules of the definition refuse, the webhook refuses too', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(jobSet, (given) => {
      const { jobSet: stored, schemaErrors, ruleErrors } = admit(given);
      if (schemaErrors.length > 0 || RULES === undefined) return;
      const broken = violations(RULES, json(stored));
      if (ruleErrors.length === 0) expect(formatFieldErrors(broken)).toBe('[]');
      seen[ruleErrors.length === 0 ? 'accepted' : 'refused']++;
    }),
    { numRuns: 400 },
  );
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(10);
});

test('accepts an accepted JobSet again with its defaults, and when it is suspended', () => {
  fc.assert(
    fc.property(jobSet, (given) => {
      const { jobSet: stored, schemaErrors, ruleErrors } = admit(given);
      if (schemaErrors.length > 0) return;
      expect(defaultJobSet(stored, DEFAULT_FEATURE_GATES)).toEqual(stored);
      const suspended = { ...stored, spec: { ...stored.spec, suspend: true } };
      expect(validateJobSetUpdate(stored, suspended, DEFAULT_FEATURE_GATES)).toEqual([]);
      expect(admit(stored)).toEqual({ jobSet: stored, schemaErrors, ruleErrors });
    }),
    { numRuns: 300 },
  );
});

test('every refusal names a field and says why', () => {
  fc.assert(
    fc.property(jobSet, (given) => {
      const { schemaErrors, ruleErrors } = admit(given);
      for (const { field, type, detail } of [...schemaErrors, ...ruleErrors]) {
        expect(field).toMatch(/^(spec|metadata)\b/);
        if (type === 'FieldValueInvalid' || type === 'FieldValueForbidden')
          expect(detail).not.toBe('');
      }
    }),
    { numRuns: 300 },
  );
});

test('objects of any shape are refused or accepted, never a crash', () => {
  const paths = [
    [],
    ['replicatedJobs'],
    ['replicatedJobs', 0],
    ['replicatedJobs', 0, 'template'],
    ['replicatedJobs', 0, 'template', 'spec', 'template', 'spec', 'containers'],
    ['failurePolicy', 'rules', 0],
    ['network'],
    ['coordinator'],
    ['volumeClaimPolicies', 0, 'templates', 0],
  ] as const;
  const whole: JobSetSpec = {
    replicatedJobs: [replicatedJob('w')],
    failurePolicy: { rules: [{ name: 'r', action: 'FailJobSet' }] },
    network: {},
    coordinator: { replicatedJob: 'w' },
    volumeClaimPolicies: [{ templates: [] }],
  };
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 3 }), (path, value) => {
      const broken = { ...storedJobSet(whole), spec: replaced(whole, path, value) as JobSetSpec };
      const { jobSet: kept, schemaErrors, ruleErrors } = admit(broken);
      if (schemaErrors.length + ruleErrors.length === 0) jobSetWarnings(kept);
    }),
    { numRuns: 1000 },
  );
});

function replaced(
  of: unknown,
  [step, ...rest]: readonly (string | number)[],
  by: unknown,
): unknown {
  if (step === undefined) return by;
  const container = of ?? (typeof step === 'number' ? [] : {});
  const copy = Array.isArray(container) ? [...container] : { ...container };
  const members = copy as Record<string | number, unknown>;
  members[step] = replaced(members[step], rest, by);
  return copy;
}

describe('a problem of the schema', () => {
  test('is reported together with problems of the rules, unless it is one of shape', () => {
    const told = (given: object): readonly number[] => {
      const { schemaErrors, ruleErrors } = admit(storedJobSet(json(given)));
      return [schemaErrors.length, ruleErrors.length];
    };
    const negative = { replicatedJobs: [{ ...replicatedJob('w'), replicas: -1 }], managedBy: 'x' };
    expect(told(negative)).toEqual([1, 1]);
    expect(told({ replicatedJobs: [{ name: 'w' }], managedBy: 'x' })).toEqual([1, 0]);
  });
});

test('as many ReplicatedJobs as there may be are within the budget of the definition’s rules', () => {
  const names = Array.from({ length: MAX_REPLICATED_JOBS }, (_, index) => `w${index}`);
  const { jobSet: stored, ...errors } = admit(
    storedJobSet({
      replicatedJobs: names.map((of, index) =>
        index === 0
          ? replicatedJob(of)
          : { ...replicatedJob(of), dependsOn: [{ name: `w${index - 1}`, status: 'Ready' }] },
      ),
      successPolicy: { operator: 'All', targetReplicatedJobs: names },
      failurePolicy: {
        rules: [{ name: 'r', action: 'FailJobSet', targetReplicatedJobs: names }],
      },
      coordinator: { replicatedJob: names.at(-1) ?? '' },
    }),
  );
  expect(errors).toEqual({ schemaErrors: [], ruleErrors: [] });
  expect(RULES === undefined ? [] : violations(RULES, json(stored), json(stored))).toEqual([]);
});
