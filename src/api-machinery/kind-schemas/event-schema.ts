/**
 * Schemas of Events in both groups. They are two views of the same objects: what one calls
 * `involvedObject`, `message` and `source`, the other calls `regarding`, `note` and
 * `deprecatedSource`.
 */

import { kind } from '../../kube/pod-schema/meta-schema.ts';
import { OBJECT_REFERENCE } from '../../kube/pod-schema/reference-schema.ts';
import {
  defaulted,
  definitions,
  int32,
  nullable,
  string,
  time,
} from '../../kube/schema/builders.ts';

const core = definitions('io.k8s.api.core.v1');
const events = definitions('io.k8s.api.events.v1');

/** Of Events that name one moment only; clients of the older kind expect the member, if only as null. */
const TIME_OR_NULL = nullable(time());

const EVENT_SOURCE = core('EventSource', { component: string(), host: string() });

const EVENT_SERIES = core('EventSeries', { count: int32(), lastObservedTime: time() });

export const EVENT = kind(
  core(
    'Event',
    {
      involvedObject: OBJECT_REFERENCE,
      reason: string(),
      message: string(),
      source: EVENT_SOURCE,
      firstTimestamp: TIME_OR_NULL,
      lastTimestamp: TIME_OR_NULL,
      count: int32(),
      type: string(),
      eventTime: nullable(time()),
      series: EVENT_SERIES,
      action: string(),
      related: OBJECT_REFERENCE,
      reportingComponent: defaulted('', string()),
      reportingInstance: defaulted('', string()),
    },
    { required: ['involvedObject'], description: 'Something that happened to an object.' },
  ),
);

const EVENTS_EVENT_SERIES = events(
  'EventSeries',
  { count: int32(), lastObservedTime: time() },
  { required: ['count', 'lastObservedTime'] },
);

export const EVENTS_EVENT = kind(
  events(
    'Event',
    {
      eventTime: nullable(time()),
      series: EVENTS_EVENT_SERIES,
      reportingController: string(),
      reportingInstance: string(),
      action: string(),
      reason: string(),
      regarding: OBJECT_REFERENCE,
      related: OBJECT_REFERENCE,
      note: string(),
      type: string(),
      deprecatedSource: EVENT_SOURCE,
      deprecatedFirstTimestamp: TIME_OR_NULL,
      deprecatedLastTimestamp: TIME_OR_NULL,
      deprecatedCount: int32(),
    },
    { required: ['eventTime'], description: 'Something that happened to an object.' },
  ),
);
