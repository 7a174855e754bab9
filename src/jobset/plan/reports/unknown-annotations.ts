/** Reports unknown keys below our prefix in a stored JobSet. */
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { unknownAnnotationErrors } from '../../annotations/unknown-annotations.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

/** A stored JobSet follows its known annotations, and a condition names the unknown ones. */
export function reportUnknownAnnotations({ jobSet, spec }: Facts): readonly Decision[] {
  const type = 'UnknownAnnotations';
  const errors = unknownAnnotationErrors(jobSet.metadata, spec);
  if (errors.length === 0) {
    return [{ conditions: [cleared(type, 'AllKnown', 'all annotations of Lockstep are known')] }];
  }
  const message = `without effect: ${errors.map(formatFieldError).join('; ')}`;
  const reason = 'UnknownKeys';
  return [{ conditions: [{ type, status: 'True', reason, message, event: 'Warning' }] }];
}
