/**
 * Keeps the owners of an object's fields up to date with every write, by the rules of
 * `packages/embedded-kubernetes/src/api-machinery/apply/`. Nothing is kept until an object is first applied, so other objects
 * cost nothing more. The fields that exist at that moment belong to `before-first-apply`.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { ManagedFieldsEntry } from '@lockstep/kube/meta.ts';
import { apiVersionOf, typeMetaOf } from '@lockstep/kube/resource.ts';
import { timeText } from '@lockstep/kube/time.ts';
import {
  type Conflict,
  conflictRefusal,
  conflictsWithout,
} from '../../../api-machinery/apply/conflicts.ts';
import { type FieldSet, fieldSet, NO_FIELDS } from '../../../api-machinery/apply/field-set.ts';
import {
  fieldsOfLastApplied,
  KUBECTL,
  withLastApplied,
} from '../../../api-machinery/apply/last-applied.ts';
import {
  type Manager,
  type Managers,
  NO_MANAGERS,
  readManagers,
  writeManagers,
} from '../../../api-machinery/apply/managers.ts';
import { fieldElement } from '../../../api-machinery/apply/path-element.ts';
import {
  applyConfiguration,
  type ManagedKind,
  managersAfterUpdate,
} from '../../../api-machinery/apply/server-side-apply.ts';
import {
  type ApiObject,
  objectAt,
  type StoredObject,
  withMembers,
} from '../resources/api-object.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import { hasStatus } from './object-metadata.ts';

/** The parts of a write that decide who owns what. */
export interface ManagedWrite {
  readonly of: ServedResource;
  readonly subresource: string | undefined;
  /** The client's field manager. */
  readonly manager: string;
  readonly nowMs: number;
}

/**
 * The object of a write other than apply, with its managers. A new object, without `old`, has none.
 */
export function withManagers(
  given: ApiObject,
  old: StoredObject | undefined,
  writeOf: () => ManagedWrite,
): ApiObject {
  const { managedFields: wanted } = given.metadata;
  const { managedFields: present } = old?.metadata ?? {};
  if (wanted === undefined && present === undefined) return given;
  const write = writeOf();
  const managers = managersBefore(write, wanted, present);
  if (old === undefined || managers.size === 0) return withEntries(given, undefined);
  const after = managersAfterUpdate(managedKind(write), {
    live: unmanaged(old),
    object: unmanaged(write.of.strategy.defaults(given)),
    managers,
    manager: managerOf(write, 'Update'),
    now: timeText(write.nowMs),
  });
  return withEntries(given, writeManagers(after));
}

/** The object that results from an apply to another, or to none. Throws 409 for conflicts. */
export function applied(
  write: ManagedWrite,
  configuration: JsonObject,
  old: StoredObject | undefined,
  isForced: boolean,
): JsonObject {
  const { of, manager, nowMs } = write;
  const kind = managedKind(write);
  const now = timeText(nowMs);
  const live = old === undefined ? emptyObject(of) : unmanaged(old);
  const request = {
    live,
    configuration,
    managers: managersBeforeApply(write, old),
    manager: managerOf(write, 'Apply'),
    now,
  };
  let result = applyConfiguration(kind, { ...request, isForced });
  if ('conflicts' in result) {
    const left = conflictsLeft(write, live, result.conflicts);
    if (left.length > 0) throw conflictRefusal(left);
    result = applyConfiguration(kind, { ...request, isForced: true });
    if ('conflicts' in result) throw conflictRefusal(result.conflicts);
  }
  const object =
    manager === KUBECTL ? withLastApplied(result.object, configuration) : result.object;
  const managedFields = writeManagers(result.managers);
  return {
    ...object,
    metadata: {
      ...objectAt(object, 'metadata'),
      ...(managedFields.length === 0 ? {} : { managedFields }),
    },
  };
}

/** The object with the times of `old` if nothing else of its managers has changed. */
export function withoutNewTimes(object: ApiObject, old: StoredObject): ApiObject {
  const { managedFields } = old.metadata;
  if (managedFields === undefined) return object;
  const isSame = deepEqual(untimed(object.metadata.managedFields), untimed(managedFields));
  return isSame ? withEntries(object, managedFields) : object;
}

/** `object` with the managers of `managed`, for writes that must not change them. */
export function withManagersOf(object: ApiObject, managed: ApiObject): ApiObject {
  const { managedFields } = managed.metadata;
  return object.metadata.managedFields === managedFields
    ? object
    : withEntries(object, managedFields);
}

function untimed(entries: readonly ManagedFieldsEntry[] = []): readonly unknown[] {
  return entries.map((entry) => withMembers(entry, { time: undefined }));
}

function withEntries(
  object: ApiObject,
  managedFields: readonly ManagedFieldsEntry[] | undefined,
): ApiObject {
  const kept = managedFields?.length === 0 ? undefined : managedFields;
  return { ...object, metadata: withMembers(object.metadata, { managedFields: kept }) };
}

function unmanaged(object: ApiObject): ApiObject {
  return object.metadata.managedFields === undefined ? object : withEntries(object, undefined);
}

/** Clients may set managers, or drop all with an empty list or entry; most leave them alone. */
function managersBefore(
  { subresource }: ManagedWrite,
  wanted: readonly ManagedFieldsEntry[] | undefined,
  present: readonly ManagedFieldsEntry[] | undefined,
): Managers {
  if (subresource === undefined && wanted !== undefined) {
    if (isReset(wanted)) return NO_MANAGERS;
    const managers = readManagers(wanted);
    if (managers !== undefined && managers.size > 0) return managers;
  }
  return readManagers(present) ?? NO_MANAGERS;
}

function isReset([first, ...others]: readonly ManagedFieldsEntry[]): boolean {
  return first === undefined || (others.length === 0 && Object.keys(first).length === 0);
}

const BEFORE_FIRST_APPLY = 'before-first-apply';

function managersBeforeApply(write: ManagedWrite, old: StoredObject | undefined): Managers {
  if (old === undefined) return NO_MANAGERS;
  const present = readManagers(old.metadata.managedFields) ?? NO_MANAGERS;
  if (present.size > 0) return present;
  return managersAfterUpdate(managedKind(write), {
    live: emptyObject(write.of),
    object: unmanaged(old),
    managers: NO_MANAGERS,
    manager: managerOf({ ...write, manager: BEFORE_FIRST_APPLY }, 'Update'),
    now: timeText(write.nowMs),
  });
}

/** kubectl's earlier client-side applies cause no conflict, if they are the only cause. */
function conflictsLeft(
  { of, manager }: ManagedWrite,
  live: JsonObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  if (manager !== KUBECTL) return conflicts;
  return conflictsWithout(conflicts, fieldsOfLastApplied(live, of.schema));
}

function managerOf(
  { of, subresource = '', manager: name }: ManagedWrite,
  operation: Manager['operation'],
): Manager {
  return { name, operation, apiVersion: apiVersionOf(of), subresource };
}

function managedKind({ of, subresource }: ManagedWrite): ManagedKind {
  return { schema: of.schema, ignored: ignoredFields(of, subresource) };
}

/** Fields that a write through a resource or subresource cannot change. */
function ignoredFields(of: ServedResource, subresource: string | undefined): FieldSet {
  const top = (...names: readonly string[]): FieldSet =>
    fieldSet(...names.map((name) => [fieldElement(name)]));
  switch (subresource) {
    case undefined:
      return hasStatus(of) ? top('status') : NO_FIELDS;
    case 'status':
      if (of.custom) return top('metadata', 'spec');
      return of.plural === 'pods' ? POD_STATUS_IGNORES : top('spec');
    default:
      return fieldSet(
        [fieldElement('metadata')],
        [fieldElement('status')],
        ...otherSpecFields(of, subresource),
      );
  }
}

const POD_STATUS_IGNORES = fieldSet(
  [fieldElement('spec')],
  [fieldElement('metadata'), fieldElement('deletionTimestamp')],
  [fieldElement('metadata'), fieldElement('ownerReferences')],
);

/** A subresource such as `ephemeralcontainers` changes the spec's field of the same name. */
function otherSpecFields(of: ServedResource, subresource: string): readonly (readonly string[])[] {
  const names = Object.keys(of.schema.properties?.['spec']?.properties ?? {});
  return names
    .filter((name) => name.toLowerCase() !== subresource)
    .map((name) => [fieldElement('spec'), fieldElement(name)]);
}

/** A new object before any field is set: the parts that a kind always has exist, without owners. */
function emptyObject(of: ServedResource): JsonObject {
  const base = { ...typeMetaOf(of), metadata: {} };
  return of.custom ? base : { ...base, ...ALWAYS_THERE[of.kind] };
}

const ALWAYS_THERE: Readonly<Record<string, JsonObject>> = {
  CustomResourceDefinition: { spec: { names: {} }, status: { acceptedNames: {} } },
  Job: { spec: { template: { metadata: {}, spec: { containers: null } } }, status: {} },
  Lease: { spec: {} },
  Namespace: { spec: {}, status: {} },
  Node: { spec: {}, status: {} },
  PersistentVolumeClaim: { spec: { resources: {} }, status: {} },
  Pod: { spec: { containers: null }, status: {} },
  Service: { spec: {}, status: { loadBalancer: {} } },
};
