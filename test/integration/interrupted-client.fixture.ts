/** A client whose process can die at any of its writes. */
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type {
  CallOptions,
  Client,
  ListOptions,
  ObjectKey,
  PatchBody,
  WatchOptions,
  WriteOptions,
} from '@lockstep/kube/runtime/client/client.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';

/** A write of the client: `update jobsets/status`, `create jobs`, ... */
export interface SeenWrite {
  readonly what: string;
  readonly name: string;
}

/**
 * It dies just before a write, or just after it, so that the API server has the write and the
 * client does not know. From then on every call fails.
 */
export class InterruptedClient implements Client {
  readonly writes: SeenWrite[] = [];
  /** Dies at this write, counted from 0. */
  diesAt: number | undefined;
  diesBefore = false;
  onDeath: () => void = () => undefined;
  /** Called before each write; what it throws is the answer. */
  beforeWrite: (write: SeenWrite) => void | Promise<void> = () => undefined;
  /** Called after each successful write, before the client knows. */
  afterWrite: (write: SeenWrite) => void = () => undefined;
  /** Called before each read of one object; a slow server waits here. */
  beforeGet: () => Promise<void> = () => Promise.resolve();
  readonly #client: Client;
  #isDead = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The number of writes of one kind, such as `update jobsets/status`. */
  count(what: string): number {
    return this.writes.filter((write) => write.what === what).length;
  }

  get<T extends KubeObject>(of: Resource<T>, at: ObjectKey, options?: CallOptions) {
    return this.#alive(async () => {
      await this.beforeGet();
      return this.#client.get(of, at, options);
    });
  }

  list<T extends KubeObject>(of: Resource<T>, options?: ListOptions) {
    return this.#alive(() => this.#client.list(of, options));
  }

  listMetadata(of: Resource, options?: ListOptions) {
    return this.#alive(() => this.#client.listMetadata(of, options));
  }

  watch<T extends KubeObject>(of: Resource<T>, options: WatchOptions) {
    return this.#client.watch(of, options);
  }

  create<T extends KubeObject>(of: Resource<T>, object: T, options?: CallOptions) {
    const seen = { what: `create ${of.plural}`, name: object.metadata.name ?? '' };
    return this.#write(seen, () => this.#client.create(of, object, options));
  }

  update<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<Stored<T>> {
    const seen = { what: `update ${target(of, options)}`, name: object.metadata.name ?? '' };
    return this.#write(seen, () => this.#client.update(of, object, options));
  }

  patch<T extends KubeObject>(
    of: Resource<T>,
    at: ObjectKey,
    patch: PatchBody,
    options?: WriteOptions,
  ): Promise<Stored<T>> {
    const seen = { what: `patch ${target(of, options)}`, name: at.name };
    return this.#write(seen, () => this.#client.patch(of, at, patch, options));
  }

  delete(of: Resource, at: ObjectKey, options?: Parameters<Client['delete']>[2]): Promise<void> {
    const seen = { what: `delete ${of.plural}`, name: at.name };
    return this.#write(seen, () => this.#client.delete(of, at, options));
  }

  createSubresource<T extends KubeObject>(
    of: Resource,
    at: ObjectKey,
    subresource: string,
    body: T,
    options?: CallOptions,
  ): Promise<T> {
    return this.#alive(() => this.#client.createSubresource(of, at, subresource, body, options));
  }

  getPath(...args: Parameters<Client['getPath']>): ReturnType<Client['getPath']> {
    return this.#client.getPath(...args);
  }

  logs(...args: Parameters<Client['logs']>): ReturnType<Client['logs']> {
    return this.#client.logs(...args);
  }

  async #write<R>(seen: SeenWrite, act: () => Promise<R>): Promise<R> {
    this.#check();
    // Events are written on the side and decide nothing.
    if (seen.what.endsWith(' events')) return act();
    const isLast = this.writes.length === this.diesAt;
    this.writes.push(seen);
    if (isLast && this.diesBefore) this.#die();
    await this.beforeWrite(seen);
    const result = await act();
    if (isLast) this.#die();
    this.#check();
    this.afterWrite(seen);
    return result;
  }

  async #alive<R>(act: () => Promise<R>): Promise<R> {
    this.#check();
    return act();
  }

  #die(): never {
    this.#isDead = true;
    this.onDeath();
    throw new TransportError('the process died');
  }

  #check(): void {
    if (this.#isDead) throw new TransportError('the process is dead');
  }
}

function target(of: Resource, options: WriteOptions | undefined): string {
  return options?.subresource === undefined ? of.plural : `${of.plural}/${options.subresource}`;
}
