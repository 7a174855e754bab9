import { invalidValue } from '../kube/field-error.ts';
import {
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '../kube/names.ts';
import type { FieldError } from '../kube/status.ts';
import { annotationErrors, tryInjection } from './agent-mode.ts';
import { type DefaultedReplicatedJob, type DefaultedSpec, UNLIMITED_BACKOFF } from './defaults.ts';
import type { JobSet } from './jobset.ts';
import { coordinatorEndpoint, jobName, podHostname, subdomainOf } from './naming.ts';

/**
 * What a schema cannot say about a JobSet (spec 1.12 and 5.6), in upstream's words and order. `spec`
 * is the JobSet's own with its defaults. All problems are returned, none is repaired.
 */
export function validateJobSet(jobSet: JobSet, spec: DefaultedSpec): readonly FieldError[] {
  const name = jobSet.metadata.name ?? sampleName(jobSet.metadata.generateName ?? '');
  const { annotations } = jobSet.metadata;
  return [
    ...subdomainErrors(spec),
    ...managedByErrors(spec),
    ...spec.replicatedJobs.flatMap((job, i) => [
      ...replicatedJobErrors(name, job, `spec.replicatedJobs[${i}]`),
      ...inPlaceErrors(spec, job, `spec.replicatedJobs[${i}]`),
      ...tryInjection(
        job.template.spec.template,
        `spec.replicatedJobs[${i}].template.spec.template`,
        spec,
        annotations,
      ).errors,
    ]),
    ...successPolicyErrors(spec),
    ...coordinatorErrors(name, spec),
    ...annotationErrors(annotations),
  ];
}

/** What a user should know about a JobSet that is accepted. */
export function jobSetWarnings(jobSet: JobSet, spec: DefaultedSpec): readonly string[] {
  return spec.replicatedJobs.flatMap(({ name, template }, i) => {
    const path = `spec.replicatedJobs[${i}].template.spec.template`;
    const { restartPolicy } = template.spec.template.spec;
    const isInPlace = spec.failurePolicy?.restartStrategy === 'InPlaceRestart';
    return [
      ...tryInjection(template.spec.template, path, spec, jobSet.metadata.annotations).warnings,
      ...(isInPlace && restartPolicy === 'OnFailure'
        ? [
            `replicatedJob ${name}: restartPolicy OnFailure restarts a failed container alone where no rule matches; Never is meant for in-place restart`,
          ]
        : []),
    ];
  });
}

/** Limits of the API: int32, and a DNS label. */
const MAX_INT32 = 2_147_483_647;
const LABEL_LIMIT = 63;
/** The API server cuts a prefix to this length and appends 5 characters. */
const GENERATED_PREFIX_LIMIT = 58;
const SAMPLE_SUFFIX = 'abcde';

function sampleName(prefix: string): string {
  return prefix === '' ? '' : prefix.slice(0, GENERATED_PREFIX_LIMIT) + SAMPLE_SUFFIX;
}

function subdomainErrors(spec: DefaultedSpec): readonly FieldError[] {
  const { subdomain } = spec.network;
  if (subdomain === undefined || subdomain === '') return [];
  const field = 'spec.network.subdomain';
  const tooLong = '.spec.network.subdomain is too long, must be less than 63 characters';
  return [...dns1123SubdomainErrors(subdomain), ...labelErrors(subdomain, tooLong)].map((detail) =>
    invalidValue(field, subdomain, detail),
  );
}

function managedByErrors({ managedBy }: DefaultedSpec): readonly FieldError[] {
  if (managedBy === undefined) return [];
  const [prefix = '', ...rest] = managedBy.split('/');
  const field = 'spec.managedBy';
  const problems =
    prefix === '' || rest.length === 0 || rest.join('/') === ''
      ? ['must be a domain-prefixed path (such as "acme.io/foo")']
      : [...dns1123SubdomainErrors(prefix), ...qualifiedNameErrors(rest.join('_'))];
  if (managedBy.length > LABEL_LIMIT)
    problems.push(`must be no more than ${LABEL_LIMIT} characters`);
  return problems.map((detail) => invalidValue(field, managedBy, detail));
}

function replicatedJobErrors(
  jobSet: string,
  job: DefaultedReplicatedJob,
  path: string,
): readonly FieldError[] {
  const { name, replicas, groupName, template } = job;
  const errors: FieldError[] = [];
  if (BigInt(template.spec.parallelism ?? 1) * BigInt(replicas) > BigInt(MAX_INT32)) {
    const detail = `the product of replicas and parallelism must not exceed ${MAX_INT32} for replicatedJob '${name}'`;
    errors.push(invalidValue(path, name, detail));
  }
  const longGroup = '.spec.replicatedJob[].groupName is too long, must be less than 63 characters';
  for (const detail of labelErrors(groupName, longGroup)) {
    errors.push(invalidValue(`${path}.groupName`, groupName, detail));
  }
  const longest = jobName(jobSet, name, replicas - 1);
  for (const detail of labelErrors(longest, tooLong('job'))) {
    errors.push(invalidValue(fieldOf(detail, path), longest, detail));
  }
  const { completionMode, completions } = template.spec;
  if (completionMode === 'Indexed' && completions !== undefined) {
    const pod = `${podHostname(longest, completions - 1)}-${SAMPLE_SUFFIX}`;
    for (const detail of labelErrors(pod, tooLong('pod'))) {
      errors.push(invalidValue(fieldOf(detail, path), pod, detail));
    }
  }
  return errors;
}

function fieldOf(detail: string, path: string): string {
  return detail.startsWith('JobSet name') ? 'metadata.name' : `${path}.name`;
}

function tooLong(what: 'job' | 'pod'): string {
  return `JobSet name is too long, ${what} names generated for this JobSet will exceed 63 characters`;
}

/** Problems of a DNS-1035 label, with `whenTooLong` in place of the text about its length. */
function labelErrors(value: string, whenTooLong: string): readonly string[] {
  return dns1035LabelErrors(value).map((detail) =>
    detail.startsWith('must be no more than') ? whenTooLong : detail,
  );
}

function inPlaceErrors(
  spec: DefaultedSpec,
  { name, template }: DefaultedReplicatedJob,
  path: string,
): readonly FieldError[] {
  if (spec.failurePolicy?.restartStrategy !== 'InPlaceRestart') return [];
  const { backoffLimit, podReplacementPolicy, completions, parallelism } = template.spec;
  const errors: FieldError[] = [];
  const refuse = (field: string, value: unknown, why: string): void => {
    const detail = `replicatedJob ${name}: ${why} when in-place restart is enabled`;
    errors.push(invalidValue(`${path}.template.spec.${field}`, value, detail));
  };
  if (backoffLimit !== UNLIMITED_BACKOFF) {
    refuse('backoffLimit', backoffLimit, `must be set to ${UNLIMITED_BACKOFF} (MaxInt32)`);
  }
  if (podReplacementPolicy !== 'Failed') {
    refuse('podReplacementPolicy', podReplacementPolicy, 'must be set to Failed');
  }
  if (completions !== parallelism) {
    const why = 'completions and parallelism must be set and equal to each other';
    refuse('completions', completions, why);
  }
  return errors;
}

function successPolicyErrors(spec: DefaultedSpec): readonly FieldError[] {
  const known = new Set(spec.replicatedJobs.map(({ name }) => name));
  return (spec.successPolicy.targetReplicatedJobs ?? []).flatMap((name, i) =>
    known.has(name)
      ? []
      : [
          invalidValue(
            `spec.successPolicy.targetReplicatedJobs[${i}]`,
            name,
            `invalid replicatedJob name '${name}' does not appear in .spec.ReplicatedJobs`,
          ),
        ],
  );
}

function coordinatorErrors(jobSet: string, spec: DefaultedSpec): readonly FieldError[] {
  const { coordinator } = spec;
  if (coordinator === undefined) return [];
  const field = 'spec.coordinator';
  const errors: FieldError[] = [];
  const problem = coordinatorProblem(spec, coordinator);
  if (problem !== undefined) errors.push(invalidValue(field, coordinator, problem));
  const endpoint = coordinatorEndpoint(jobSet, coordinator, subdomainOf(jobSet, spec));
  for (const detail of labelValueErrors(endpoint)) {
    const text = `spec will lead to invalid label value "${endpoint}": ${detail}`;
    errors.push(invalidValue(field, endpoint, text));
  }
  return errors;
}

function coordinatorProblem(
  spec: DefaultedSpec,
  { replicatedJob, jobIndex = 0, podIndex = 0 }: NonNullable<DefaultedSpec['coordinator']>,
): string | undefined {
  const job = spec.replicatedJobs.find(({ name }) => name === replicatedJob);
  if (job === undefined) return `coordinator replicatedJob ${replicatedJob} does not exist`;
  if (jobIndex < 0 || jobIndex >= job.replicas) {
    return `coordinator job index ${jobIndex} is invalid for replicatedJob ${replicatedJob}`;
  }
  const { completionMode, completions } = job.template.spec;
  if (completionMode !== 'Indexed' || completions === undefined) {
    return 'job for coordinator pod must be indexed completion mode, and completions number must be set';
  }
  if (podIndex < 0 || podIndex >= completions) {
    return `coordinator pod index ${podIndex} is invalid for replicatedJob ${replicatedJob} job index ${jobIndex}`;
  }
  return undefined;
}
