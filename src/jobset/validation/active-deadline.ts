import { forbiddenField } from '../../kube/field-error.ts';
import type { FieldError } from '../../kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import type { FeatureGates } from '../feature-gates.ts';

/** Without its gate a deadline may stay or go, but not come or change: nothing would keep it. */
export function activeDeadlineErrors(
  { activeDeadlineSeconds }: Pick<DefaultedSpec, 'activeDeadlineSeconds'>,
  gates: FeatureGates,
  before?: Pick<DefaultedSpec, 'activeDeadlineSeconds'>,
): FieldError[] {
  if (gates.JobSetActiveDeadlineSeconds || activeDeadlineSeconds === undefined) return [];
  if (activeDeadlineSeconds === before?.activeDeadlineSeconds) return [];
  const detail = 'cannot be set when JobSetActiveDeadlineSeconds feature gate is disabled';
  return [forbiddenField('spec.activeDeadlineSeconds', detail)];
}
