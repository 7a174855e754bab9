/**
 * Checks that the schema of a CustomResourceDefinition is structural: every field has a type
 * outside of `allOf`, `anyOf`, `oneOf` and `not`, which may only restrict what is declared
 * elsewhere. Only then can objects be pruned and defaulted. Texts and paths are the API server's.
 * The schema already has the shape of `JSONSchemaProps`.
 */
import {
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '@lockstep/kube/field-error.ts';
import { ownMember } from '@lockstep/kube/json/json-value.ts';
import { compilePattern } from '@lockstep/kube/pattern-cache.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { prune } from '@lockstep/kube/schema/prune.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { listStructureErrors } from './list-structure.ts';

/** Problems of the schema at `path`, `spec.validation.openAPIV3Schema` for example. */
export function structuralErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.nullable === true) {
    errors.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'));
  }
  checkNode(schema, 'root', path, errors);
  // A default can be checked only against a sound schema.
  if (errors.length === 0) checkDefaults(schema, path, errors);
  return errors;
}

type Level = 'root' | 'field' | 'item';

const UNTYPED: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  field: 'must not be empty for specified object fields',
  item: 'must not be empty for specified array items',
};

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function checkNode(schema: JsonSchema, level: Level, path: string, errors: FieldError[]): void {
  errors.push(
    ...typeErrors(schema, level, path),
    ...extensionErrors(schema, level, path),
    ...listStructureErrors(schema, path),
    ...keywordErrors(schema, path),
  );
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const propertyPath = `${path}.properties[${name}]`;
    if (level === 'root' && name === 'metadata') {
      errors.push(...rootMetadataErrors(property, propertyPath));
      continue;
    }
    checkNode(property, 'field', propertyPath, errors);
  }
  const { items, additionalProperties } = schema;
  if (items !== undefined) checkNode(items, 'item', `${path}.items`, errors);
  if (typeof additionalProperties === 'object') {
    checkNode(additionalProperties, 'field', `${path}.additionalProperties`, errors);
  }
  // The API server checks only at the root that restricted fields are declared too.
  const declared = level === 'root' ? { schema, path } : 'unknown';
  checkValidations(schema, declared, path, errors);
}

function typeErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const type: string | undefined = schema.type;
  const field = `${path}.type`;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === undefined ? required(field, detail) : invalidValue(field, type, detail)];
  }
  if (type === undefined || type === '') {
    const needsNone =
      schema['x-kubernetes-int-or-string'] === true ||
      schema['x-kubernetes-preserve-unknown-fields'] === true;
    return needsNone ? [] : [required(field, UNTYPED[level])];
  }
  if (!TYPES.includes(type)) {
    const isNull = type === 'null';
    const detail = 'type cannot be set to null, use nullable as an alternative';
    return [notSupported(field, type, TYPES), ...(isNull ? [forbiddenField(field, detail)] : [])];
  }
  if (level === 'root' && type !== 'object') {
    return [invalidValue(field, type, 'must be object at the root')];
  }
  return [];
}

function extensionErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { properties = {}, additionalProperties, type } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  if (schema['x-kubernetes-int-or-string'] === true) {
    for (const other of [
      'x-kubernetes-preserve-unknown-fields',
      'x-kubernetes-embedded-resource',
    ] as const) {
      if (schema[other] !== true) continue;
      const detail = 'must be false if x-kubernetes-int-or-string is true';
      errors.push(invalidValue(`${path}.${other}`, true, detail));
    }
  }
  if (preserve === false) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`;
    errors.push(invalidValue(field, false, 'must be true or undefined'));
  }
  if (additionalProperties !== undefined) {
    const field = `${path}.additionalProperties`;
    if (level === 'root') errors.push(forbiddenField(field, 'must not be used at the root'));
    if (isEmbedded) {
      const detail = 'must not be used if x-kubernetes-embedded-resource is set';
      errors.push(forbiddenField(field, detail));
    }
    if (Object.keys(properties).length > 0 && additionalProperties !== true) {
      const detail = 'additionalProperties and properties are mutual exclusive';
      errors.push(forbiddenField(field, detail));
    }
  }
  if (isEmbedded && preserve !== true && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, detail));
  }
  if (level === 'root' || isEmbedded) errors.push(...objectFieldErrors(properties, path));
  if (schema['x-kubernetes-map-type'] !== undefined && type !== 'object') {
    const detail = 'must be object if x-kubernetes-map-type is specified';
    const field = `${path}.type`;
    errors.push(type === undefined ? required(field, detail) : invalidValue(field, type, detail));
  }
  return errors;
}

function objectFieldErrors(
  properties: Readonly<Record<string, JsonSchema>>,
  path: string,
): FieldError[] {
  const wanted = { apiVersion: 'string', kind: 'string', metadata: 'object' } as const;
  return Object.entries(wanted).flatMap(([name, type]) => {
    const property = ownMember(properties, name);
    if (property === undefined || property.type === type) return [];
    const field = `${path}.properties[${name}].type`;
    return [invalidValue(field, property.type ?? '', `must be ${type}`)];
  });
}

/** The server knows object metadata; a schema can only restrict how objects are named. */
function rootMetadataErrors(schema: JsonSchema, path: string): FieldError[] {
  const { type: _type, description: _description, properties = {}, ...others } = schema;
  const isNames = Object.keys(properties).every((name) => ['name', 'generateName'].includes(name));
  if (isNames && Object.keys(others).length === 0) return [];
  const detail =
    'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [forbiddenField(path, detail)];
}

const UNSUPPORTED = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const;

function keywordErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = UNSUPPORTED.filter((keyword) => Object.hasOwn(schema, keyword)).map(
    (keyword) => forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`),
  );
  if (schema.uniqueItems === true) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbiddenField(`${path}.uniqueItems`, detail));
  }
  const { pattern } = schema;
  if (pattern === undefined) return errors;
  const compiled = compilePattern(pattern);
  const defect = 'defect' in compiled ? compiled.defect : undefined;
  if (defect !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${defect}`;
    errors.push(invalidValue(`${path}.pattern`, pattern, detail));
  }
  return errors;
}

/** Keywords that only the declaring part of a schema may use. */
const DECLARING = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
] as const;

/** What the schema outside of logical parts declares of a value, and where. */
type Declared = { readonly schema: JsonSchema; readonly path: string } | 'unknown';

/** Checks the logical parts of `schema`; `declared` is what the schema around them declares. */
function checkValidations(
  schema: JsonSchema,
  declared: Declared,
  path: string,
  errors: FieldError[],
): void {
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
    const alternatives = schema[junctor] ?? [];
    // The one place where types may be repeated: it tells other readers int-or-string.
    if (junctor === 'anyOf' && isIntOrStringPattern(alternatives)) continue;
    alternatives.forEach((alternative, index) => {
      checkRestriction(alternative, declared, `${path}.${junctor}[${index}]`, errors);
    });
  }
  if (schema.not !== undefined) checkRestriction(schema.not, declared, `${path}.not`, errors);
}

function isIntOrStringPattern(alternatives: readonly JsonSchema[]): boolean {
  const [first, second, ...rest] = alternatives.map((one) => JSON.stringify(one));
  return first === '{"type":"integer"}' && second === '{"type":"string"}' && rest.length === 0;
}

function checkRestriction(
  schema: JsonSchema,
  declared: Declared,
  path: string,
  errors: FieldError[],
): void {
  for (const [keyword, detail] of DECLARING) {
    const value: unknown = schema[keyword];
    const isSaid = value !== undefined && value !== false && value !== '';
    if (isSaid) errors.push(forbiddenField(`${path}.${keyword}`, detail));
  }
  errors.push(...keywordErrors(schema, path));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const propertyPath = `${path}.properties[${name}]`;
    if (name === 'metadata') {
      errors.push(forbiddenField(propertyPath, 'must not be specified in a nested context'));
    }
    const below = declaredProperty(declared, name);
    checkDeclared(property, below, propertyPath, errors);
  }
  if (schema.items !== undefined) {
    checkDeclared(schema.items, declaredItems(declared), `${path}.items`, errors);
  }
  checkValidations(schema, declared, path, errors);
}

/** Checks a restricted part; `declared.schema` is undefined if nothing declares it. */
function checkDeclared(
  schema: JsonSchema,
  declared: { readonly schema: JsonSchema | undefined; readonly path: string } | 'unknown',
  path: string,
  errors: FieldError[],
): void {
  if (declared === 'unknown') {
    checkRestriction(schema, declared, path, errors);
  } else if (declared.schema === undefined) {
    errors.push(required(declared.path, `because it is defined in ${path}`));
  } else {
    checkRestriction(schema, { schema: declared.schema, path: declared.path }, path, errors);
  }
}

function declaredProperty(declared: Declared, name: string) {
  if (declared === 'unknown') return declared;
  const { schema, path } = declared;
  return { schema: ownMember(schema.properties ?? {}, name), path: `${path}.properties[${name}]` };
}

function declaredItems(declared: Declared) {
  if (declared === 'unknown') return declared;
  return { schema: declared.schema.items, path: `${declared.path}.items` };
}

/** A default must be a valid value itself, with nothing unknown in it. */
function checkDefaults(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const { default: value, properties = {}, items, additionalProperties } = schema;
  if (value !== undefined && value !== null) {
    const field = `${path}.default`;
    if (prune(schema, value).pruned.length > 0) {
      errors.push(invalidValue(field, value, 'must not have unknown fields'));
    }
    for (const error of validate(schema, applyDefaults(schema, value))) {
      const below = error.field === '<nil>' ? '' : `.${error.field}`;
      errors.push({ ...error, field: `${field}${below}` });
    }
  }
  for (const [name, property] of Object.entries(properties)) {
    checkDefaults(property, `${path}.properties[${name}]`, errors);
  }
  if (items !== undefined) checkDefaults(items, `${path}.items`, errors);
  if (typeof additionalProperties === 'object') {
    checkDefaults(additionalProperties, `${path}.additionalProperties`, errors);
  }
}
