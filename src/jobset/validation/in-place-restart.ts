/**
 * Validates Jobs of a group that restarts in place. While the group restarts, a Job must not give
 * up or grow.
 */
import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { type DefaultedReplicatedJob, type DefaultedSpec, UNLIMITED_BACKOFF } from '../defaults.ts';
import type { FeatureGates } from '../feature-gates.ts';
import { DISABLE_IN_PLACE_RESTART } from '../names.ts';

export function inPlaceRestartGateErrors(
  { failurePolicy }: Pick<DefaultedSpec, 'failurePolicy'>,
  gates: FeatureGates,
): FieldError[] {
  if (gates.InPlaceRestart || failurePolicy?.restartStrategy !== 'InPlaceRestart') return [];
  const detail =
    'InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled';
  return [forbiddenField('spec.failurePolicy.restartStrategy', detail)];
}

export function inPlaceRestartErrors(
  { failurePolicy }: Pick<DefaultedSpec, 'failurePolicy'>,
  { name, template }: DefaultedReplicatedJob,
  path: string,
): FieldError[] {
  if (failurePolicy?.restartStrategy !== 'InPlaceRestart') return [];
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
  if (completions === undefined || completions !== parallelism) {
    const why = 'completions and parallelism must be set and equal to each other';
    refuse('completions', completions, why);
  }
  return errors;
}

/** The annotation counts by its presence, so a value like `false` would do the opposite. */
export function bypassErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const value = annotations?.[DISABLE_IN_PLACE_RESTART];
  if (value === undefined || !/^(?:false|no|off|0)$/i.test(value)) return [];
  const detail =
    'the annotation takes the JobSet out of in-place restart whatever its value: remove it to restart in place';
  return [invalidValue(`metadata.annotations[${DISABLE_IN_PLACE_RESTART}]`, value, detail)];
}
