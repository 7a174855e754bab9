/**
 * Whether an API server would accept the Jobs of a JobSet. It checks them only when the operator
 * creates them, not with the JobSet: for example, a template may mount a volume that it does not
 * have.
 */
import { JOB_KIND, kindSchema, PLAIN_STRATEGY } from '@lockstep/embedded-kubernetes/kinds';
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { JOB_SPEC } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import { isUnknownValue } from '../jobset/validation/template-values.ts';

/** For a Job that is never created: any UID will do, and no other object is needed. */
const CONTEXT = {
  nowMs: 0,
  uid: '00000000-0000-4000-8000-000000000000',
  randomName: () => '',
  exists: () => true,
} as const;

/** One line for each refusal. */
export function jobRefusals(jobs: Iterable<Job>): readonly string[] {
  return [...jobs].flatMap((job) =>
    refusalsOf(job).map((why) => `Job ${job.metadata.name ?? ''}: ${why}`),
  );
}

function refusalsOf(job: Job): readonly string[] {
  const strategy = { ...PLAIN_STRATEGY, ...JOB_KIND.strategy };
  const complete = applyDefaults(kindSchema(JOB_KIND.resource), job);
  const { apiVersion, kind } = job;
  const metadata = { ...job.metadata, uid: CONTEXT.uid };
  const given = { ...(isJsonObject(complete) ? complete : {}), apiVersion, kind, metadata };
  const unknown = new Set(
    validate(JOB_SPEC, job.spec)
      .filter(isUnknownValue)
      .map(({ field }) => `spec.${field}`),
  );
  return (
    strategy
      .validate(strategy.prepareForCreate(given, CONTEXT))
      // A newer server may take them: there is a warning.
      .filter(({ field }) => !unknown.has(field))
      .map(formatFieldError)
  );
}
