import { numberAt, type StoredObject, textAt } from '../resources/api-object.ts';
import { ageText, type TableLayout } from '../resources/table-layout.ts';

/** The table of `core/v1` Events; Events of the other group are shown in the same way. */
export const CORE_EVENT_TABLE: TableLayout = {
  columns: [
    { name: 'Last Seen', type: 'string' },
    { name: 'Type', type: 'string' },
    { name: 'Reason', type: 'string' },
    { name: 'Object', type: 'string' },
    { name: 'Subobject', type: 'string', priority: 1 },
    { name: 'Source', type: 'string', priority: 1 },
    { name: 'Message', type: 'string' },
    { name: 'First Seen', type: 'string', priority: 1 },
    { name: 'Count', type: 'string', priority: 1 },
    { name: 'Name', type: 'string', format: 'name', priority: 1 },
  ],
  cells: (event, nowMs) => {
    const first = textAt(event, 'firstTimestamp') || textAt(event, 'eventTime');
    const series = numberAt(event, 'series', 'count');
    const last =
      textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp') || first;
    return [
      ageText(last, nowMs),
      textAt(event, 'type'),
      textAt(event, 'reason'),
      objectOf(event),
      textAt(event, 'involvedObject', 'fieldPath'),
      sourceOf(event),
      textAt(event, 'message').trim(),
      ageText(first, nowMs),
      series || numberAt(event, 'count') || 1,
      event.metadata.name,
    ];
  },
};

function objectOf(event: StoredObject): string {
  const kind = textAt(event, 'involvedObject', 'kind').toLowerCase();
  const name = textAt(event, 'involvedObject', 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function sourceOf(event: StoredObject): string {
  const component = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent');
  const instance = textAt(event, 'source', 'host') || textAt(event, 'reportingInstance');
  return [component, instance].filter((part) => part !== '').join(', ');
}
