/** Encodes objects, lists and watch events for answers. */

import type { ListMeta } from '@lockstep/kube/meta.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { stringify } from 'yaml';
import type { Change } from '../resources/collection.ts';
import { type Entry, encodedOnce } from '../resources/entry.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { Encoding, MetaVersion, Representation } from './content-negotiation.ts';
import { partialMetadata } from './partial-metadata.ts';
import { tableOf } from './table.ts';

/**
 * An object in the representation that the client asked for. Whole objects and metadata are encoded
 * once per state, for all answers and watchers. Tables hold ages, so each is made again; only Tables
 * of a watch event are shared, because all watchers see it at one moment.
 */
export function encodeOne(
  of: ServedResource,
  as: Representation,
  entry: Entry,
  nowMs: number,
): Uint8Array {
  switch (as.form) {
    case 'Object':
    case 'Metadata':
      return inEncoding(as.encoding, encodedState(of, as, entry));
    case 'Table': {
      const metadata = { resourceVersion: entry.object.metadata.resourceVersion };
      const table = tableOf(of.table, [of.view.show(entry.object)], metadata, nowMs, {
        ...as,
        withColumns: true,
      });
      return inEncoding(as.encoding, Buffer.from(JSON.stringify(table)));
    }
    default:
      return as satisfies never;
  }
}

export function encodeList(
  of: ServedResource,
  as: Representation,
  entries: readonly Entry[],
  metadata: ListMeta,
  nowMs: number,
): Uint8Array {
  if (as.form === 'Table') {
    const shown = entries.map((entry) => of.view.show(entry.object));
    const options = { ...as, withColumns: true };
    const table = tableOf(of.table, shown, { ...metadata }, nowMs, options);
    return inEncoding(as.encoding, Buffer.from(JSON.stringify(table)));
  }
  const head =
    as.form === 'Object'
      ? { kind: of.listKind, apiVersion: apiVersionOf(of) }
      : { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${as.version}` };
  // The Go types of built-in kinds leave an empty `continue` out; custom resources have none.
  const paged = of.custom ? { continue: '', ...metadata } : metadata;
  const open = JSON.stringify({ ...head, metadata: paged }).slice(0, -1);
  const chunks: Uint8Array[] = [Buffer.from(`${open},"items":[`)];
  for (const [index, entry] of entries.entries()) {
    if (index > 0) chunks.push(COMMA);
    chunks.push(encodedItem(of, as, entry));
  }
  chunks.push(END_OF_LIST);
  return inEncoding(as.encoding, Buffer.concat(chunks));
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch. If `change` is given, the line is kept in it for the other watchers. */
export function encodeEvent(
  of: ServedResource,
  as: Representation,
  event: { readonly type: EventType; readonly entry: Entry; readonly change: Change | undefined },
  nowMs: number,
  withColumns: boolean,
): Uint8Array {
  const name = `${event.type} ${nameOf(of, as)}${withColumns ? ' columns' : ''}`;
  const known = event.change?.lines.get(name);
  if (known !== undefined) return known;
  const object =
    as.form === 'Table'
      ? tableEvent(of, as, event.entry, nowMs, withColumns)
      : encodedState(of, as, event.entry);
  const line = eventLine(event.type, object);
  event.change?.lines.set(name, line);
  return line;
}

/** A line of a watch around an encoded object. */
export function eventLine(type: string, object: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, END_OF_LINE]);
}

/** The object of a bookmark: kind and version only. */
export function encodeBookmark(
  of: ServedResource,
  as: Representation,
  revision: number,
  initialEventsEnd: boolean,
): Uint8Array {
  const metadata = {
    resourceVersion: String(revision),
    ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  const partial = (version: MetaVersion): unknown => ({
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
  });
  const bookmark = (): unknown => {
    switch (as.form) {
      case 'Object':
        return { kind: of.kind, apiVersion: apiVersionOf(of), metadata };
      case 'Metadata':
        return partial(as.version);
      case 'Table':
        return {
          kind: 'Table',
          apiVersion: `meta.k8s.io/${as.version}`,
          metadata: { resourceVersion: String(revision) },
          columnDefinitions: null,
          rows: [{ cells: of.table.columns.map(() => ''), object: partial(as.version) }],
        };
      default:
        return as satisfies never;
    }
  };
  return eventLine('BOOKMARK', Buffer.from(JSON.stringify(bookmark())));
}

/** Re-encodes JSON bytes where the client wants YAML. */
export function inEncoding(encoding: Encoding, json: Uint8Array): Uint8Array {
  return encoding === 'json'
    ? json
    : Buffer.from(stringify(JSON.parse(new TextDecoder().decode(json))));
}

export function contentTypeOf(as: Representation): string {
  return as.encoding === 'json' ? 'application/json' : 'application/yaml';
}

const COMMA = Buffer.from(',');
const OPEN_OBJECT = Buffer.from('{');
const END_OF_LIST = Buffer.from(']}');
const END_OF_LINE = Buffer.from('}\n');

function encodedState(
  of: ServedResource,
  as: Exclude<Representation, { readonly form: 'Table' }>,
  entry: Entry,
): Uint8Array {
  return encodedOnce(entry, nameOf(of, as), () => {
    const shown = of.view.show(entry.object);
    return as.form === 'Object' ? shown : partialMetadata(shown, as.version);
  });
}

/**
 * In a list the list's kind implies the kind of its items: built-in kinds leave it out, others do
 * not.
 */
function encodedItem(
  of: ServedResource,
  as: Exclude<Representation, { readonly form: 'Table' }>,
  entry: Entry,
): Uint8Array {
  const state = encodedState(of, as, entry);
  if (as.form !== 'Object' || of.custom) return state;
  const head = Buffer.byteLength(
    JSON.stringify({ apiVersion: apiVersionOf(of), kind: of.kind }).slice(0, -1),
  );
  return Buffer.concat([OPEN_OBJECT, state.subarray(head + COMMA.byteLength)]);
}

function tableEvent(
  of: ServedResource,
  as: Extract<Representation, { readonly form: 'Table' }>,
  entry: Entry,
  nowMs: number,
  withColumns: boolean,
): Uint8Array {
  const metadata = { resourceVersion: entry.object.metadata.resourceVersion };
  const shown = [of.view.show(entry.object)];
  const table = tableOf(of.table, shown, metadata, nowMs, { ...as, withColumns });
  return Buffer.from(JSON.stringify(table));
}

/** Names each encoding of one state. Metadata is the same in every version. */
function nameOf(of: ServedResource, as: Representation): string {
  switch (as.form) {
    case 'Object':
      return apiVersionOf(of);
    case 'Metadata':
      return `metadata ${as.version}`;
    case 'Table':
      return `${apiVersionOf(of)} table ${as.version} ${as.includeObject}`;
    default:
      return as satisfies never;
  }
}
