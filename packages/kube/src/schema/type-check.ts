/**
 * Checks the type and format of one value, with the texts of the API server. As there, the reported
 * value is the name of the type that was found.
 */
import { jsonTypeOf } from '../json/json-value.ts';
import type { FieldError } from '../status.ts';
import { isOfFormat } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';

/** The problem with the type or format of `value`, if there is one. */
export function checkType(
  schema: JsonSchema,
  value: unknown,
  path: string,
): FieldError | undefined {
  const types = typesOf(schema);
  const found = jsonTypeOf(value);
  if (found === 'null') {
    return types.length > 0 && schema.nullable !== true
      ? wrongType(path, types.join(','), 'null')
      : undefined;
  }
  const { format } = schema;
  const matches =
    types.length === 0 ||
    types.includes(found) ||
    (found === 'integer' && types.includes('number'));
  if (matches) {
    return typeof value === 'string' && format !== undefined && !isOfFormat(format, value)
      ? wrongType(path, format, value)
      : undefined;
  }
  if (format !== undefined && found !== 'string' && found !== 'array') {
    return wrongType(
      path,
      format,
      found === 'integer' || found === 'number' ? goFormat(found) : '',
    );
  }
  return wrongType(path, types.join(','), found);
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

/** The format that the API server's decoder gives to a number. */
function goFormat(found: 'integer' | 'number'): string {
  return found === 'integer' ? 'int64' : 'float64';
}

function wrongType(path: string, expected: string, found: string): FieldError {
  return {
    type: 'FieldValueTypeInvalid',
    field: path === '' ? '<nil>' : path,
    badValue: found,
    detail: `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`,
  };
}
