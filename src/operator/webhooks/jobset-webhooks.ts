/** The decisions of the webhooks of JobSets: defaults, and errors of a new or changed JobSet. */

import { forbiddenField, formatFieldError, invalid } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  type PersistentVolumeClaim,
} from '@lockstep/kube/objects/core.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { overlongLists } from '@lockstep/kube/schema/limits.ts';
import { type ApiStatusError, type FieldError, isReason } from '@lockstep/kube/status.ts';
import { badRequest } from '@lockstep/kube/status-errors.ts';
import { admitJobSet, asTextQuantities, WHOLE_JOBSET_SCHEMA } from '../../jobset/admit.ts';
import { unknownAnnotationWarnings } from '../../jobset/annotations/unknown-annotations.ts';
import {
  type DefaultedSpec,
  defaultJobSet,
  defaultUpdatedJobSet,
  withDefaults,
} from '../../jobset/defaults.ts';
import type { FeatureGates } from '../../jobset/feature-gates.ts';
import { type AgentDefaults, withAgentDefaults } from '../../jobset/injection/agent-defaults.ts';
import { hubErrors } from '../../jobset/injection/agent-hub.ts';
import {
  type AgentProgram,
  restartRuleErrors,
  sharesWithSidecars,
} from '../../jobset/injection/agent-mode.ts';
import type { ContainerMinimums, ShareOptions } from '../../jobset/injection/agent-resources.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { AGENT_CHANNEL } from '../../jobset/names.ts';
import { withFieldsOf } from '../../jobset/overrides/field-annotations.ts';
import { fieldChangeErrors, withKeptFields } from '../../jobset/overrides/field-changes.ts';
import type { JobSetLimits } from '../../jobset/size-limits.ts';
import { laterJobsWarnings } from '../../jobset/validation/later-jobs.ts';
import {
  type WithNamespaceDefaults,
  withNamespaceDefaults,
} from '../../jobset/validation/namespace-defaults.ts';
import {
  jobSetWarnings,
  validateJobSetCreate,
  validateJobSetUpdate,
} from '../../jobset/validation/validation.ts';
import { type ExistingClaims, sharedClaimNames } from '../../jobset/validation/volume-claims.ts';
import { containerMinimums } from '../tracking/container-minimums.ts';
import type { NamespaceAnnotations } from '../tracking/namespace-annotations.ts';
import type { NodeFeatures } from '../tracking/node-features.ts';
import type { AdmissionAnswer, AdmissionHandler } from './admission-handler.ts';
import { type NodeQuestion, withDecisions } from './mode-choice.ts';
import { jobSetShapeErrors } from './review-shape.ts';

/**
 * Fills in defaults of a new JobSet, and fields of a changed one that must not be lost. It already
 * refuses everything that the validator would refuse: the server checks the definition's rules in
 * between, and the first broken rule would hide all other problems. It leaves problems that the
 * schema finds to the server.
 */
export function jobSetMutator(
  cluster: MutatorQuestions,
  gates: FeatureGates,
  { agentDefaults, servesHub = true }: Pick<ValidatorOptions, 'agentDefaults' | 'servesHub'> = {},
  limits?: JobSetLimits,
): AdmissionHandler {
  return async (request, signal) => {
    const { operation, object } = request;
    // The schema is checked after this webhook, and reports another kind of spec.
    if (object !== undefined && !hasSpec(object)) return ALLOWED;
    if (operation === 'UPDATE') {
      const given = asTextQuantities(jobSetIn(object));
      if (request.oldObject === undefined) return ALLOWED;
      const before = jobSetIn(request.oldObject);
      // Otherwise the definition would refuse the field of a changed annotation.
      refuseIfAny(given, fieldChangeErrors(before, given));
      return { kind: 'Allowed', object: defaultUpdatedJobSet(withKeptFields(before, given)) };
    }
    if (operation !== 'CREATE') return ALLOWED;
    const given = asTextQuantities(jobSetIn(object));
    refuseIfAny(given, overlong(given));
    const { jobSet: asked, problems } = await inNamespace(
      given,
      request,
      cluster,
      servesHub,
      signal,
    );
    const { jobSet, schemaErrors, ruleErrors } = admitJobSet(asked, gates, limits, agentDefaults);
    if (ruleErrors.length > 0) throw refusal(asked, [...schemaErrors, ...ruleErrors]);
    const kept = await withDecisions(withFieldsOf(asked), jobSet, cluster, signal);
    const told = problems.length === 0 ? {} : { warnings: problems };
    return { kind: 'Allowed', object: defaultJobSet(kept, gates), ...told };
  };
}

/** Refuses an invalid JobSet, or a forbidden change, with all causes. */
export function jobSetValidator(
  cluster: JobSetQuestions,
  gates: FeatureGates,
  agent: ValidatorOptions = {},
  limits?: JobSetLimits,
): AdmissionHandler {
  const { agentDefaults: defaults, servesHub = true } = agent;
  const warnsOfUnknown = limits?.unknownAnnotations === 'Warn';
  const complete = (jobSet: JobSet): JobSet => withAgentDefaults(jobSet, { defaults });
  return async (request, signal) => {
    switch (request.operation) {
      case 'CREATE': {
        const given = jobSetIn(request.object);
        refuseIfAny(given, unreadable(given));
        const jobSet = complete(given);
        const { claims, problems } = await existingClaims(cluster, request, jobSet, signal);
        const spec = withDefaults(jobSet.spec, gates);
        const isShared = sharesWithSidecars(spec, jobSet.metadata.annotations);
        const minimums = isShared ? await knownMinimums(cluster, request, signal) : {};
        const errors = [
          ...validateJobSetCreate(jobSet, gates, claims, limits),
          ...restartRuleErrors(spec, agent),
          ...hubErrors(jobSet.metadata.annotations, servesHub),
          ...problems,
        ];
        const warnings = warnsOfUnknown ? unknownAnnotationWarnings(jobSet.metadata, spec) : [];
        return judged(jobSet, spec, { ...agent, minimums }, errors, warnings);
      }
      case 'UPDATE': {
        const given = jobSetIn(request.object);
        const before = jobSetIn(request.oldObject);
        const problems = unreadable(given);
        if (problems.length > 0 && keepsSpec(before, given)) return ALLOWED;
        refuseIfAny(given, problems);
        const [stored] = unreadable(before);
        if (stored !== undefined) {
          throw badRequest(`request.oldObject: ${formatFieldError(stored)}`);
        }
        const [old, jobSet] = [complete(before), complete(given)];
        const spec = withDefaults(jobSet.spec, gates);
        const isChosen =
          old.metadata.annotations?.[AGENT_CHANNEL] !==
          jobSet.metadata.annotations?.[AGENT_CHANNEL];
        const errors = [
          ...validateJobSetUpdate(old, jobSet, gates, limits),
          ...(isChosen ? hubErrors(jobSet.metadata.annotations, servesHub) : []),
        ];
        const known = { metadata: old.metadata, spec: withDefaults(old.spec, gates) };
        const warnings = [
          ...(warnsOfUnknown ? unknownAnnotationWarnings(jobSet.metadata, spec, known) : []),
          ...laterJobsWarnings(before, given),
        ];
        return judged(jobSet, spec, agent, errors, warnings);
      }
      case 'DELETE':
      case 'CONNECT':
        return ALLOWED;
    }
  };
}

/** Absent: a Namespace has no defaults. */
export interface MutatorQuestions extends NodeQuestion {
  readonly namespaceAnnotations?: NamespaceAnnotations;
}

/** The questions of webhooks of JobSets about the cluster. Rejects if the API server refuses. */
export interface JobSetQuestions extends MutatorQuestions {
  claim(
    at: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim>;
  minimums(namespace: string, signal: AbortSignal): Promise<ContainerMinimums>;
}

/** `nodeFeatures` is absent if nodes have every feature. */
export function jobSetQuestions(client: Client, nodeFeatures?: NodeFeatures): JobSetQuestions {
  return {
    claim: (at, signal) => client.get(PERSISTENT_VOLUME_CLAIMS, at, { signal }),
    minimums: (namespace, signal) => containerMinimums(client, namespace, signal),
    restartAllProblem: async (selectors, signal) =>
      (await nodeFeatures?.restartAllProblemOn(selectors, signal))?.why,
  };
}

interface ValidatorOptions extends Pick<AgentProgram, 'nativeRestartRules' | 'resources'> {
  readonly agentDefaults?: AgentDefaults | undefined;
  readonly servesHub?: boolean | undefined;
}

const ALLOWED: AdmissionAnswer = { kind: 'Allowed' };

/** Claims that are looked up side by side. */
const CLAIMS_IN_FLIGHT = 16;

function judged(
  jobSet: JobSet,
  spec: DefaultedSpec,
  share: ShareOptions,
  errors: readonly FieldError[],
  others: readonly string[] = [],
): AdmissionAnswer {
  refuseIfAny(jobSet, errors);
  const warnings = [...others, ...jobSetWarnings(jobSet, spec, share)];
  return warnings.length === 0 ? ALLOWED : { kind: 'Allowed', warnings };
}

/** Checked first, because later checks take time for each item of these lists. */
function overlong(jobSet: JobSet): readonly FieldError[] {
  return overlongLists(WHOLE_JOBSET_SCHEMA, jobSet);
}

/** Why the rules cannot be checked: the definition's schema does not hold. */
function unreadable(jobSet: JobSet): readonly FieldError[] {
  const tooLong = overlong(jobSet);
  return tooLong.length > 0 ? tooLong : jobSetShapeErrors(jobSet);
}

/** A JobSet from before this limit may be suspended, resumed and labelled. */
function keepsSpec(old: JobSet, { spec }: JobSet): boolean {
  return deepEqual({ ...old.spec, suspend: true }, { ...spec, suspend: true });
}

/** The most reported problems, so that an answer is not much larger than the question. */
const MAX_TOLD_ERRORS = 100;

function refuseIfAny(jobSet: JobSet, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw refusal(jobSet, errors);
}

function refusal({ metadata }: JobSet, errors: readonly FieldError[]): ApiStatusError {
  const more = errors.length - MAX_TOLD_ERRORS;
  const rest = more > 0 ? [forbiddenField('spec', `there are ${more} more problems`)] : [];
  const name = typeof metadata.name === 'string' ? metadata.name : '';
  return invalid(JOBSETS, name, [...errors.slice(0, MAX_TOLD_ERRORS), ...rest]);
}

function jobSetIn(object: KubeObject | undefined): JobSet {
  const expected = `${apiVersionOf(JOBSETS)} ${JOBSETS.kind}`;
  if (object?.apiVersion !== apiVersionOf(JOBSETS) || object.kind !== JOBSETS.kind) {
    throw badRequest(`expected a ${expected}`);
  }
  if (!hasSpec(object)) throw badRequest(`expected a ${expected} whose spec is an object`);
  return object;
}

/** The schema checks the rest; if it has not run yet, `defaultJobSet` checks itself. */
function hasSpec(object: KubeObject): object is JobSet {
  return !('spec' in object) || isJsonObject(object.spec);
}

/** The JobSet with the defaults of its Namespace. The schema refuses a JobSet of another shape. */
async function inNamespace(
  given: JobSet,
  request: AdmissionRequest,
  { namespaceAnnotations }: MutatorQuestions,
  servesHub: boolean,
  signal: AbortSignal,
): Promise<WithNamespaceDefaults<JobSet>> {
  const namespace = given.metadata.namespace ?? request.namespace ?? '';
  if (namespaceAnnotations === undefined || namespace === '' || unreadable(given).length > 0) {
    return { jobSet: given, problems: [] };
  }
  try {
    const ofNamespace = await namespaceAnnotations(namespace, signal);
    return withNamespaceDefaults(given, ofNamespace, servesHub);
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    const problem = `the defaults of the Namespace could not be read, and the controller reads them again: ${why}`;
    return { jobSet: given, problems: [problem] };
  }
}

/** Only a warning depends on them. */
async function knownMinimums(
  { minimums }: JobSetQuestions,
  { namespace = '' }: AdmissionRequest,
  signal: AbortSignal,
): Promise<ContainerMinimums> {
  try {
    return await minimums(namespace, signal);
  } catch {
    signal.throwIfAborted();
    return {};
  }
}

/** Existing claims under names that the JobSet wants to share. */
async function existingClaims(
  cluster: JobSetQuestions,
  request: AdmissionRequest,
  jobSet: JobSet,
  signal: AbortSignal,
): Promise<{ readonly claims: ExistingClaims; readonly problems: readonly FieldError[] }> {
  const claims = new Map<string, PersistentVolumeClaim>();
  const problems: FieldError[] = [];
  const { name = '', namespace = request.namespace ?? '' } = jobSet.metadata;
  const wanted = name === '' ? [] : sharedClaimNames(name, withDefaults(jobSet.spec));
  await forEachConcurrently([...new Set(wanted)], CLAIMS_IN_FLIGHT, async (claim) => {
    try {
      claims.set(claim, await cluster.claim({ namespace, name: claim }, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (isReason(error, 'NotFound')) return;
      const why = error instanceof Error ? error.message : String(error);
      const detail = `cannot look up PVC ${claim}: ${why}`;
      problems.push({ type: 'InternalError', field: 'spec.volumeClaimPolicies', detail });
    }
  });
  return { claims, problems };
}
