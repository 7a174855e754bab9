/**
 * Which parts of ReplicatedJobs may change when. It leaves the mutable parts out of both sides, and
 * the rest must be equal. It compares the meaning of fields, not their form: clients in Go add
 * empty members and leave out empty lists.
 */

import { invalidValue } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject, setMember } from '@lockstep/kube/json/json-value.ts';
import type { Container, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { jsonPatchDiff } from '@lockstep/kube/patch/json-patch-diff.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';

export interface Mutability {
  /** The JobSet is or was suspended: the fields that queues set in Pods may change. */
  readonly isSuspended: boolean;
  /** While suspended, resources of containers may change too (KEP-1150). */
  readonly hasMutableResources: boolean;
  /** Numbers of Jobs, and of Pods of Indexed Jobs, may change. */
  readonly isElastic: boolean;
}

/** The most named differences, so that the text stays readable. */
const NAMED_CHANGES = 5;

/** Reports where ReplicatedJobs differ, by JSON pointers below the field. */
export function replicatedJobsImmutableErrors(
  before: readonly DefaultedReplicatedJob[],
  after: readonly DefaultedReplicatedJob[],
  mutability: Mutability,
): FieldError[] {
  if (deepEqual(before, after)) return [];
  const fixed = (jobs: readonly DefaultedReplicatedJob[]): unknown =>
    meaning(jobs.map((job) => fixedPart(job, mutability)));
  const changes = jsonPatchDiff(fixed(before), fixed(after));
  if (changes.length === 0) return [];
  const places = [...new Set(changes.map(({ path }) => path))].slice(0, NAMED_CHANGES);
  return [invalidValue('spec.replicatedJobs', places, 'field is immutable')];
}

function fixedPart(job: DefaultedReplicatedJob, mutability: Mutability): object {
  const { isElastic } = mutability;
  const { replicas, template, ...rest } = job;
  const { parallelism, completions, template: pod, ...spec } = template.spec;
  const isIndexed = spec.completionMode === 'Indexed';
  return {
    ...rest,
    ...(isElastic ? {} : { replicas }),
    template: {
      ...template,
      spec: {
        ...spec,
        ...(isElastic && isIndexed ? {} : { parallelism, completions }),
        template: mutability.isSuspended ? fixedPodTemplate(pod, mutability) : pod,
      },
    },
  };
}

function fixedPodTemplate(template: PodTemplateSpec, mutability: Mutability): object {
  const { labels: _labels, annotations: _annotations, ...metadata } = template.metadata ?? {};
  const {
    nodeSelector: _nodeSelector,
    tolerations: _tolerations,
    schedulingGates: _schedulingGates,
    containers,
    initContainers = [],
    ...spec
  } = template.spec;
  const fixed = mutability.hasMutableResources ? withoutAmounts : sameContainer;
  return {
    ...template,
    metadata,
    spec: { ...spec, containers: containers.map(fixed), initContainers: initContainers.map(fixed) },
  };
}

function sameContainer(container: Container): object {
  return container;
}

/** A queue may change amounts, but no claims of resources. */
function withoutAmounts(container: Container): object {
  const { limits: _limits, requests: _requests, ...resources } = container.resources ?? {};
  return { ...container, resources };
}

/** A selector without terms selects everything, and a missing one nothing. */
const MEANS_SOMETHING_EMPTY = /[sS]elector$/;

/** `value` without members that mean nothing: undefined, null, empty lists and empty objects. */
function meaning(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaning);
  if (!isJsonObject(value)) return value;
  const said: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const meant = meaning(member);
    if (!isEmpty(meant) || (isJsonObject(meant) && MEANS_SOMETHING_EMPTY.test(key))) {
      setMember(said, key, meant);
    }
  }
  return said;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
