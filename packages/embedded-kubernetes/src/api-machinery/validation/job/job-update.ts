/** Checks which fields an update of a Job changes. */

import { invalidValue } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Affinity } from '@lockstep/kube/objects/affinity.ts';
import type { Job, JobSpec } from '@lockstep/kube/objects/job.ts';
import type { Container, PodSpec, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { objectMetaUpdateErrors } from '../object-meta.ts';
import { jobErrors, withSortedLabels } from './job.ts';
import { hasCondition, JOB_METADATA } from './job-status.ts';

const IMMUTABLE = 'field is immutable';

/** Problems of replacing the Job `before` by `job` through its main resource. */
export function jobUpdateErrors(job: Job, before: Job): FieldError[] {
  const { spec } = job;
  const old = before.spec;
  return [
    ...jobErrors(job, before),
    ...objectMetaUpdateErrors(job.metadata, before.metadata, JOB_METADATA),
    ...completionsErrors(spec, old),
    ...immutableErrors(spec, old, ['selector']),
    ...templateErrors(spec.template, before),
    ...immutableErrors(spec, old, [
      'completionMode',
      'podFailurePolicy',
      'backoffLimitPerIndex',
      'managedBy',
      'successPolicy',
    ]),
  ];
}

function immutableErrors(
  spec: JobSpec,
  old: JobSpec,
  fields: readonly (keyof JobSpec)[],
): FieldError[] {
  return fields.flatMap((field) => {
    if (deepEqual(spec[field], old[field])) return [];
    const { selector } = spec;
    const isSelector = field === 'selector' && selector !== undefined;
    const value = isSelector ? withSortedLabels(selector) : (spec[field] ?? null);
    return [invalidValue(`spec.${field}`, value, IMMUTABLE)];
  });
}

function templateErrors(template: PodTemplateSpec, before: Job): FieldError[] {
  const { template: old } = before.spec;
  const field = 'spec.template';
  if (!isTemplateOpen(before)) {
    return deepEqual(template, old) ? [] : [invalidValue(field, template, IMMUTABLE)];
  }
  // All metadata of an open template may change.
  if (deepEqual(template.spec, reconciled(old.spec, template.spec))) return [];
  return [invalidValue(`${field}.spec`, template.spec, IMMUTABLE)];
}

/** Elastic Indexed Jobs grow and shrink by both numbers together. */
function completionsErrors(spec: JobSpec, old: JobSpec): FieldError[] {
  const { completions, parallelism } = spec;
  if (completions === old.completions) return [];
  const field = 'spec.completions';
  if (spec.completionMode !== 'Indexed') {
    return [invalidValue(field, completions ?? null, IMMUTABLE)];
  }
  if (completions === undefined || completions === parallelism) return [];
  return [invalidValue(field, completions, 'can only be modified in tandem with spec.parallelism')];
}

/** Where Pods run and with what resources may change while a Job is suspended and has no Pods. */
function isTemplateOpen({ spec, status = {} }: Job): boolean {
  const hasStopped = status.startTime === undefined || hasCondition(status, 'Suspended', 'True');
  return spec.suspend === true && hasStopped && (status.active ?? 0) === 0;
}

/** `old`, with the fields that may change taken from `spec`. */
function reconciled(old: PodSpec, spec: PodSpec): PodSpec {
  const { nodeSelector, tolerations, schedulingGates } = spec;
  return withoutUndefined({
    ...old,
    nodeSelector,
    tolerations,
    schedulingGates,
    affinity: withNodeAffinity(old.affinity, spec.affinity),
    containers: withResources(old.containers, spec.containers),
    initContainers:
      old.initContainers === undefined
        ? undefined
        : withResources(old.initContainers, spec.initContainers ?? []),
  });
}

/** Only the node affinity may change. */
function withNodeAffinity(
  old: Affinity | undefined,
  affinity: Affinity | undefined,
): Affinity | undefined {
  const { nodeAffinity: _, ...others } = old ?? {};
  const nodeAffinity = affinity?.nodeAffinity;
  const merged: Affinity = nodeAffinity === undefined ? others : { ...others, nodeAffinity };
  return Object.keys(merged).length === 0 && affinity === undefined ? undefined : merged;
}

function withResources(
  old: readonly Container[],
  containers: readonly Container[],
): readonly Container[] {
  return old.map((container, index) => {
    const other = containers[index];
    return other?.name === container.name
      ? withoutUndefined({ ...container, resources: other.resources })
      : container;
  });
}

type Defined<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
