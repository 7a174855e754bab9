import type {
  DeleteOptions,
  KubeList,
  KubeObject,
  PartialObjectMetadata,
  Stored,
} from '../../kube/meta.ts';
import type { JsonPatchOperation } from '../../kube/patch/json-patch.ts';
import type { Resource } from '../../kube/resource.ts';

export type { JsonPatchOperation };

/**
 * The typed client of the Kubernetes API. Every call rejects with `ApiStatusError` (the server
 * refused), `TransportError` (nobody answered) or the signal's reason, and retries nothing by itself
 * but what `createClient` says. Objects are returned as the server sent them.
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
   * Opens one watch request. It ends when the server closes it, fails with `ApiStatusError` for an
   * ERROR event (410 `Expired` among them) and never resumes by itself: that is the reflector's work.
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
  /** PUT; `metadata.resourceVersion` of `object`, where set, must be the stored one. */
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
  /** GET `pods/NAME/log`: the bytes as they come; with `follow` until the container has ended. */
  logs(at: ObjectKey, options?: LogOptions): AsyncIterable<Uint8Array>;
}

export interface LogOptions extends CallOptions {
  /** May be left out where the Pod has only one container. */
  readonly container?: string;
  readonly follow?: boolean;
  /** Of the container's last run instead of this one. */
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly tailLines?: number;
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
  /** The type of JSON to ask for, where a server has it under a name of its own. */
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
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
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
  /** Server-side apply: the whole object as its manager wants it. It is created if it is not there. */
  | ({ readonly type: 'apply'; readonly patch: unknown } & ApplyOptions);

export interface ApplyOptions {
  readonly fieldManager: string;
  /** Takes fields over that other managers have set, instead of `Conflict`. */
  readonly force?: boolean;
  /** `All`: the server judges and answers, and stores nothing. */
  readonly dryRun?: 'All';
}
