/** Checks that a structural schema says how the items of its lists are identified. */
import { forbiddenField, invalidValue, required } from '@lockstep/kube/field-error.ts';
import { ownMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

/** Problems of `schema` as a list, without problems of anything below it. */
export function listStructureErrors(schema: JsonSchema, path: string): FieldError[] {
  const { type, items } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const errors: FieldError[] = [];
  if (type === 'array' && items === undefined) {
    errors.push(required(`${path}.items`, 'must be specified'));
  }
  if (listType !== undefined && type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified';
    const field = `${path}.type`;
    errors.push(type === undefined ? required(field, detail) : invalidValue(field, type, detail));
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const field = `${path}.x-kubernetes-list-type`;
    errors.push(
      listType === undefined ? required(field, detail) : invalidValue(field, listType, detail),
    );
  }
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return errors;
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbiddenField(`${path}.items.nullable`, detail));
  }
  return [
    ...errors,
    ...(listType === 'set' ? setErrors(items, path) : mapErrors(items, keys, path)),
  ];
}

/** Items of a set are compared as a whole. */
function setErrors(items: JsonSchema, path: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const itemType = items['x-kubernetes-list-type'] ?? 'atomic';
  if (items.type === 'array' && itemType !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, itemType, detail)];
  }
  const mapType = items['x-kubernetes-map-type'];
  if (items.type === 'object' && mapType !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, mapType ?? null, detail)];
  }
  return [];
}

function mapErrors(items: JsonSchema, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (keys.length === 0) {
    const detail = 'must not be empty if x-kubernetes-list-type is map';
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, detail));
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalidValue(`${path}.items.type`, items.type ?? '', detail)];
  }
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  keys.forEach((key, index) => {
    const property = ownMember(items.properties ?? {}, key);
    if (property === undefined) {
      errors.push(invalidValue(keysPath, keys, 'entries must all be names of item properties'));
    } else {
      errors.push(...keyErrors(items, key, property, `${path}.items.properties[${key}]`));
    }
    if (keys.indexOf(key) < index) {
      errors.push(invalidValue(keysPath, keys, 'must not contain duplicate entries'));
    }
  });
  return errors;
}

function keyErrors(
  items: JsonSchema,
  key: string,
  property: JsonSchema,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const { type, nullable, default: value } = property;
  if (type === 'array' || type === 'object') {
    const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    errors.push(invalidValue(`${path}.type`, type, detail));
  }
  const inKeys = 'this property is in x-kubernetes-list-map-keys, so it';
  const isAlwaysThere = items.required?.includes(key) === true || value !== undefined;
  if (!isAlwaysThere) {
    const detail = `${inKeys} must have a default or be a required property`;
    errors.push(required(`${path}.default`, detail));
  }
  if (nullable === true) {
    errors.push(forbiddenField(`${path}.nullable`, `${inKeys} cannot be nullable`));
  }
  return errors;
}
