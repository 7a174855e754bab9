import { defined } from '@lockstep/kube/json/defined.ts';
import type { ApiObject, StoredObject } from './api-object.ts';

/**
 * One state of one object: as an object, and as the bytes that are stored, sent and watched. All
 * readers share both, so neither is ever changed.
 */
export interface Entry {
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  readonly object: StoredObject;
  readonly revision: number;
  /** Other encodings of this state by name, each made on first use. */
  readonly encodings: Map<string, Uint8Array>;
  /** The revision of this state in the storage; a tombstone has none. */
  readonly storedRevision: number | undefined;
}

/**
 * Encodes an object for storage: without resourceVersion, which is the revision of its key. Kind
 * and version come first, so that the resourceVersion can be inserted without encoding the object
 * again.
 */
export function encodeForStorage(object: ApiObject): Uint8Array {
  const { apiVersion, kind, metadata, ...fields } = object;
  const { resourceVersion: _, ...unversioned } = metadata;
  return Buffer.from(JSON.stringify({ apiVersion, kind, metadata: unversioned, ...fields }));
}

/** `stored` is the result of `encodeForStorage`. */
export function storedEntry(
  key: string,
  object: ApiObject,
  stored: Uint8Array,
  revision: number,
): Entry {
  const { apiVersion, kind } = object;
  const head = `${JSON.stringify({ apiVersion, kind }).slice(0, -1)},"metadata":{`;
  const split = Buffer.byteLength(head);
  const version = Buffer.from(`"resourceVersion":"${revision}",`);
  const body = Buffer.concat([stored.subarray(0, split), version, stored.subarray(split)]);
  return {
    key,
    object: withRevision(object, revision),
    revision,
    encodings: new Map([[apiVersion, body]]),
    storedRevision: revision,
  };
}

/** The last state of an object that left a collection, under the revision of its deletion. */
export function tombstone(last: Entry, revision: number): Entry {
  return {
    key: last.key,
    object: withRevision(last.object, revision),
    revision,
    encodings: new Map(),
    storedRevision: undefined,
  };
}

/** A state that was not written: the result of a dry run, or an object that is gone by now. */
export function unstoredEntry(key: string, object: ApiObject): Entry {
  return {
    key,
    object: object as StoredObject,
    revision: 0,
    encodings: new Map(),
    storedRevision: undefined,
  };
}

/** The JSON encoding of a value, made once per name. */
export function encodedOnce(entry: Entry, name: string, value: () => unknown): Uint8Array {
  const known = entry.encodings.get(name);
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(value()));
  entry.encodings.set(name, bytes);
  return bytes;
}

function withRevision(object: ApiObject, revision: number): StoredObject {
  const { name, namespace, uid, creationTimestamp, resourceVersion: _, ...rest } = object.metadata;
  const metadata = {
    name: name ?? '',
    ...defined({ namespace }),
    uid: uid ?? '',
    resourceVersion: String(revision),
    creationTimestamp: creationTimestamp ?? '',
    ...rest,
  };
  const { apiVersion, kind, metadata: __, ...fields } = object;
  return { apiVersion, kind, metadata, ...fields };
}
