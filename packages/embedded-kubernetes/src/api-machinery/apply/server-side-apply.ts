/**
 * Server-side apply. A configuration says which fields its manager wants, with which values. The
 * manager owns these from then on and gives up the fields that it no longer mentions; those
 * disappear unless another manager owns them. Setting another owner's field to a different value is
 * a conflict. All other writes own what they change.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { compareFields } from './comparison.ts';
import type { Conflict } from './conflicts.ts';
import {
  difference,
  type FieldSet,
  fieldSet,
  intersection,
  isEmptySet,
  NO_FIELDS,
  recursiveDifference,
  union,
} from './field-set.ts';
import {
  type Management,
  type Manager,
  type Managers,
  managerKey,
  mapFields,
  withBoundedUpdaters,
} from './managers.ts';
import { mergeConfiguration } from './merge.ts';
import { fieldsOf, withNamedFields } from './owned-fields.ts';
import { fieldElement } from './path-element.ts';
import { withoutFields } from './removal.ts';

/** What all writes to a kind through one of its resources share. */
export interface ManagedKind {
  readonly schema: JsonSchema;
  /**
   * Fields that a write through this resource cannot change, so it never owns them or what is
   * below.
   */
  readonly ignored: FieldSet;
}

/** Objects come without `metadata.managedFields`; `managers` holds it parsed. */
export interface ApplyRequest {
  readonly live: JsonObject;
  /** Checked by `configurationErrors` before. */
  readonly configuration: JsonObject;
  readonly managers: Managers;
  readonly manager: Manager;
  readonly isForced: boolean;
  /** RFC 3339. */
  readonly now: string;
}

export interface Applied {
  readonly object: JsonObject;
  readonly managers: Managers;
}

export function applyConfiguration(
  kind: ManagedKind,
  request: ApplyRequest,
): Applied | { readonly conflicts: readonly Conflict[] } {
  const { live, configuration, manager, isForced, now } = request;
  const { schema, ignored } = kind;
  const key = managerKey(manager);
  const last = request.managers.get(key);
  const wanted = recursiveDifference(fieldsOf(configuration, schema), ignored);
  const managers = new Map(request.managers);
  managers.set(key, { manager, fields: wanted, time: last?.time });
  const merged = mergeConfiguration(live, configuration, schema);
  const object = asObject(withoutAbandoned(merged, last?.fields ?? NO_FIELDS, managers, schema));
  const change = compareFields(live, object, schema);
  const set = recursiveDifference(union(change.modified, change.added), ignored);
  const conflicts = conflictsOf(managers, key, set);
  if (!isForced && conflicts.length > 0) return { conflicts };
  const lost = union(set, recursiveDifference(change.removed, ignored));
  const left = mapFields(managers, (fields, of) => difference(fields, of === key ? UNOWNED : lost));
  return { object, managers: deepEqual(live, object) ? left : withTime(left, key, now) };
}

export interface UpdateRequest {
  readonly live: JsonObject;
  readonly object: JsonObject;
  readonly managers: Managers;
  readonly manager: Manager;
  readonly now: string;
}

/** The owners after a write other than apply: the writer owns what it changed. */
export function managersAfterUpdate(kind: ManagedKind, request: UpdateRequest): Managers {
  const { live, object, manager, now } = request;
  const { schema, ignored } = kind;
  const change = compareFields(live, object, schema);
  const set = recursiveDifference(union(change.modified, change.added), ignored);
  const lost = union(set, recursiveDifference(change.removed, ignored));
  const managers = new Map(mapFields(request.managers, (fields) => difference(fields, lost)));
  const gained = difference(set, UNOWNED);
  if (isEmptySet(gained)) return withBoundedUpdaters(managers);
  const key = managerKey(manager);
  const fields = union(gained, managers.get(key)?.fields ?? NO_FIELDS);
  managers.set(key, { manager, fields, time: now });
  return withBoundedUpdaters(managers);
}

function metadataField(name: string): readonly string[] {
  return [fieldElement('metadata'), fieldElement(name)];
}

/** Fields without owners: an object's identity and what the server maintains. */
const UNOWNED = fieldSet(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  metadataField('name'),
  metadataField('namespace'),
  metadataField('creationTimestamp'),
  metadataField('selfLink'),
  metadataField('uid'),
  metadataField('generation'),
  metadataField('managedFields'),
  metadataField('resourceVersion'),
);

function conflictsOf(managers: Managers, applier: string, set: FieldSet): readonly Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [key, { manager, fields }] of managers) {
    const inBoth = key === applier ? NO_FIELDS : intersection(fields, set);
    if (!isEmptySet(inBoth)) conflicts.push({ manager, fields: inBoth });
  }
  return conflicts;
}

/**
 * `merged` without the fields that its manager applied last time and no longer applies, unless
 * others own them. Fields that the manager never owned stay, even below one that goes.
 */
function withoutAbandoned(
  merged: unknown,
  last: FieldSet,
  managers: Managers,
  schema: JsonSchema,
): unknown {
  if (isEmptySet(last)) return merged;
  const named = (fields: FieldSet): FieldSet => withNamedFields(fields, schema);
  const owned = [...managers.values()].reduce<FieldSet>(
    (all, { fields }) => union(all, fields),
    NO_FIELDS,
  );
  const present = named(fieldsOf(merged, schema));
  const without = withoutFields(merged, named(last), schema);
  const kept = union(named(fieldsOf(without, schema)), named(owned));
  const pruned = withoutFields(merged, difference(present, kept), schema);
  const gone = difference(present, named(fieldsOf(pruned, schema)));
  return withoutFields(merged, intersection(gone, named(last)), schema);
}

function withTime(managers: Managers, key: string, now: string): Managers {
  const own = managers.get(key);
  if (own === undefined) return managers;
  const timed: Management = { ...own, time: now };
  return new Map(managers).set(key, timed);
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
