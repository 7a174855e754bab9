/**
 * Which manager owns which fields of an object, read from and written to its
 * `metadata.managedFields`. A manager is identified by its name, its operation (apply or update),
 * the subresource and, for updates, the API version that it uses.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { ManagedFieldsEntry } from '@lockstep/kube/meta.ts';
import { type FieldSet, fromFieldsV1, isEmptySet, toFieldsV1, union } from './field-set.ts';

export interface Manager {
  readonly name: string;
  readonly operation: ManagedFieldsEntry['operation'];
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

export interface Management {
  readonly manager: Manager;
  readonly fields: FieldSet;
  /** RFC 3339; undefined if the manager never changed anything. */
  readonly time: string | undefined;
}

/** Keyed by `managerKey`. A manager that owns nothing is not in it. */
export type Managers = ReadonlyMap<string, Management>;

export const NO_MANAGERS: Managers = new Map();

/**
 * The version is no part of an applier's key, so that it stays the same when it changes versions.
 */
export function managerKey({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([name, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Undefined for entries that are no valid managers; they are dropped. */
export function readManagers(entries: unknown): Managers | undefined {
  const managers = new Map<string, Management>();
  for (const entry of Array.isArray(entries) ? entries : []) {
    const read = readEntry(entry);
    if (read === undefined) return undefined;
    managers.set(managerKey(read.manager), read);
  }
  return managers;
}

function readEntry(entry: unknown): Management | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { manager: name = '', operation, apiVersion, subresource = '', time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (entry['fieldsType'] !== 'FieldsV1') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '') return undefined;
  if (typeof name !== 'string' || typeof subresource !== 'string') return undefined;
  return {
    manager: { name, operation, apiVersion, subresource },
    fields: fromFieldsV1(entry['fieldsV1']),
    time: typeof time === 'string' ? time : undefined,
  };
}

/** Appliers come first, then updaters, the oldest first. */
export function writeManagers(managers: Managers): readonly ManagedFieldsEntry[] {
  return [...managers.values()].sort(compareManagements).map(({ manager, fields, time }) => ({
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...defined({ time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
    ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
  }));
}

function compareManagements(a: Management, b: Management): number {
  return (
    compareTexts(a.manager.operation, b.manager.operation) ||
    compareTexts(a.time ?? '', b.time ?? '') ||
    compareTexts(a.manager.name, b.manager.name) ||
    compareTexts(a.manager.apiVersion, b.manager.apiVersion) ||
    compareTexts(a.manager.subresource, b.manager.subresource)
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** How many updaters an object may have before the oldest are merged. */
const MAX_UPDATERS = 10;
const OLDEST_UPDATERS = 'ancient-changes';

/** Bounds the number of updaters: merges updaters of one version, the oldest first. */
export function withBoundedUpdaters(managers: Managers): Managers {
  const updaters = [...managers.values()].filter(({ manager }) => manager.operation === 'Update');
  let surplus = updaters.length - MAX_UPDATERS;
  if (surplus <= 0) return managers;
  const bounded = new Map(managers);
  const firstOfVersion = new Map<string, Management>();
  for (const updater of updaters.sort(compareManagements)) {
    if (surplus <= 0) break;
    const { apiVersion } = updater.manager;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, updater);
      continue;
    }
    const manager: Manager = {
      name: OLDEST_UPDATERS,
      operation: 'Update',
      apiVersion,
      subresource: '',
    };
    const bucket = bounded.get(managerKey(manager)) ?? first;
    bounded.delete(managerKey(first.manager));
    bounded.delete(managerKey(updater.manager));
    const fields = union(bucket.fields, updater.fields);
    bounded.set(managerKey(manager), { manager, fields, time: updater.time });
    surplus -= 1;
  }
  return bounded;
}

/**
 * The managers with their fields as `change` makes them, without managers that own nothing then.
 */
export function mapFields(
  managers: Managers,
  change: (fields: FieldSet, key: string) => FieldSet,
): Managers {
  const changed = new Map<string, Management>();
  for (const [key, management] of managers) {
    const fields = change(management.fields, key);
    if (!isEmptySet(fields)) changed.set(key, { ...management, fields });
  }
  return changed;
}
