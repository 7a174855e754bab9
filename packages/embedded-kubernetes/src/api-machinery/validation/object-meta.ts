/**
 * Validates object metadata (`apimachinery/pkg/api/validation`). Each kind has its rule for names;
 * everything else is common to all.
 */

import { forbiddenField, invalidValue, required, tooLong } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { ObjectMeta, OwnerReference, StringMap } from '@lockstep/kube/meta.ts';
import {
  type Complaints,
  dns1123LabelErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '@lockstep/kube/name-rules.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

/** Finds what is wrong with a name; most kinds use `dns1123SubdomainErrors`. */
export type NameRule = (name: string) => Complaints;

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  /** Built-in kinds take finalizers of other domains only in full: `example.com/name`. */
  readonly qualifiedFinalizers?: boolean;
}

/** Problems of the metadata of a new object, after a name was generated. */
export function objectMetaErrors(
  meta: ObjectMeta,
  { namespaced, nameRule, qualifiedFinalizers = false }: MetadataRules,
  path = 'metadata',
): FieldError[] {
  const { name = '', generateName = '' } = meta;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    const sample = generateName.replace(/.-$/, 'a');
    for (const text of nameRule(sample)) {
      errors.push(invalidValue(`${path}.generateName`, generateName, text));
    }
  }
  if (name === '') {
    errors.push(required(`${path}.name`, 'name or generateName is required'));
  } else {
    for (const text of nameRule(name)) errors.push(invalidValue(`${path}.name`, name, text));
  }
  return [
    ...errors,
    ...namespaceErrors(meta, namespaced, path),
    ...contentErrors(meta, path),
    ...(qualifiedFinalizers ? unqualifiedErrors(meta, path) : []),
  ];
}

/** Problems of replacing `before` by `meta`. */
export function objectMetaUpdateErrors(
  meta: ObjectMeta,
  before: ObjectMeta,
  rules: MetadataRules,
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = [];
  if (before.deletionTimestamp !== undefined) {
    const old = new Set(before.finalizers);
    const added = (meta.finalizers ?? []).filter((finalizer) => !old.has(finalizer)).sort();
    if (added.length > 0) {
      const shown = `[]string{${added.map((one) => JSON.stringify(one)).join(', ')}}`;
      errors.push(
        forbiddenField(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
        ),
      );
    }
  }
  for (const field of IMMUTABLE) {
    if (!deepEqual(meta[field], before[field])) {
      errors.push(invalidValue(`${path}.${field}`, meta[field] ?? null, 'field is immutable'));
    }
  }
  return [
    ...errors,
    ...namespaceErrors(meta, rules.namespaced, path),
    ...contentErrors(meta, path),
    ...(rules.qualifiedFinalizers === true ? unqualifiedErrors(meta, path) : []),
  ];
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

function namespaceErrors(meta: ObjectMeta, namespaced: boolean, path: string): FieldError[] {
  const { namespace = '' } = meta;
  const field = `${path}.namespace`;
  if (!namespaced)
    return namespace === '' ? [] : [forbiddenField(field, 'not allowed on this type')];
  if (namespace === '') return [required(field)];
  return dns1123LabelErrors(namespace).map((text) => invalidValue(field, namespace, text));
}

function contentErrors(meta: ObjectMeta, path: string): FieldError[] {
  return [
    ...labelsErrors(meta.labels, `${path}.labels`),
    ...annotationsErrors(meta.annotations, `${path}.annotations`),
    ...ownersErrors(meta.ownerReferences ?? [], `${path}.ownerReferences`),
    ...finalizersErrors(meta.finalizers ?? [], `${path}.finalizers`),
  ];
}

/** Problems of labels, or of anything else that selects by labels, such as a node selector. */
export function labelsErrors(labels: StringMap | undefined, path: string): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((text) => invalidValue(path, key, text)),
    ...labelValueErrors(value).map((text) => invalidValue(path, value, text)),
  ]);
}

/** The limit for all keys and values of an object's annotations together. */
const ANNOTATIONS_LIMIT_BYTES = 256 * 1024;

export function annotationsErrors(annotations: StringMap | undefined, path: string): FieldError[] {
  let size = 0;
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(annotations ?? {})) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    for (const text of qualifiedNameErrors(key.toLowerCase())) {
      errors.push(invalidValue(path, key, text));
    }
  }
  if (size > ANNOTATIONS_LIMIT_BYTES) errors.push(tooLong(path, ANNOTATIONS_LIMIT_BYTES));
  return errors;
}

function ownersErrors(owners: readonly OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const owner of owners) {
    if (owner.apiVersion.endsWith('/') || owner.apiVersion === '') {
      errors.push(
        invalidValue(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'),
      );
    }
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (owner[field] === '')
        errors.push(invalidValue(`${path}.${field}`, '', 'must not be empty'));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push(invalidValue(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
  }
  const [first, ...others] = owners.filter((owner) => owner.controller === true);
  for (const other of others) {
    errors.push(
      invalidValue(
        path,
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ` +
          `${first?.kind}/${first?.name} and ${other.kind}/${other.name}`,
      ),
    );
  }
  return errors;
}

const ORPHAN = 'orphan';
const FOREGROUND_DELETION = 'foregroundDeletion';
const STANDARD_FINALIZERS: readonly string[] = ['kubernetes', ORPHAN, FOREGROUND_DELETION];

function unqualifiedErrors({ finalizers = [] }: ObjectMeta, path: string): FieldError[] {
  return finalizers.flatMap((finalizer, index) => {
    if (finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)) return [];
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [invalidValue(`${path}.finalizers[${index}]`, finalizer, detail)];
  });
}

function finalizersErrors(finalizers: readonly string[], path: string): FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedNameErrors(finalizer).map((text) => invalidValue(path, finalizer, text)),
  );
  if (finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND_DELETION)) {
    const detail = `finalizer ${ORPHAN} and ${FOREGROUND_DELETION} cannot be both set`;
    errors.push(invalidValue(path, finalizers, detail));
  }
  return errors;
}
