/** A `Client` over a map, for unit tests. */
import type { KubeList, KubeObject, Stored } from '../../meta.ts';
import { type Resource, resourcePath } from '../../resource.ts';
import { failure } from '../../status.ts';
import type { Client, ListOptions, ObjectKey } from '../client/client.ts';

/**
 * It suits mechanisms that need only single objects: create, get, update with optimistic
 * concurrency, top-level merge patch and apply, delete. Tests that need a real API server's
 * behaviour use the embedded one.
 */
export class MemoryClient implements Client {
  readonly objects = new Map<string, Stored<KubeObject>>();
  /** `VERB path` of every call, in order. */
  readonly calls: string[] = [];
  /** Called before each call is carried out; a test can make it throw, or never resolve. */
  before: (verb: string, path: string) => Promise<void> | void = () => undefined;
  /** Called after each call was carried out; a throw is a lost answer. */
  after: (verb: string, path: string) => Promise<void> | void = () => undefined;
  #version = 0;

  async get<T extends KubeObject>(of: Resource<T>, at: ObjectKey): Promise<Stored<T>> {
    return this.#call('GET', resourcePath(of, at), (path) => this.#find<T>(of, path));
  }

  async create<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    return this.#call('POST', resourcePath(of, object.metadata), (path) => {
      if (this.objects.has(path)) throw failure('AlreadyExists', `${path} already exists`);
      const uid = `uid-${this.#version + 1}`;
      return this.#store<T>(path, { ...object, metadata: { ...object.metadata, uid } });
    });
  }

  async update<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    return this.#call('PUT', resourcePath(of, object.metadata), (path) => {
      const { resourceVersion } = object.metadata;
      const isStale = this.#find(of, path).metadata.resourceVersion !== resourceVersion;
      if (isStale) throw failure('Conflict', `${path} was modified`);
      return this.#store<T>(path, object);
    });
  }

  async patch<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    body: { readonly type: string; readonly patch?: unknown; readonly dryRun?: 'All' },
  ): Promise<Stored<T>> {
    return this.#call('PATCH', resourcePath(of, at), (path) => {
      switch (body.type) {
        case 'merge':
          return this.#store<T>(path, Object.assign({}, this.#find<T>(of, path), body.patch));
        case 'apply':
          return this.#apply<T>(path, body);
        default:
          throw failure('UnsupportedMediaType', body.type);
      }
    });
  }

  async delete(of: Resource, at: ObjectKey): Promise<void> {
    await this.#call('DELETE', resourcePath(of, at), (path) => this.objects.delete(path));
  }

  list<T extends KubeObject>(
    _of: Resource<T>,
    _options?: ListOptions,
  ): Promise<KubeList<Stored<T>>> {
    throw failure('MethodNotAllowed', 'no lists here');
  }

  listMetadata(): never {
    throw failure('MethodNotAllowed', 'no lists here');
  }

  watch(): never {
    throw failure('MethodNotAllowed', 'no watches here');
  }

  createSubresource(): never {
    throw failure('MethodNotAllowed', 'no subresources here');
  }

  getPath(): never {
    throw failure('NotFound', 'no other paths here');
  }

  logs(): never {
    throw failure('MethodNotAllowed', 'no logs here');
  }

  async #call<R>(verb: string, path: string, act: (path: string) => R): Promise<R> {
    this.calls.push(`${verb} ${path}`);
    await this.before(verb, path);
    const result = act(path);
    await this.after(verb, path);
    return result;
  }

  #find<T extends KubeObject>(of: Resource<T>, path: string): Stored<T> {
    const found = this.objects.get(path);
    if (found === undefined) throw failure('NotFound', `${of.plural} "${path}" not found`);
    return found as Stored<T>;
  }

  #apply<T extends KubeObject>(
    path: string,
    { patch, dryRun }: { readonly patch?: unknown; readonly dryRun?: 'All' },
  ): Stored<T> {
    const applied = Object.assign({}, this.objects.get(path), patch) as Stored<T>;
    return dryRun === undefined ? this.#store<T>(path, applied) : applied;
  }

  #store<T extends KubeObject>(path: string, object: T): Stored<T> {
    this.#version++;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = { ...object, metadata } as Stored<T>;
    this.objects.set(path, stored);
    return stored;
  }
}
