/** The port of the Kubernetes API: one typed method per verb. */
import type {
  DeleteOptions,
  KubeList,
  KubeObject,
  PartialObjectMetadata,
  Stored,
} from '../../meta.ts';
import type { JsonPatchOperation } from '../../patch/json-patch.ts';
import type { Resource } from '../../resource.ts';

export type { JsonPatchOperation };

/**
 * Every call rejects with `ApiStatusError` (the server refused), `TransportError` (no answer) or
 * the signal's reason. Only `createClient` describes retries. Objects are returned as the server
 * sent them.
 */
export interface Client {
  get<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    options?: CallOptions,
  ): Promise<Stored<T>>;
  /** One request: with `limit` it returns one page and `metadata.continue`. */
  list<T extends KubeObject>(of: Resource<T>, options?: ListOptions): Promise<KubeList<Stored<T>>>;
  /** Like `list`, of metadata only (`PartialObjectMetadataList`). */
  listMetadata(
    of: Resource,
    options?: ListOptions,
  ): Promise<KubeList<Stored<PartialObjectMetadata>>>;
  /**
   * Opens one watch request. It ends when the server closes it, and fails with `ApiStatusError` for
   * an ERROR event (410 `Expired` among them). It never resumes by itself: the reflector does that.
   */
  watch<T extends KubeObject>(
    of: Resource<T>,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<Stored<T>>>;
  create<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    options?: CallOptions,
  ): Promise<Stored<T>>;
  /** PUT; if `object` has a `metadata.resourceVersion`, it must be the stored one. */
  update<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<Stored<T>>;
  patch<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    patch: PatchBody,
    options?: WriteOptions,
  ): Promise<Stored<T>>;
  /** Resolves when the server accepted the deletion, which is not yet the end of the object. */
  delete(of: Resource, at: ObjectKey, options?: DeleteOptions & CallOptions): Promise<void>;
  /** POST to a subresource that answers with another kind, such as `serviceaccounts/NAME/token`. */
  createSubresource<T extends KubeObject>(
    of: Resource,
    at: ObjectKey,
    subresource: string,
    body: T,
    options?: CallOptions,
  ): Promise<T>;
  /** GET of any other path that answers with JSON, such as `/apis` (discovery) or `/version`. */
  getPath(path: string, options?: PathOptions): Promise<unknown>;
  /** GET `pods/NAME/log`: the bytes as they arrive; with `follow` until the container has ended. */
  logs(at: ObjectKey, options?: LogOptions): AsyncIterable<Uint8Array>;
}

export interface LogOptions extends CallOptions {
  /** Optional if the Pod has only one container. */
  readonly container?: string;
  readonly follow?: boolean;
  /** The log of the container's last run instead of this one. */
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly tailLines?: number;
  /** RFC 3339: no older line. API servers drop the fraction of a second. */
  readonly sinceTime?: string;
  /** Not together with `sinceTime`. */
  readonly sinceSeconds?: number;
}

export interface ObjectKey {
  /** Empty or absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PathOptions extends CallOptions {
  /** The JSON media type to ask for, if the server has a special one. */
  readonly accept?: string;
}

export interface WriteOptions extends CallOptions {
  /** `finalize` exists for Namespaces only. */
  readonly subresource?: 'status' | 'finalize' | 'ephemeralcontainers';
}

export interface ListOptions extends CallOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  /** A longer answer is refused, with `TransportError` and code `EMSGSIZE`. */
  readonly maxBytes?: number;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue' | 'maxBytes'> {
  /** Ask for `PartialObjectMetadata` instead of whole objects. */
  readonly metadataOnly?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** True for the bookmark that ends the initial events of `sendInitialEvents`. */
      readonly initialEventsEnd: boolean;
    };

export type PatchBody =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly patch: unknown }
  | { readonly type: 'strategic'; readonly patch: unknown }
  /**
   * Server-side apply: the whole object as its manager wants it. Creates the object if it is
   * missing.
   */
  | ({ readonly type: 'apply'; readonly patch: unknown } & ApplyOptions);

export interface ApplyOptions {
  readonly fieldManager: string;
  /** Takes fields over from other managers, instead of a `Conflict`. */
  readonly force?: boolean;
  /** `All`: the server checks and answers, and stores nothing. */
  readonly dryRun?: 'All';
}
