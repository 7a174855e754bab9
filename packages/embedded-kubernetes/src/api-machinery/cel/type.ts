/**
 * Types of expressions. A type from a schema knows how large its values can be: `maxSize` counts
 * characters, bytes, items or members, and only the cost estimate uses it.
 */
export type CelType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'string' | 'bytes'; readonly maxSize?: number }
  | { readonly kind: 'list'; readonly element: CelType; readonly maxSize?: number }
  | {
      readonly kind: 'map';
      readonly key: CelType;
      readonly value: CelType;
      readonly maxSize?: number;
    }
  | ObjectType
  | { readonly kind: 'optional'; readonly of: CelType }
  | { readonly kind: 'opaque'; readonly name: string }
  /** Any type, but the same one throughout a signature. */
  | { readonly kind: 'parameter'; readonly name: string };

type ScalarKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'timestamp'
  | 'duration'
  | 'type';

/**
 * An object with declared fields, by their escaped names. Types are equal if they are the same
 * object.
 */
export interface ObjectType {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, CelType>;
}

export const DYN_TYPE: CelType = { kind: 'dyn' };
export const NULL_TYPE: CelType = { kind: 'null' };
export const BOOL_TYPE: CelType = { kind: 'bool' };
export const INT_TYPE: CelType = { kind: 'int' };
export const UINT_TYPE: CelType = { kind: 'uint' };
export const DOUBLE_TYPE: CelType = { kind: 'double' };
export const STRING_TYPE: CelType = { kind: 'string' };
export const BYTES_TYPE: CelType = { kind: 'bytes' };
export const TIMESTAMP_TYPE: CelType = { kind: 'timestamp' };
export const DURATION_TYPE: CelType = { kind: 'duration' };
export const TYPE_TYPE: CelType = { kind: 'type' };

export function listOf(element: CelType): CelType {
  return { kind: 'list', element };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value };
}

export function optionalOf(of: CelType): CelType {
  return { kind: 'optional', of };
}

/** A type as cel-go shows it in errors. */
export function typeText(type: CelType): string {
  const { kind } = type;
  if (kind === 'list') return `list(${typeText(type.element)})`;
  if (kind === 'map') return `map(${typeText(type.key)}, ${typeText(type.value)})`;
  if (kind === 'optional') return `optional_type(${typeText(type.of)})`;
  return kind === 'opaque' || kind === 'parameter' ? type.name : kind;
}

/** The types that the parameters of a signature stand for in one call. */
export type Bindings = Map<string, CelType>;

/** Whether an argument of type `given` fits `wanted`; binds the parameters in `wanted`. */
export function fits(wanted: CelType, given: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'parameter') {
    const bound = bindings.get(wanted.name);
    if (bound === undefined || bound.kind === 'dyn') {
      if (bound === undefined) bindings.set(wanted.name, given);
      return true;
    }
    if (fits(bound, given, bindings)) return true;
    if (!fits(given, bound, bindings)) return false;
    bindings.set(wanted.name, given);
    return true;
  }
  if (wanted.kind === 'dyn' || given.kind === 'dyn') return true;
  if (given.kind === 'null') return NULLABLE.has(wanted.kind);
  if (wanted.kind === 'list') {
    return given.kind === 'list' && fits(wanted.element, given.element, bindings);
  }
  if (wanted.kind === 'map') {
    return (
      given.kind === 'map' &&
      fits(wanted.key, given.key, bindings) &&
      fits(wanted.value, given.value, bindings)
    );
  }
  if (wanted.kind === 'optional') {
    return given.kind === 'optional' && fits(wanted.of, given.of, bindings);
  }
  if (wanted.kind === 'object') return given === wanted;
  if (wanted.kind === 'opaque') return given.kind === 'opaque' && given.name === wanted.name;
  return given.kind === wanted.kind;
}

const NULLABLE: ReadonlySet<CelType['kind']> = new Set([
  'null',
  'object',
  'optional',
  'timestamp',
  'duration',
  'opaque',
]);

/** `type` with its parameters replaced by what they stand for. */
export function substituted(type: CelType, bindings: Bindings): CelType {
  if (type.kind === 'parameter') return bindings.get(type.name) ?? DYN_TYPE;
  if (type.kind === 'list') return { ...type, element: substituted(type.element, bindings) };
  if (type.kind === 'optional') return optionalOf(substituted(type.of, bindings));
  if (type.kind !== 'map') return type;
  const { key, value } = type;
  return { ...type, key: substituted(key, bindings), value: substituted(value, bindings) };
}

/** The common type of values: their type if they agree, otherwise `dyn`. */
export function joined(types: readonly CelType[]): CelType {
  const [first, ...rest] = types;
  if (first === undefined) return DYN_TYPE;
  let join = first;
  for (const type of rest) {
    if (fits(join, type, new Map())) continue;
    if (!fits(type, join, new Map())) return DYN_TYPE;
    join = type;
  }
  return join;
}
