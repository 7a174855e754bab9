/** What an update of a Job may change. */
import type { Affinity } from '../affinity.ts';
import { deepEqual } from '../deep-equal.ts';
import { invalidValue } from '../field-error.ts';
import type { Job, JobSpec } from '../job.ts';
import type { Container, PodTemplateSpec } from '../pod.ts';
import type { FieldError } from '../status.ts';
import { jobSpecErrors } from './job.ts';
import { hasCondition, JOB_METADATA } from './job-status.ts';
import { objectMetaUpdateErrors } from './object-meta.ts';

const IMMUTABLE = 'field is immutable';

/** Problems of replacing the Job `before` by `job` through its main resource. */
export function jobUpdateErrors(job: Job, before: Job): FieldError[] {
  const { spec } = job;
  const old = before.spec;
  const errors = [
    ...objectMetaUpdateErrors(job.metadata, before.metadata, JOB_METADATA),
    ...jobSpecErrors(spec, 'spec'),
    ...completionsErrors(spec, old),
  ];
  const fixed = [
    'selector',
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ] as const;
  for (const field of fixed) {
    if (!deepEqual(spec[field], old[field])) {
      errors.push(invalidValue(`spec.${field}`, spec[field] ?? null, IMMUTABLE));
    }
  }
  const comparable = isTemplateOpen(before)
    ? reconciled(old.template, spec.template)
    : old.template;
  if (!deepEqual(spec.template, comparable)) {
    errors.push(invalidValue('spec.template', spec.template, IMMUTABLE));
  }
  return errors;
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

/** A suspended Job without Pods may be told where they are to run, and with what resources. */
function isTemplateOpen({ spec, status = {} }: Job): boolean {
  const hasStopped = status.startTime === undefined || hasCondition(status, 'Suspended', 'True');
  return spec.suspend === true && hasStopped && (status.active ?? 0) === 0;
}

/** `old` with what may change in it taken from `template`. */
function reconciled(old: PodTemplateSpec, template: PodTemplateSpec): PodTemplateSpec {
  const { labels, annotations } = template.metadata ?? {};
  const { nodeSelector, tolerations, schedulingGates } = template.spec;
  return withoutUndefined({
    ...old,
    metadata:
      template.metadata === undefined
        ? old.metadata
        : withoutUndefined({ ...old.metadata, labels, annotations }),
    spec: withoutUndefined({
      ...old.spec,
      nodeSelector,
      tolerations,
      schedulingGates,
      affinity: withNodeAffinity(old.spec.affinity, template.spec.affinity),
      containers: withResources(old.spec.containers, template.spec.containers),
      initContainers:
        old.spec.initContainers === undefined
          ? undefined
          : withResources(old.spec.initContainers, template.spec.initContainers ?? []),
    }),
  });
}

/** Of the affinity, only that to nodes may change. */
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
