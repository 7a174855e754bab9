/** Validation of ConfigMaps and Secrets: keys that can become files, size, and immutability. */

import { forbiddenField, invalidValue, required, tooLong } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { configMapKeyErrors, dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { ConfigMap, Secret } from '@lockstep/kube/objects/core.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { objectMetaErrors, objectMetaUpdateErrors } from './object-meta.ts';

const METADATA = {
  namespaced: true,
  nameRule: dns1123SubdomainErrors,
  qualifiedFinalizers: true,
} as const;

/** The limit for all values of one object together, which etcd can store. */
const DATA_LIMIT_BYTES = 1024 * 1024;

export function configMapErrors(configMap: ConfigMap): FieldError[] {
  return [...objectMetaErrors(configMap.metadata, METADATA), ...configMapDataErrors(configMap)];
}

export function configMapUpdateErrors(configMap: ConfigMap, before: ConfigMap): FieldError[] {
  return [
    ...objectMetaUpdateErrors(configMap.metadata, before.metadata, METADATA),
    ...immutableErrors(configMap, before, ['data', 'binaryData']),
    ...configMapDataErrors(configMap),
  ];
}

export function secretErrors(secret: Secret): FieldError[] {
  return [...objectMetaErrors(secret.metadata, METADATA), ...secretDataErrors(secret)];
}

export function secretUpdateErrors(secret: Secret, before: Secret): FieldError[] {
  const errors = objectMetaUpdateErrors(secret.metadata, before.metadata, METADATA);
  if (secret.type !== before.type) {
    errors.push(invalidValue('type', secret.type ?? '', 'field is immutable'));
  }
  return [...errors, ...immutableErrors(secret, before, ['data']), ...secretDataErrors(secret)];
}

function configMapDataErrors({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors = [...keysErrors(data, 'data'), ...keysErrors(binaryData, 'binaryData')];
  for (const key of Object.keys(data)) {
    if (!Object.hasOwn(binaryData, key)) continue;
    errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  }
  const size = textSize(data) + base64Size(binaryData);
  if (size > DATA_LIMIT_BYTES) errors.push(tooLong('[]', DATA_LIMIT_BYTES));
  return errors;
}

/** Keys that a Secret of a known type must have. */
const KEYS_OF_TYPE: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

function secretDataErrors({ data = {}, type = 'Opaque' }: Secret): FieldError[] {
  const errors = keysErrors(data, 'data');
  if (base64Size(data) > DATA_LIMIT_BYTES) errors.push(tooLong('data', DATA_LIMIT_BYTES));
  for (const key of KEYS_OF_TYPE.get(type) ?? []) {
    if (!Object.hasOwn(data, key)) errors.push(required(`data[${key}]`));
  }
  const isUnnamed = !Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password');
  if (type === 'kubernetes.io/basic-auth' && isUnnamed) {
    errors.push(required('data[username]'), required('data[password]'));
  }
  return errors;
}

function keysErrors(data: StringMap, path: string): FieldError[] {
  return Object.keys(data).flatMap((key) =>
    configMapKeyErrors(key).map((text) => invalidValue(`${path}[${key}]`, key, text)),
  );
}

function immutableErrors<T extends { readonly immutable?: boolean }>(
  object: T,
  before: T,
  members: readonly (keyof T & string)[],
): FieldError[] {
  if (before.immutable !== true) return [];
  const detail = 'field is immutable when `immutable` is set';
  return [
    ...(object.immutable === true ? [] : [forbiddenField('immutable', detail)]),
    ...members
      .filter((member) => !deepEqual(object[member], before[member]))
      .map((member) => forbiddenField(member, detail)),
  ];
}

function textSize(data: StringMap): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
}

function base64Size(data: StringMap): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
}
