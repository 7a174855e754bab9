/** Validates objects before they are stored. */

import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { validateListTypes } from '@lockstep/kube/schema/list-types.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { violations } from '../../../api-machinery/definitions/rule-evaluation.ts';
import {
  objectMetaErrors,
  objectMetaUpdateErrors,
} from '../../../api-machinery/validation/object-meta.ts';
import type { ApiObject, StoredObject } from '../resources/api-object.ts';
import type { ServedResource } from '../resources/served-resource.ts';

/** All problems of a new object, in the version that the client uses. */
export function validateNew(of: ServedResource, object: ApiObject): readonly FieldError[] {
  const bySchema = validateBySchema(of, object);
  const byKind = isWhole(bySchema) ? of.strategy.validate(object) : [];
  const general = objectMetaErrors(object.metadata, metadataRules(of));
  return withViolations(of, object, undefined, eachOnce([...general, ...byKind], bySchema));
}

/** All problems of a changed object, in the version that the client uses. */
export function validateChanged(
  of: ServedResource,
  object: ApiObject,
  old: StoredObject,
  subresource: string | undefined,
): readonly FieldError[] {
  const bySchema = validateBySchema(of, object);
  const byKind = isWhole(bySchema) ? of.strategy.validateUpdate(object, old, subresource) : [];
  const general = objectMetaUpdateErrors(object.metadata, old.metadata, metadataRules(of));
  return withViolations(of, object, old, eachOnce([...general, ...byKind], bySchema));
}

/** Validation rules in CEL run last, and only if the object's shape is valid. */
function withViolations(
  { rules }: ServedResource,
  object: ApiObject,
  old: StoredObject | undefined,
  errors: readonly FieldError[],
): readonly FieldError[] {
  if (rules === undefined) return errors;
  if (errors.some(({ type }) => BLOCKS_RULES.has(type))) return [...errors, RULES_NOT_CHECKED];
  return [...errors, ...violations(rules, object, old)];
}

const BLOCKS_RULES: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const RULES_NOT_CHECKED: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  badValue: null,
  detail:
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** The rules of a kind rely on the types and required fields of its schema. */
function isWhole(bySchema: readonly FieldError[]): boolean {
  return !bySchema.some(
    ({ type }) => type === 'FieldValueRequired' || type === 'FieldValueTypeInvalid',
  );
}

/**
 * Removes duplicates. A kind's rules repeat some rules of metadata and schema, and the schema's
 * problems of a field yield to the kind's.
 */
function eachOnce(
  errors: readonly FieldError[],
  bySchema: readonly FieldError[],
): readonly FieldError[] {
  const seen = new Map(errors.map((error) => [formatFieldError(error), error]));
  const judged = new Set(errors.map(({ field }) => field));
  return [...seen.values(), ...bySchema.filter(({ field }) => !judged.has(field))];
}

function validateBySchema(of: ServedResource, object: ApiObject): readonly FieldError[] {
  const errors = validate(of.schema, object);
  return of.custom ? [...errors, ...validateListTypes(of.schema, object)] : errors;
}

function metadataRules(of: ServedResource): Parameters<typeof objectMetaErrors>[1] {
  return { namespaced: of.namespaced, nameRule: of.strategy.nameRule };
}
