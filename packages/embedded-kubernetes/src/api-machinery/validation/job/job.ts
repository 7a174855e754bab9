/**
 * Validates `batch/v1 Job` after defaults were applied and the server generated selector and
 * labels. The schema checks types, enumerations and required fields.
 */

import { domainPrefixedPathErrors } from '@lockstep/kube/domain-prefixed-path.ts';
import { invalidValue, required, tooLong, unknownValueErrors } from '@lockstep/kube/field-error.ts';
import type { LabelSelector, StringMap } from '@lockstep/kube/meta.ts';
import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';
import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  type Job,
  type JobSpec,
} from '@lockstep/kube/objects/job.ts';
import { labelRequirementsOf, matchesLabels } from '@lockstep/kube/selectors/label-selector.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { labelSelectorErrors } from '../label-selector.ts';
import { objectMetaErrors } from '../object-meta.ts';
import { podTemplateErrors } from '../pod/pod.ts';
import {
  podFailurePolicyErrors,
  podReplacementPolicyErrors,
  successPolicyErrors,
} from './job-policies.ts';
import { JOB_METADATA } from './job-status.ts';

/** Problems of a Job by itself: a new one, or what `before` would become. */
export function jobErrors(job: Job, before?: Job): FieldError[] {
  const { metadata, spec } = job;
  const errors = [
    ...objectMetaErrors(metadata, JOB_METADATA),
    ...generatedSelectorErrors(job, before),
    ...jobSpecErrors(spec, 'spec'),
  ];
  const { completions = 0 } = spec;
  if (spec.completionMode === 'Indexed' && completions > 0) {
    const hostname = `${metadata.name}-${completions - 1}`;
    if (dns1123LabelErrors(hostname).length > 0) {
      const detail = `will not able to create pod with invalid DNS label: ${hostname}`;
      errors.push(invalidValue('metadata.name', metadata.name, detail));
    }
  }
  return errors;
}

const COMPLETION_MODES = ['NonIndexed', 'Indexed'];

function jobSpecErrors(spec: JobSpec, path: string): FieldError[] {
  return [
    ...numbersErrors(spec, path),
    ...managedByErrors(spec, path),
    ...unknownValueErrors(`${path}.completionMode`, spec.completionMode, COMPLETION_MODES),
    ...(spec.completionMode === 'Indexed'
      ? indexedErrors(spec, path)
      : nonIndexedErrors(spec, path)),
    ...podFailurePolicyErrors(spec, path),
    ...successPolicyErrors(spec, path),
    ...podReplacementPolicyErrors(spec, path),
    ...podTemplateErrors(spec.template, `${path}.template`),
    ...restartPolicyErrors(spec, `${path}.template.spec.restartPolicy`),
    ...selectorErrors(spec, path),
  ];
}

function numbersErrors(spec: JobSpec, path: string): FieldError[] {
  const members = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const;
  const errors: FieldError[] = [];
  for (const member of members) {
    const value = spec[member] ?? 0;
    if (value < 0) {
      const detail = 'must be greater than or equal to 0';
      errors.push(invalidValue(`${path}.${member}`, value, detail));
    }
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  return errors;
}

const INDEXED_PARALLELISM_LIMIT = 100_000;
const FAILED_INDEXES_LIMIT = 100_000;
/** Above this many completions, Jobs that count failures by index have tighter limits. */
const HIGH_COMPLETIONS = 100_000;
const HIGH_COMPLETIONS_PARALLELISM_LIMIT = 10_000;
const HIGH_COMPLETIONS_FAILED_INDEXES_LIMIT = 10_000;

function indexedErrors(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined) {
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  }
  if (parallelism > INDEXED_PARALLELISM_LIMIT) {
    const detail = `must be less than or equal to ${INDEXED_PARALLELISM_LIMIT} when completion mode is Indexed`;
    errors.push(invalidValue(`${path}.parallelism`, parallelism, detail));
  }
  if (maxFailedIndexes !== undefined) {
    const field = `${path}.maxFailedIndexes`;
    if (completions !== undefined && maxFailedIndexes > completions) {
      const detail = 'must be less than or equal to completions';
      errors.push(invalidValue(field, maxFailedIndexes, detail));
    }
    if (maxFailedIndexes > FAILED_INDEXES_LIMIT) {
      const detail = `must be less than or equal to ${FAILED_INDEXES_LIMIT}`;
      errors.push(invalidValue(field, maxFailedIndexes, detail));
    }
  }
  return [...errors, ...highCompletionsErrors(spec, path)];
}

function highCompletionsErrors(spec: JobSpec, path: string): FieldError[] {
  const { completions = 0, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec;
  if (completions <= HIGH_COMPLETIONS || backoffLimitPerIndex === undefined) return [];
  const errors: FieldError[] = [];
  const when = `when completions are above ${HIGH_COMPLETIONS} and used with backoff limit per index`;
  if (parallelism > HIGH_COMPLETIONS_PARALLELISM_LIMIT) {
    const detail = `must be less than or equal to ${HIGH_COMPLETIONS_PARALLELISM_LIMIT} ${when}`;
    errors.push(invalidValue(`${path}.parallelism`, parallelism, detail));
  }
  if (maxFailedIndexes === undefined) {
    const detail = `must be specified when completions is above ${HIGH_COMPLETIONS}`;
    errors.push(required(`${path}.maxFailedIndexes`, detail));
  } else if (maxFailedIndexes > HIGH_COMPLETIONS_FAILED_INDEXES_LIMIT) {
    const detail = `must be less than or equal to ${HIGH_COMPLETIONS_FAILED_INDEXES_LIMIT} ${when}`;
    errors.push(invalidValue(`${path}.maxFailedIndexes`, maxFailedIndexes, detail));
  }
  return errors;
}

function nonIndexedErrors(spec: JobSpec, path: string): FieldError[] {
  return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((member) =>
    spec[member] === undefined
      ? []
      : [invalidValue(`${path}.${member}`, spec[member], 'requires indexed completion mode')],
  );
}

const MANAGED_BY_LIMIT_BYTES = 63;

function managedByErrors(spec: JobSpec, path: string): FieldError[] {
  const { managedBy } = spec;
  if (managedBy === undefined) return [];
  const field = `${path}.managedBy`;
  const errors = domainPrefixedPathErrors(managedBy, field);
  if (managedBy.length > MANAGED_BY_LIMIT_BYTES) {
    errors.push(tooLong(field, MANAGED_BY_LIMIT_BYTES));
  }
  return errors;
}

/** Pods of a Job must be able to end, so `Always`, the default of Pods, is refused. */
function restartPolicyErrors(spec: JobSpec, field: string): FieldError[] {
  const { restartPolicy = 'Always' } = spec.template.spec;
  if (restartPolicy === 'Always') {
    return [required(field, 'valid values: "OnFailure", "Never"')];
  }
  const unknown = unknownValueErrors(field, restartPolicy, ['OnFailure', 'Never']);
  if (unknown.length > 0) return unknown;
  if (restartPolicy !== 'Never' && spec.podFailurePolicy !== undefined) {
    const detail = 'only "Never" is supported when podFailurePolicy is specified';
    return [invalidValue(field, restartPolicy, detail)];
  }
  return [];
}

/**
 * Unless the user selects by hand, a Job selects by its own UID, so that no two Jobs share Pods.
 */
function generatedSelectorErrors({ metadata, spec }: Job, before: Job | undefined): FieldError[] {
  if (spec.manualSelector === true || spec.selector === undefined) return [];
  const { name = '', uid = '' } = metadata;
  if (uid === '') return [required('metadata.uid')];
  const legacy = { 'controller-uid': uid, 'job-name': name };
  const prefixed = { [CONTROLLER_UID_LABEL]: uid, [JOB_NAME_LABEL]: name };
  const old: StringMap = before?.spec.template.metadata?.labels ?? prefixed;
  // Jobs of older servers, whose labels had no prefix, may lack the prefixed ones.
  const isModern = Object.keys(prefixed).every((key) => old[key] !== undefined);
  const expected = isModern ? { ...legacy, ...prefixed } : legacy;
  const labels = spec.template.metadata?.labels ?? {};
  const errors = Object.entries(expected).flatMap(([key, value]) => {
    if (labels[key] === value) return [];
    const field = `spec.template.metadata.labels[${key}]`;
    const detail = `must be '${value}'`;
    return [
      labels[key] === undefined ? required(field, detail) : invalidValue(field, labels, detail),
    ];
  });
  if (selects(spec.selector, expected) === false) {
    const shown = withSortedLabels(spec.selector);
    errors.push(invalidValue('spec.selector', shown, '`selector` not auto-generated'));
  }
  return errors;
}

function selectorErrors(spec: JobSpec, path: string): FieldError[] {
  const { selector, template } = spec;
  const errors =
    selector === undefined
      ? [required(`${path}.selector`)]
      : labelSelectorErrors(selector, `${path}.selector`);
  const labels = template.metadata?.labels;
  if (selects(selector, labels) === false) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalidValue(`${path}.template.metadata.labels`, labels ?? null, detail));
  }
  return errors;
}

/** Undefined for an invalid selector. */
function selects(selector: LabelSelector | undefined, labels: StringMap = {}): boolean | undefined {
  if (selector !== undefined && labelSelectorErrors(selector, '').length > 0) return undefined;
  return matchesLabels(labelRequirementsOf(selector), labels);
}

/** The selector as the API server prints it. */
export function withSortedLabels(selector: LabelSelector): LabelSelector {
  const { matchLabels } = selector;
  if (matchLabels === undefined) return selector;
  const sorted = Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...selector, matchLabels: Object.fromEntries(sorted) };
}
