/** New JobSets for tests of validation. The texts of the problems of a new JobSet. */

import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../feature-gates.ts';
import type { FailurePolicyRule, JobSetSpec } from '../jobset.ts';
import { validateJobSetCreate } from './validation.ts';

export type Metadata = Parameters<typeof storedJobSet>[1];

export function problems(
  spec: JobSetSpec,
  metadata: Metadata = {},
  gates: Partial<FeatureGates> = {},
  claims?: ReadonlyMap<string, PersistentVolumeClaim>,
): readonly string[] {
  const jobSet = storedJobSet(spec, metadata);
  const found = validateJobSetCreate(jobSet, { ...DEFAULT_FEATURE_GATES, ...gates }, claims);
  return found.map(formatFieldError);
}

/** One ReplicatedJob `w` of two Pods. */
export function worker(job: Partial<JobSpec>, more: object = {}): JobSetSpec {
  const base = replicatedJob('w', 2);
  const template = { ...base.template, spec: { ...base.template.spec, ...job } };
  return { replicatedJobs: [{ ...base, template, ...more }] };
}

/** It with rules, which default to `FailJobSet`. */
export function rules(...of: readonly Partial<FailurePolicyRule>[]): JobSetSpec {
  const complete = of.map((rule) => ({ action: 'FailJobSet' as const, ...rule }));
  return { ...worker({}), failurePolicy: { rules: complete } };
}

export const IN_PLACE = { failurePolicy: { restartStrategy: 'InPlaceRestart' } } as const;
export const RULES = 'spec.failurePolicy.rules';
export const JOBS = 'spec.replicatedJobs[0]';

/** The rule for names. */
export const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** A shared volume claim. */
export function claim(
  name: string,
  spec: object = { accessModes: ['ReadWriteMany'] },
): PersistentVolumeClaim {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { ...spec } };
}
