import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { resource } from '@lockstep/kube/resource.ts';
import { type ApiObject, type StoredObject, textAt, withMembers } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import type { View } from '../resources/served-resource.ts';
import { CORE_EVENT_TABLE } from './event-table.ts';
import { eventErrors, newEventErrors } from './event-validation.ts';

/**
 * Events are stored as `core/v1`, which has every member of both groups; `events.k8s.io/v1` shows the
 * same objects under other names of members.
 */
const CORE_EVENTS = resource('v1', 'events', 'Event');

/** Members by their name in events.k8s.io/v1 and in core/v1. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

/**
 * A time that is missing is null in core/v1, as Go writes it: kubectl sorts by `.lastTimestamp` only if
 * at least one Event has the member.
 */
const EVENTS_VIEW: View = {
  show: (stored) =>
    renamed(
      stored,
      'events.k8s.io/v1',
      RENAMED.map(([to, from]) => [from, to]),
    ),
  store: (shown) => {
    const core = toCore(shown);
    const { firstTimestamp = null, lastTimestamp = null } = core;
    return withMembers(core, { firstTimestamp, lastTimestamp });
  },
};

function toCore<T extends ApiObject>(event: T): T {
  return renamed(event, 'v1', RENAMED);
}

function renamed<T extends ApiObject | StoredObject>(
  object: T,
  apiVersion: string,
  names: readonly (readonly [string, string])[],
): T {
  const members: Record<string, unknown> = { apiVersion };
  for (const [from, to] of names) {
    if (!Object.hasOwn(object, from)) continue;
    members[from] = undefined;
    members[to] = object[from];
  }
  return withMembers(object, members);
}

const OBJECT_FIELDS = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
];

function fieldLabels(object: string, controller: string, sourceOf: string) {
  const labels: Record<string, (event: ApiObject) => string> = {
    reason: (event) => textAt(event, 'reason'),
    type: (event) => textAt(event, 'type'),
    [controller]: (event) => textAt(event, controller),
    source: (event) => textAt(event, sourceOf, 'component') || textAt(event, controller),
  };
  for (const field of OBJECT_FIELDS) {
    labels[`${object}.${field}`] = (event) => textAt(event, object, field);
  }
  return labels;
}

const STRATEGY: BuiltInKind['strategy'] = {
  createsOnUpdate: true,
  nameRule: dns1123SubdomainErrors,
  validate: (event) => eventErrors(event),
};

export const CORE_EVENT_KIND: BuiltInKind = {
  resource: CORE_EVENTS,
  shortNames: ['ev'],
  strategy: STRATEGY,
  table: CORE_EVENT_TABLE,
  fieldLabels: fieldLabels('involvedObject', 'reportingComponent', 'source'),
};

export const EVENT_KIND: BuiltInKind = {
  resource: EVENTS,
  shortNames: ['ev'],
  strategy: {
    ...STRATEGY,
    validate: (event) => [...eventErrors(toCore(event)), ...newEventErrors(event)],
  },
  table: {
    ...CORE_EVENT_TABLE,
    cells: (event, nowMs) => CORE_EVENT_TABLE.cells(toCore(event), nowMs),
  },
  fieldLabels: fieldLabels('regarding', 'reportingController', 'deprecatedSource'),
  storedAs: { resource: CORE_EVENTS, view: EVENTS_VIEW },
};
