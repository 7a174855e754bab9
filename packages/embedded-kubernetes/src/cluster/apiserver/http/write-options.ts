/** Parses the query options of writes. */
import {
  forbiddenField,
  invalid,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { DeleteOptions } from '@lockstep/kube/meta.ts';
import { isPrintable } from '@lockstep/kube/quote.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

/** `dryRun=All`: everything happens except the write. */
export function isDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  if (values.some((value) => value !== 'All')) {
    throw invalid({ group: 'meta.k8s.io', kind }, '', [notSupported('dryRun', values, ['All'])]);
  }
  return values.length > 0;
}

const MAX_MANAGER_BYTES = 128;

/** Refuses an invalid field manager, and a missing one in an apply. */
export function checkManager(query: URLSearchParams, kind: string, isApply: boolean): void {
  const manager = query.get('fieldManager') ?? '';
  const errors: FieldError[] = [];
  if (isApply && manager === '') {
    errors.push(required('fieldManager', 'is required for apply patch'));
  }
  if (kind === 'PatchOptions' && !isApply && query.has('force')) {
    errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  }
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) {
    errors.push(tooLong('fieldManager', MAX_MANAGER_BYTES));
  }
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      const why = `invalid character U+${code} (at position ${position})`;
      errors.push(invalidValue('fieldManager', manager, why));
    }
    position += Buffer.byteLength(character);
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** `force=true`: takes conflicting fields from their owners. */
export function isForced(query: URLSearchParams): boolean {
  const value = query.get('force');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** The field manager: the one given, or the client's User-Agent up to the first slash. */
export function managerName(query: URLSearchParams, userAgent: string | undefined): string {
  const given = query.get('fieldManager') ?? '';
  if (given !== '') return given;
  let name = '';
  for (const character of (userAgent ?? '').split('/')[0] ?? '') {
    if (!isPrintable(character)) continue;
    if (Buffer.byteLength(name + character) > MAX_MANAGER_BYTES) break;
    name += character;
  }
  return name;
}

/** The options of a write as an object of `meta.k8s.io/v1`, for webhooks. */
export function optionsObject(
  kind: 'CreateOptions' | 'UpdateOptions',
  query: URLSearchParams,
): JsonObject {
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  return {
    kind,
    apiVersion: META_VERSION,
    ...(isDryRun(query, kind) ? { dryRun: ['All'] } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  };
}

export function deleteOptionsObject(options: DeleteOptions): JsonObject {
  const { preconditions = {}, dryRun = [], ...others } = options;
  return {
    kind: 'DeleteOptions',
    apiVersion: META_VERSION,
    ...others,
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}

const META_VERSION = 'meta.k8s.io/v1';
