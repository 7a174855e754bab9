/**
 * The rules for a JobSet beyond its schema: the rules of the admission webhook on creation and on
 * update, in upstream's words and order, and our own. It returns all problems and repairs none.
 * `validation/` has one file for each part of the spec.
 */

import { formatFieldError, invalidValue } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import {
  misplacedAnnotationWarnings,
  unknownAnnotationErrors,
} from '../annotations/unknown-annotations.ts';
import { type DefaultedReplicatedJob, type DefaultedSpec, withDefaults } from '../defaults.ts';
import { restartEpochErrors } from '../epoch/restart-request.ts';
import type { FeatureGates } from '../feature-gates.ts';
import { annotationErrors, injectedMode, tryInjection } from '../injection/agent-mode.ts';
import type { ShareOptions } from '../injection/agent-resources.ts';
import { settingsWarnings } from '../injection/agent-settings.ts';
import { lostNodeDeadlineErrors } from '../injection/lost-node-deadline.ts';
import type { JobSet } from '../jobset.ts';
import { fieldAnnotationErrors } from '../overrides/field-annotations.ts';
import { fieldChangeErrors } from '../overrides/field-changes.ts';
import { forgetNodesErrors } from '../policies/forget-nodes.ts';
import { keepFailedErrors, keepFailedWarnings } from '../policies/keep-failed.ts';
import { ladderErrors, ladderWarnings } from '../policies/ladder-settings.ts';
import { progressTimeoutErrors } from '../progress/progress-timeouts.ts';
import { DEFINITION_LIMITS, type JobSetLimits, type SizeLimits } from '../size-limits.ts';
import { isFinished } from '../status/conditions.ts';
import {
  coordinatorErrors,
  coordinatorLabelErrors,
  storedCoordinatorErrors,
} from './coordinator.ts';
import { dependencyErrors, firstDependencyErrors, startupOrderErrors } from './depends-on.ts';
import { scalingErrors } from './elastic.ts';
import { failurePolicyErrors, ruleNameErrors } from './failure-policy.ts';
import { replicatedJobsImmutableErrors } from './immutability.ts';
import {
  bypassErrors,
  inPlaceRestartErrors,
  inPlaceRestartGateErrors,
} from './in-place-restart.ts';
import { nameOrSample } from './jobset-name.ts';
import { ranksChangeErrors, ranksErrors } from './ranks.ts';
import {
  generatedNameErrors,
  groupNameErrors,
  podCountErrors,
  restartPolicyErrors,
} from './replicated-job.ts';
import {
  activeDeadlineErrors,
  exclusivePlacementErrors,
  managedByErrors,
  successPolicyErrors,
} from './single-fields.ts';
import { sizeErrors } from './size.ts';
import { subdomainErrors } from './subdomain.ts';
import { unknownValueWarnings } from './template-values.ts';
import { type ExistingClaims, volumeClaimErrors } from './volume-claims.ts';

/**
 * Problems of a JobSet that is to be created and fits its schema. `claims` are existing claims in its
 * namespace under the names of its shared claims.
 */
export function validateJobSetCreate(
  jobSet: JobSet,
  gates: FeatureGates,
  claims: ExistingClaims = NO_CLAIMS,
  limits: JobSetLimits = DEFINITION_LIMITS,
): readonly FieldError[] {
  const spec = withDefaults(jobSet.spec, gates);
  return [
    ...sizeErrors(spec, limits),
    ...activeDeadlineErrors(jobSet.spec ?? {}, gates),
    ...(limits.unknownAnnotations === 'Warn' ? [] : unknownAnnotationErrors(jobSet.metadata, spec)),
    ...errorsOfAnySize(jobSet, gates, claims),
  ];
}

function errorsOfAnySize(
  jobSet: JobSet,
  gates: FeatureGates,
  claims: ExistingClaims,
): readonly FieldError[] {
  const spec = withDefaults(jobSet.spec, gates);
  const name = nameOrSample(jobSet.metadata);
  const names = new Set(spec.replicatedJobs.map((job) => job.name));
  return [
    ...inPlaceRestartGateErrors(spec, gates),
    ...firstDependencyErrors(spec.replicatedJobs),
    ...startupOrderErrors(spec),
    ...subdomainErrors(spec),
    ...managedByErrors(spec),
    ...replicatedJobsErrors(jobSet, spec),
    ...successPolicyErrors(spec, names),
    ...failurePolicyErrors(spec, names, gates),
    ...coordinatorErrors(spec),
    ...coordinatorLabelErrors(name, spec),
    ...volumeClaimErrors(name, spec, claims),
    ...annotationValueErrors(jobSet, spec),
    ...ranksErrors(jobSet, spec),
    ...bypassErrors(jobSet.metadata.annotations),
  ];
}

/** Wrong values of a JobSet's annotations. */
export function annotationValueErrors(
  jobSet: JobSet,
  spec: Pick<DefaultedSpec, 'replicatedJobs'>,
): readonly FieldError[] {
  const { annotations } = jobSet.metadata;
  return [
    ...annotationErrors(annotations),
    ...fieldAnnotationErrors(annotations),
    ...lostNodeDeadlineErrors(spec, annotations),
    ...liveAnnotationErrors(jobSet),
  ];
}

/**
 * Problems of a change, if both versions fit the schema. The definition's own rules protect the
 * policies and the network. A change is refused if it is forbidden or adds a problem: with an old
 * mistake, the rest of a JobSet may still change.
 */
export function validateJobSetUpdate(
  old: JobSet,
  jobSet: JobSet,
  gates: FeatureGates,
  limits: JobSetLimits = DEFINITION_LIMITS,
): readonly FieldError[] {
  const annotations = jobSet.metadata.annotations;
  const isSame =
    deepEqual(old.spec, jobSet.spec) && deepEqual(old.metadata.annotations, annotations);
  if (isSame) return [];
  const managedBy = jobSet.spec?.managedBy;
  const before = withDefaults(old.spec, gates);
  const after = withDefaults(jobSet.spec, gates);
  const isSuspended = before.suspend || after.suspend;
  const earlier = new Set(errorsOfAnySize(old, gates, NO_CLAIMS).map(told));
  return [
    ...sizeErrors(after, limits, before),
    ...activeDeadlineErrors(after, gates, before),
    ...(limits.unknownAnnotations === 'Warn'
      ? []
      : unknownAnnotationErrors(jobSet.metadata, after, { metadata: old.metadata, spec: before })),
    ...(gates.ElasticJobSet
      ? scalingErrors(before, after, isFinished(old.status?.conditions))
      : []),
    ...replicatedJobsImmutableErrors(before.replicatedJobs, after.replicatedJobs, {
      isSuspended,
      hasMutableResources: isSuspended && gates.MutablePodResourcesForSuspendedJobSets,
      isElastic: gates.ElasticJobSet,
    }),
    ...(managedBy === old.spec?.managedBy
      ? []
      : [invalidValue('spec.managedBy', managedBy, 'field is immutable')]),
    ...fieldChangeErrors(old, jobSet),
    ...ranksChangeErrors(old, jobSet),
    ...errorsOfAnySize(jobSet, gates, NO_CLAIMS).filter((error) => !earlier.has(told(error))),
  ];
}

/**
 * Problems that make it impossible to act on a JobSet, however it was stored: its Jobs or its
 * Service could not be created, could never start, or would break the restart of the group.
 */
export function validateJobSet(
  jobSet: JobSet,
  spec: DefaultedSpec,
  limits: SizeLimits = DEFINITION_LIMITS,
): readonly FieldError[] {
  const name = nameOrSample(jobSet.metadata);
  return [
    ...sizeErrors(spec, limits),
    ...subdomainErrors(spec),
    ...replicatedJobsErrors(jobSet, spec),
    ...ruleNameErrors(spec.failurePolicy?.rules ?? []),
    ...storedCoordinatorErrors(spec),
    ...coordinatorLabelErrors(name, spec),
    ...volumeClaimErrors(name, spec, NO_CLAIMS),
    ...annotationErrors(jobSet.metadata.annotations),
    ...ranksErrors(jobSet, spec),
    ...lostNodeDeadlineErrors(spec, jobSet.metadata.annotations),
  ];
}

/** Warnings about an accepted JobSet. */
export function jobSetWarnings(
  jobSet: JobSet,
  spec: DefaultedSpec = withDefaults(jobSet.spec),
  share: ShareOptions = {},
): readonly string[] {
  const { annotations } = jobSet.metadata;
  const isInPlace = spec.failurePolicy?.restartStrategy === 'InPlaceRestart';
  return [
    ...maxRestartsWarnings(spec),
    ...liveAnnotationErrors(jobSet).map((error) => `${formatFieldError(error)}; it is ignored`),
    ...keepFailedWarnings(spec, annotations),
    ...ladderWarnings(spec, annotations),
    ...settingsWarnings(isInPlace ? injectedMode(spec, annotations) : 'Recreate', annotations),
    ...misplacedAnnotationWarnings(jobSet.metadata, spec),
    ...unknownValueWarnings(spec),
    ...spec.replicatedJobs.flatMap(({ name, template }, index) => {
      const path = podTemplatePath(index);
      const { restartPolicy } = template.spec.template.spec;
      const { warnings } = tryInjection(template.spec.template, path, spec, annotations, share);
      if (!isInPlace || restartPolicy !== 'OnFailure') return warnings;
      const warning = `replicatedJob ${name}: restartPolicy OnFailure restarts a failed container alone where no rule matches; Never is meant for in-place restart`;
      return [...warnings, warning];
    }),
  ];
}

/**
 * Problems of annotations that may change while the JobSet runs. The webhook refuses them. Once
 * stored they are ignored, so that a typing error does not keep a group from its restart.
 */
function liveAnnotationErrors({ metadata }: JobSet): readonly FieldError[] {
  return [
    ...progressTimeoutErrors(metadata.annotations),
    ...keepFailedErrors(metadata),
    ...restartEpochErrors(metadata.annotations),
    ...ladderErrors(metadata.annotations),
    ...forgetNodesErrors(metadata.annotations),
  ];
}

const NO_CLAIMS: ExistingClaims = new Map();

function told({ type, field, detail }: FieldError): string {
  return `${type} ${field} ${detail}`;
}

function replicatedJobsErrors(jobSet: JobSet, spec: DefaultedSpec): FieldError[] {
  const name = nameOrSample(jobSet.metadata);
  const earlier = new Set<string>();
  return spec.replicatedJobs.flatMap((job, index) => {
    const errors = replicatedJobErrors(jobSet, spec, job, { index, name, earlier });
    earlier.add(job.name);
    return errors;
  });
}

function replicatedJobErrors(
  { metadata }: JobSet,
  spec: DefaultedSpec,
  job: DefaultedReplicatedJob,
  at: { readonly index: number; readonly name: string; readonly earlier: ReadonlySet<string> },
): FieldError[] {
  const path = `spec.replicatedJobs[${at.index}]`;
  const { template } = job.template.spec;
  return [
    ...podCountErrors(job, path),
    ...groupNameErrors(job, path),
    ...generatedNameErrors(at.name, job, path),
    ...restartPolicyErrors(job, path),
    ...dependencyErrors(job, at.earlier, path),
    ...inPlaceRestartErrors(spec, job, path),
    ...exclusivePlacementErrors(metadata.annotations, job, path),
    ...tryInjection(template, podTemplatePath(at.index), spec, metadata.annotations).errors,
  ];
}

function podTemplatePath(index: number): string {
  return `spec.replicatedJobs[${index}].template.spec.template`;
}

function maxRestartsWarnings({ failurePolicy }: DefaultedSpec): readonly string[] {
  if (failurePolicy === undefined) return [];
  const { maxRestarts, restartStrategy } = failurePolicy;
  if (maxRestarts === 0 && restartStrategy === 'InPlaceRestart') {
    return [
      'spec.failurePolicy.maxRestarts is 0, its default: with InPlaceRestart the first counted failure fails the JobSet; set the number of restarts that you allow',
    ];
  }
  if (maxRestarts >= 0) return [];
  return [
    `spec.failurePolicy.maxRestarts is ${maxRestarts}, which allows no restart, as 0 does: the first counted failure fails the JobSet`,
  ];
}
