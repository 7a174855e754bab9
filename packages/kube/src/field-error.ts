/** Problems of fields, with the texts of `k8s.io/apimachinery/pkg/util/validation/field`. */
import { quote } from './quote.ts';
import { type ApiStatusError, type FieldError, type FieldErrorType, failure } from './status.ts';

export function required(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, badValue: '', detail };
}

export function invalidValue(field: string, badValue: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, badValue, detail };
}

export function wrongType(field: string, badValue: unknown, detail: string): FieldError {
  return { type: 'FieldValueTypeInvalid', field, badValue, detail };
}

export function notSupported(
  field: string,
  badValue: unknown,
  supported: readonly string[],
): FieldError {
  const detail =
    supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`;
  return { type: 'FieldValueNotSupported', field, badValue, detail };
}

/** The problem of a value that is not one of those `supported`, if there is one. */
export function unknownValueErrors(
  field: string,
  value: string | undefined,
  supported: readonly string[],
): FieldError[] {
  if (value === undefined || supported.includes(value)) return [];
  return [notSupported(field, value, supported)];
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, badValue: '', detail };
}

export function duplicate(field: string, badValue: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, badValue, detail: '' };
}

/** The object that a field refers to does not exist. */
export function valueNotFound(field: string, badValue: unknown): FieldError {
  return { type: 'FieldValueNotFound', field, badValue, detail: '' };
}

export function tooLong(field: string, maxBytes: number): FieldError {
  const detail = `may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`;
  return { type: 'FieldValueTooLong', field, badValue: '', detail };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const detail = `must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return { type: 'FieldValueTooMany', field, badValue: actual, detail };
}

/** The error as one line: `spec.x: Invalid value: "v": detail`. */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`;
}

/** The line without the field, for the `message` of a cause. */
export function fieldErrorBody(error: FieldError): string {
  const { title, showsValue } = KINDS[error.type];
  const value = showsValue && error.badValue !== undefined ? `: ${shown(error.badValue)}` : '';
  return `${title}${value}${error.detail === '' ? '' : `: ${error.detail}`}`;
}

/** Joins several problems: each once, in brackets if there are more than one. */
export function formatFieldErrors(errors: readonly FieldError[]): string {
  const lines = [...new Set(errors.map(formatFieldError))];
  return lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
}

/** 422 `Invalid` about an object, with one cause for each problem. */
export function invalid(
  of: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiStatusError {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  const why = errors.length === 0 ? '' : `: ${formatFieldErrors(errors)}`;
  return failure('Invalid', `${kind} ${quote(name)} is invalid${why}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    ...(of.kind === '' ? {} : { kind: of.kind }),
    causes: errors.map((error) => ({
      reason: error.type,
      message: fieldErrorBody(error),
      field: error.field,
    })),
  });
}

const KINDS: Readonly<Record<FieldErrorType, { title: string; showsValue: boolean }>> = {
  FieldValueNotFound: { title: 'Not found', showsValue: true },
  FieldValueRequired: { title: 'Required value', showsValue: false },
  FieldValueDuplicate: { title: 'Duplicate value', showsValue: true },
  FieldValueInvalid: { title: 'Invalid value', showsValue: true },
  FieldValueNotSupported: { title: 'Unsupported value', showsValue: true },
  FieldValueForbidden: { title: 'Forbidden', showsValue: false },
  FieldValueTooLong: { title: 'Too long', showsValue: false },
  FieldValueTooMany: { title: 'Too many', showsValue: true },
  FieldValueTypeInvalid: { title: 'Invalid value', showsValue: true },
  InternalError: { title: 'Internal error', showsValue: false },
};

/**
 * Strings as Go quotes them; everything else as Go's JSON encoder, which escapes HTML, writes it.
 */
function shown(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  const json = JSON.stringify(value) ?? 'null';
  return json.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026');
}
