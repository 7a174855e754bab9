/** Reports keys below our prefix that mean nothing, where they are stored already. */
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { unknownAnnotationErrors } from '../../annotations/unknown-annotations.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

/** A stored JobSet does what its other annotations say, and tells of those that say nothing. */
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
