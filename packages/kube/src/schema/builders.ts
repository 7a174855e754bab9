/**
 * Builders of structural schemas. They are shorthand for plain `JsonSchema` values, so that the
 * schema of a kind reads like its type. An optional description is the last argument.
 */
import { defined } from '../json/defined.ts';
import type { JsonSchema } from './json-schema.ts';

type Properties = Readonly<Record<string, JsonSchema>>;

interface ObjectOptions<P extends Properties> {
  readonly required?: readonly (keyof P & string)[];
  readonly description?: string;
}

export type ObjectSchema<P extends Properties = Properties> = JsonSchema & {
  readonly properties: P;
};

/** An object with these fields and no others. */
export function object<P extends Properties>(
  properties: P,
  { required, description }: ObjectOptions<P> = {},
): ObjectSchema<P> {
  return {
    type: 'object',
    ...describe(description),
    properties,
    ...defined({ required }),
  };
}

/** An object that is replaced as a whole, never merged. */
export function atomic(schema: JsonSchema): JsonSchema {
  return { ...schema, 'x-kubernetes-map-type': 'atomic' };
}

/** A map from names to values of one schema. */
export function map(values: JsonSchema, description?: string): JsonSchema {
  return { type: 'object', ...describe(description), additionalProperties: values };
}

export function string(description?: string): JsonSchema {
  return { type: 'string', ...describe(description) };
}

/** A text out of a fixed set. */
export function oneOf(allowed: readonly string[], description?: string): JsonSchema {
  return { type: 'string', ...describe(description), enum: allowed };
}

export function boolean(description?: string): JsonSchema {
  return { type: 'boolean', ...describe(description) };
}

export function int32(description?: string): JsonSchema {
  return { type: 'integer', format: 'int32', ...describe(description) };
}

export function int64(description?: string): JsonSchema {
  return { type: 'integer', format: 'int64', ...describe(description) };
}

export function number(description?: string): JsonSchema {
  return { type: 'number', format: 'double', ...describe(description) };
}

/** `metav1.Time` and `metav1.MicroTime`, in RFC 3339. */
export function time(description?: string): JsonSchema {
  return { type: 'string', format: 'date-time', ...describe(description) };
}

/** Bytes in base64. */
export function bytes(description?: string): JsonSchema {
  return { type: 'string', format: 'byte', ...describe(description) };
}

/** A number or a name, such as a port. */
export function intOrString(description?: string): JsonSchema {
  return {
    title: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    'x-kubernetes-int-or-string': true,
    ...describe(description),
  };
}

/** A list that does not say how it is merged. */
export function list(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', ...describe(description), items };
}

/** A list that is replaced as a whole. */
export function atomicList(items: JsonSchema, description?: string): JsonSchema {
  return { ...list(items, description), 'x-kubernetes-list-type': 'atomic' };
}

/** A list without repetition. */
export function set(items: JsonSchema, description?: string): JsonSchema {
  return { ...list(items, description), 'x-kubernetes-list-type': 'set' };
}

/** A list of objects, identified by the values of `keys`. */
export function listMap(
  keys: readonly string[],
  items: JsonSchema,
  description?: string,
): JsonSchema {
  return {
    ...list(items, description),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  };
}

/** An object whose unknown fields are kept. */
export function preserveUnknown(description?: string): JsonSchema {
  return { type: 'object', ...describe(description), 'x-kubernetes-preserve-unknown-fields': true };
}

/** Any JSON value. */
export function anything(description?: string): JsonSchema {
  return { ...describe(description), 'x-kubernetes-preserve-unknown-fields': true };
}

export function described(description: string, schema: JsonSchema): JsonSchema {
  return { ...schema, description };
}

export function defaulted(value: unknown, schema: JsonSchema): JsonSchema {
  return { ...schema, default: value };
}

export function nullable(schema: JsonSchema): JsonSchema {
  return { ...schema, nullable: true };
}

/** Bounds: `minimum`, `maxItems`, `pattern` and so on. */
export function limited(
  limits: Pick<
    JsonSchema,
    | 'minimum'
    | 'maximum'
    | 'minLength'
    | 'maxLength'
    | 'pattern'
    | 'minItems'
    | 'maxItems'
    | 'minProperties'
    | 'maxProperties'
  >,
  schema: JsonSchema,
): JsonSchema {
  return { ...schema, ...limits };
}

function describe(description: string | undefined): Pick<JsonSchema, 'description'> {
  return description === undefined ? {} : { description };
}
