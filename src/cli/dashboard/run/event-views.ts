/** Kubernetes Events as a page shows them. */
import type { EventView } from '../../../dashboard/messages/run.ts';
import type { Stored } from '../../../kube/meta.ts';
import type { CoreEvent } from '../../../kube/objects/event.ts';

const MAX_EVENTS = 500;
const MAX_MESSAGE_LENGTH = 4096;

/** The newest, the oldest of them first. */
export function eventViews(events: Iterable<Stored<CoreEvent>>): readonly EventView[] {
  return [...events]
    .map(eventView)
    .sort((a, b) => a.timeMs - b.timeMs)
    .slice(-MAX_EVENTS);
}

/** Writers give times in several fields, and leave out the others. */
function eventView(event: Stored<CoreEvent>): EventView {
  const { metadata, series, lastTimestamp, eventTime, firstTimestamp } = event;
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp];
  const time = times.find((each) => each != null) ?? metadata.creationTimestamp ?? '';
  const timeMs = Date.parse(time);
  return {
    uid: metadata.uid,
    timeMs: Number.isNaN(timeMs) ? 0 : timeMs,
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: (event.message ?? '').slice(0, MAX_MESSAGE_LENGTH),
    count: series?.count ?? event.count ?? 1,
  };
}
