/**
 * The Client over HTTP: maps verbs to requests. Objects are returned as the server sent them, with
 * one addition. API servers leave `apiVersion` and `kind` out of the items of a list; they are put
 * back, so that an object is the same from a list, a watch or a get.
 */
import { defined } from '../../json/defined.ts';
import type { KubeList, KubeObject, PartialObjectMetadata, Stored } from '../../meta.ts';
import { apiVersionOf, type Resource, resourcePath } from '../../resource.ts';
import { TransportError } from '../ports/transport.ts';
import { type ApiCall, ApiRequests, type ApiRequestsOptions } from './api-requests.ts';
import type {
  CallOptions,
  Client,
  ListOptions,
  LogOptions,
  ObjectKey,
  PatchBody,
  PathOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import { LineSplitter, MAX_EVENT_BYTES, watchEventOf } from './watch-stream.ts';

export type ClientOptions = ApiRequestsOptions;

export function createClient(options: ClientOptions): Client {
  return new HttpClient(options);
}

const METADATA = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' } as const;

/**
 * Asks for metadata only, and accepts whole objects from a server that cannot leave the rest out.
 */
function metadataAccept(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

const CONTENT_TYPE_OF_PATCH = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML.
  apply: 'application/apply-patch+yaml',
} as const;

class HttpClient implements Client {
  readonly #requests: ApiRequests;

  constructor(options: ClientOptions) {
    this.#requests = new ApiRequests(options);
  }

  async get<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    options: CallOptions = {},
  ): Promise<Stored<T>> {
    return this.#object({ method: 'GET', path: resourcePath(of, at), ...options });
  }

  async list<T extends KubeObject>(
    of: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<Stored<T>>> {
    return this.#list<T>(of, options, {}, (item) => ({
      ...item,
      apiVersion: item.apiVersion ?? apiVersionOf(of),
      kind: item.kind ?? of.kind,
    }));
  }

  async listMetadata(
    of: Resource,
    options: ListOptions = {},
  ): Promise<KubeList<Stored<PartialObjectMetadata>>> {
    const accept = metadataAccept('PartialObjectMetadataList');
    return this.#list<PartialObjectMetadata>(of, options, { accept }, metadataOf);
  }

  async *watch<T extends KubeObject>(
    of: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<Stored<T>>, void> {
    const path = `${resourcePath(of, options)}?${queryOf({ ...options, watch: true })}`;
    const accept =
      options.metadataOnly === true ? metadataAccept('PartialObjectMetadata') : undefined;
    const call = { method: 'GET', path, ...defined({ accept }) } as const;
    const lines = new LineSplitter(MAX_EVENT_BYTES);
    for await (const chunk of this.#requests.stream({ ...call, signal: options.signal })) {
      for (const line of lines.push(chunk)) {
        const event = watchEventOf<T>(line);
        yield options.metadataOnly === true ? withMetadataOnly(event) : event;
      }
    }
    lines.end();
  }

  async create<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    options: CallOptions = {},
  ): Promise<Stored<T>> {
    const { namespace } = object.metadata;
    return this.#object({
      method: 'POST',
      path: resourcePath(of, { namespace }),
      body: object,
      ...options,
    });
  }

  async update<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    const { namespace, name = '' } = object.metadata;
    const path = resourcePath(of, { namespace, name, subresource: options.subresource });
    return this.#object({ method: 'PUT', path, body: object, signal: options.signal });
  }

  async patch<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    patch: PatchBody,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    return this.#object({
      method: 'PATCH',
      path: resourcePath(of, { ...at, subresource: options.subresource }) + applyQuery(patch),
      body: patch.type === 'json' ? patch.operations : patch.patch,
      contentType: CONTENT_TYPE_OF_PATCH[patch.type],
      signal: options.signal,
    });
  }

  async delete(
    of: Resource,
    at: ObjectKey,
    options: Parameters<Client['delete']>[2] = {},
  ): Promise<void> {
    const { signal, ...rest } = options;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...rest };
    await this.#requests.json({ method: 'DELETE', path: resourcePath(of, at), body, signal });
  }

  async createSubresource<T extends KubeObject>(
    of: Resource,
    at: ObjectKey,
    subresource: string,
    body: T,
    options: CallOptions = {},
  ): Promise<T> {
    const path = resourcePath(of, { ...at, subresource });
    return this.#object({ method: 'POST', path, body, ...options });
  }

  async getPath(path: string, options: PathOptions = {}): Promise<unknown> {
    return this.#requests.json({ method: 'GET', path, ...options });
  }

  logs(at: ObjectKey, options: LogOptions = {}): AsyncIterable<Uint8Array> {
    const { signal, ...query } = options;
    const path = `${resourcePath(LOGGED, { ...at, subresource: 'log' })}?${queryOf(query)}`;
    return this.#requests.stream({ method: 'GET', path, accept: '*/*', signal });
  }

  /** For answers that must be an object; checks the members that matter. */
  async #object<T extends KubeObject>(call: ApiCall): Promise<T> {
    const object = await this.#requests.json(call);
    if (!hasMetadata(object)) throw unexpected(call, 'an object');
    return object as T;
  }

  async #list<T extends KubeObject>(
    of: Resource,
    options: ListOptions,
    headers: Pick<ApiCall, 'accept'>,
    itemOf: (item: Stored<T>) => Stored<T>,
  ): Promise<KubeList<Stored<T>>> {
    const path = `${resourcePath(of, options)}?${queryOf(options)}`.replace(/\?$/, '');
    const { signal, maxBytes } = options;
    const call = { method: 'GET', path, ...headers, signal, maxBytes } as const;
    const list = await this.#requests.json(call);
    if (!hasMetadata(list) || !('items' in list)) throw unexpected(call, 'a list');
    const { items } = list as KubeList<Stored<T>>;
    // Go encodes an empty list of some kinds as null.
    return { ...(list as KubeList<Stored<T>>), items: (items ?? []).map(itemOf) };
  }
}

const LOGGED: Resource = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
};

function applyQuery(body: PatchBody): string {
  if (body.type !== 'apply') return '';
  const { type: _type, patch: _patch, ...options } = body;
  return `?${queryOf(options)}`;
}

/** Parameters under the API's own names; other options are left out. */
function queryOf(options: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    const isParameter = !NOT_PARAMETERS.has(name) && value !== undefined && value !== '';
    if (isParameter) query.set(name, String(value));
  }
  return query.toString();
}

const NOT_PARAMETERS: ReadonlySet<string> = new Set([
  'signal',
  'namespace',
  'metadataOnly',
  'maxBytes',
]);

function hasMetadata(value: unknown): value is KubeObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    'metadata' in value &&
    typeof value.metadata === 'object' &&
    value.metadata !== null
  );
}

function withMetadataOnly<T extends KubeObject>(
  event: WatchEvent<Stored<T>>,
): WatchEvent<Stored<T>> {
  return event.type === 'BOOKMARK' ? event : { ...event, object: metadataOf(event.object) };
}

function metadataOf<T extends KubeObject>(object: Stored<T>): Stored<T> {
  if (object.kind === METADATA.kind) return object;
  // The caller asked for metadata only, so that is all `T` has.
  return { ...METADATA, metadata: object.metadata } as Stored<T>;
}

function unexpected(call: Pick<ApiCall, 'method' | 'path'>, what: string): TransportError {
  return new TransportError(`${call.method} ${call.path}: the answer is not ${what}`, {
    code: 'EBADMSG',
  });
}
