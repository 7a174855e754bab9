import { invalid, notSupported } from '../../kube/field-error.ts';
import type { JsonObject } from '../../kube/json-value.ts';
import type { DeleteOptions } from '../../kube/meta.ts';

/** `dryRun=All`: everything happens but the write. */
export function isDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  if (values.some((value) => value !== 'All')) {
    throw invalid({ group: 'meta.k8s.io', kind }, '', [notSupported('dryRun', values, ['All'])]);
  }
  return values.length > 0;
}

/** The options of a write as an object of `meta.k8s.io/v1`, which webhooks see. */
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
