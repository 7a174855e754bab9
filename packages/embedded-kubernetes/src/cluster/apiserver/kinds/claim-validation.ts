/** Validates PersistentVolumeClaims. */
import { forbiddenField, invalidValue, required } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parseQuantity } from '@lockstep/kube/quantity.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import {
  type ApiObject,
  listAt,
  objectAt,
  textAt,
  valueAt,
  withMembers,
} from '../resources/api-object.ts';

/** Problems of a new PersistentVolumeClaim beyond the problems that its schema finds. */
export function claimErrors(claim: ApiObject): readonly FieldError[] {
  const modes = listAt(claim, 'spec', 'accessModes');
  const errors: FieldError[] = [];
  if (modes.length === 0) {
    errors.push(required('spec.accessModes', 'at least 1 access mode is required'));
  }
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    const detail = 'may not use ReadWriteOncePod with other access modes';
    errors.push(forbiddenField('spec.accessModes', detail));
  }
  const field = 'spec.resources[storage]';
  const storage = textAt(claim, 'spec', 'resources', 'requests', 'storage');
  const amount = parseQuantity(storage);
  if (amount === undefined) errors.push(required(field));
  else if (amount.nano <= 0n) {
    errors.push(invalidValue(field, storage, 'must be greater than zero'));
  }
  return errors;
}

/** A claim gets its volume once, and may ask for more room after that. */
export function claimUpdateErrors(claim: ApiObject, old: ApiObject): readonly FieldError[] {
  const errors = claimErrors(claim);
  if (deepEqual(fixedPart(claim, old), fixedPart(old, old))) return errors;
  const detail =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [...errors, forbiddenField('spec', detail)];
}

/** The part of `claim`'s spec that has to equal the same part of `old`. */
function fixedPart(claim: ApiObject, old: ApiObject): JsonObject {
  const spec = objectAt(claim, 'spec');
  const isPlaced = textAt(old, 'spec', 'volumeName') !== '';
  const isBound = textAt(old, 'status', 'phase') === 'Bound';
  return withMembers(spec, {
    volumeName: isPlaced ? valueAt(spec, 'volumeName') : undefined,
    ...(isBound
      ? {
          resources: withMembers(objectAt(spec, 'resources'), { requests: undefined }),
          volumeAttributesClassName: undefined,
        }
      : {}),
  });
}
