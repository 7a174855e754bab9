import { domainPrefixedPathErrors } from '../../kube/domain-prefixed-path.ts';
import { tooLong } from '../../kube/field-error.ts';
import type { FieldError } from '../../kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';

const FIELD = 'spec.managedBy';
const LIMIT_BYTES = 63;

/** A path below a domain. The built-in controller's name is one. */
export function managedByErrors({ managedBy }: Pick<DefaultedSpec, 'managedBy'>): FieldError[] {
  if (managedBy === undefined) return [];
  const errors = domainPrefixedPathErrors(managedBy, FIELD);
  return Buffer.byteLength(managedBy) > LIMIT_BYTES
    ? [...errors, tooLong(FIELD, LIMIT_BYTES)]
    : errors;
}
