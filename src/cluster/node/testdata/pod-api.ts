import type { KubeList, KubeObject, Stored } from '../../../kube/meta.ts';
import type { Pod } from '../../../kube/pod.ts';
import { type Resource, resourcePath } from '../../../kube/resource.ts';
import { failure } from '../../../kube/status.ts';
import type { Client, ObjectKey, PatchBody, WatchEvent } from '../../../runtime/client.ts';

/** Just enough of an API for a node. */
export class PodApi implements Client {
  readonly objects = new Map<string, Stored<KubeObject>>();
  readonly history: Stored<Pod>[] = [];
  readonly #watchers = new Set<(path: string, event: WatchEvent<Stored<KubeObject>>) => void>();
  #version = 1;
  #uid = 0;

  async get<T extends KubeObject>(of: Resource<T>, at: ObjectKey): Promise<Stored<T>> {
    const found = this.objects.get(resourcePath(of, at));
    if (found === undefined) throw failure('NotFound', `${of.plural} "${at.name}" not found`);
    return found as Stored<T>;
  }

  async create<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    const path = resourcePath(of, object.metadata);
    if (this.objects.has(path)) throw failure('AlreadyExists', `${path} already exists`);
    const uid = `uid-${++this.#uid}`;
    return this.#store(path, 'ADDED', {
      ...object,
      metadata: { ...object.metadata, uid, creationTimestamp: '2026-01-01T00:00:00Z' },
    }) as Stored<T>;
  }

  async update<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    return this.#store(resourcePath(of, object.metadata), 'MODIFIED', object) as Stored<T>;
  }

  async patch<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    body: PatchBody,
  ): Promise<Stored<T>> {
    const found = (await this.get(of, at)) as Stored<KubeObject> & { status?: any };
    if (body.type === 'json') throw failure('UnsupportedMediaType', 'json');
    const patch = body.patch as any;
    if (patch.metadata?.uid !== undefined && patch.metadata.uid !== found.metadata.uid) {
      throw failure('Conflict', 'uid');
    }
    const next: any = { ...found };
    for (const key of Object.keys(patch)) {
      if (key === 'metadata') {
        next.metadata = { ...next.metadata, ...patch.metadata };
      } else {
        const conditions = patch[key].conditions as any[] | undefined;
        const merged = new Map<string, any>((next[key]?.conditions ?? []).map((c: any) => [c.type, c]));
        for (const condition of conditions ?? []) {
          const one = { ...merged.get(condition.type), ...condition };
          for (const name of Object.keys(one)) if (one[name] === null) delete one[name];
          merged.set(condition.type, one);
        }
        next[key] = { ...next[key], ...patch[key] };
        if (conditions !== undefined) next[key].conditions = [...merged.values()];
      }
    }
    return this.#store(resourcePath(of, at), 'MODIFIED', next) as Stored<T>;
  }

  async delete(
    of: Resource,
    at: ObjectKey,
    options?: { readonly gracePeriodSeconds?: number },
  ): Promise<void> {
    const path = resourcePath(of, at);
    const object = (await this.get(of, at)) as Stored<KubeObject>;
    if (of.plural === 'pods' && options?.gracePeriodSeconds !== 0) {
      const seconds = options?.gracePeriodSeconds ?? 30;
      this.#store(path, 'MODIFIED', {
        ...object,
        metadata: {
          ...object.metadata,
          deletionTimestamp: '2026-01-01T00:00:00Z',
          deletionGracePeriodSeconds: seconds,
        },
      });
      return;
    }
    this.objects.delete(path);
    this.#version++;
    this.#emit(path, { type: 'DELETED', object });
  }

  async list<T extends KubeObject>(of: Resource<T>): Promise<KubeList<Stored<T>>> {
    const prefix = `/${of.plural}/`;
    const items = [...this.objects].filter(([path]) => path.includes(prefix)).map(([, o]) => o as Stored<T>);
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: String(this.#version) }, items };
  }

  async *watch<T extends KubeObject>(
    of: Resource<T>,
    options: { readonly signal?: AbortSignal; readonly sendInitialEvents?: boolean },
  ): AsyncIterable<WatchEvent<Stored<T>>> {
    const queue: WatchEvent<Stored<T>>[] = [];
    let wake: () => void = () => undefined;
    if (options.sendInitialEvents === true) {
      const { items } = await this.list(of);
      queue.push(...items.map((object) => ({ type: 'ADDED', object }) as const));
      queue.push({ type: 'BOOKMARK', resourceVersion: String(this.#version), initialEventsEnd: true });
    }
    const watcher = (path: string, event: WatchEvent<Stored<KubeObject>>): void => {
      if (!path.includes(`/${of.plural}/`)) return;
      queue.push(event as WatchEvent<Stored<T>>);
      wake();
    };
    this.#watchers.add(watcher);
    options.signal?.addEventListener('abort', () => wake());
    try {
      while (options.signal?.aborted !== true) {
        const next = queue.shift();
        if (next !== undefined) yield next;
        else await new Promise<void>((resolve) => { wake = resolve; });
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  async createSubresource<T extends KubeObject>(_of: Resource, at: ObjectKey, _s: string, body: T): Promise<T> {
    return {
      ...body,
      status: { token: `token-of-${at.name}`, expirationTimestamp: new Date(Date.now() + 3_600_000).toISOString() },
    };
  }

  listMetadata(): never { throw failure('MethodNotAllowed', ''); }
  getPath(): never { throw failure('NotFound', ''); }
  logs(): never { throw failure('NotFound', ''); }

  #store(path: string, type: 'ADDED' | 'MODIFIED', object: KubeObject): Stored<KubeObject> {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    const stored = { ...object, metadata } as Stored<KubeObject>;
    this.objects.set(path, stored);
    if (path.includes('/pods/')) this.history.push(stored as Stored<Pod>);
    this.#emit(path, { type, object: stored });
    return stored;
  }

  #emit(path: string, event: WatchEvent<Stored<KubeObject>>): void {
    for (const watcher of this.#watchers) watcher(path, event);
  }
}
