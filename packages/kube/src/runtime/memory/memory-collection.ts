/** An API server for one collection, for tests of clients. */
import type { KubeObject, Stored } from '../../meta.ts';
import { type ApiStatusError, failure } from '../../status.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../ports/transport.ts';

/**
 * It lists in pages, watches with history and bookmarks, and fails in the ways that a test asks
 * for. Tests that need the behaviour of a whole API server use the embedded one.
 */
export class MemoryCollection {
  readonly objects = new Map<string, Stored<KubeObject>>();
  /** Queries of all requests, in order. */
  readonly requests: URLSearchParams[] = [];
  /** Called first for every request. If it answers or throws, that is all the client gets. */
  fault: (
    query: URLSearchParams,
    request: HttpRequest,
  ) => HttpResponse | Promise<HttpResponse | undefined> | undefined = () => undefined;
  #version = 100;
  #oldest = 100;
  #uids = 0;
  #history: { readonly version: number; readonly line: string }[] = [];
  readonly #watches = new Set<LineQueue>();

  get resourceVersion(): string {
    return String(this.#version);
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Creates the object or changes it. */
  set(name: string, labels: Readonly<Record<string, string>> = {}): void {
    const old = this.objects.get(name);
    const uid = old?.metadata.uid ?? `uid-${++this.#uids}`;
    const object = this.#versioned(name, uid, labels);
    this.objects.set(name, object);
    this.#record(old === undefined ? 'ADDED' : 'MODIFIED', object);
  }

  delete(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.objects.delete(name);
    this.#record('DELETED', this.#versioned(name, old.metadata.uid, old.metadata.labels ?? {}));
  }

  /** Something changes on the server that watches of this collection do not show. */
  changeElsewhere(): void {
    this.#version++;
  }

  /** Sends the current version to all watches. */
  bookmark(): void {
    for (const watch of this.#watches) watch.push(this.#bookmarkLine());
  }

  /** Forgets the history: a client that resumes from before gets 410. */
  compact(): void {
    this.#oldest = this.#version;
    this.#history = [];
  }

  /** Sends old events once more, as a server that lost its place may. */
  replay(count: number): void {
    for (const { line } of this.#history.slice(-count)) {
      for (const watch of this.#watches) watch.push(line);
    }
  }

  /** Sends any bytes on all watches. */
  sendRaw(bytes: string): void {
    for (const watch of this.#watches) watch.push(bytes);
  }

  /** Ends all watches, properly or, with an error, like a broken connection. */
  endWatches(error?: Error): void {
    for (const watch of this.#watches) watch.end(error);
    this.#watches.clear();
  }

  readonly handler: HttpHandler = async (request) => {
    const query = new URL(request.path, 'http://localhost').searchParams;
    this.requests.push(query);
    const fault = await this.fault(query, request);
    if (fault !== undefined) return fault;
    return query.get('watch') === 'true' ? this.#watch(query, request) : this.#list(query);
  };

  #list(query: URLSearchParams): HttpResponse {
    const limit = Number(query.get('limit') ?? 0);
    // The token holds the version of the first page and the start of the next one.
    const [version = this.resourceVersion, start = '0'] = query.get('continue')?.split(':') ?? [];
    if (Number(version) < this.#oldest) return refused(failure('Expired', 'the token is too old'));
    const all = [...this.objects.values()];
    const end = limit === 0 ? all.length : Number(start) + limit;
    return json({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: version,
        ...(end < all.length ? { continue: `${version}:${end}` } : {}),
      },
      items: all.slice(Number(start), end),
    });
  }

  #watch(query: URLSearchParams, request: HttpRequest): HttpResponse {
    const lines = new LineQueue();
    if (query.get('sendInitialEvents') === 'true') {
      for (const object of this.objects.values()) lines.push(eventLine('ADDED', object));
      lines.push(this.#bookmarkLine({ 'k8s.io/initial-events-end': 'true' }));
    } else {
      const from = Number(query.get('resourceVersion'));
      if (from < this.#oldest) return refused(failure('Expired', 'the version is too old'));
      for (const { version, line } of this.#history) if (version > from) lines.push(line);
    }
    this.#watches.add(lines);
    request.signal.addEventListener('abort', () => {
      lines.end();
      this.#watches.delete(lines);
    });
    return { status: 200, headers: {}, body: lines };
  }

  #versioned(
    name: string,
    uid: string,
    labels: Readonly<Record<string, string>>,
  ): Stored<KubeObject> {
    const resourceVersion = String(++this.#version);
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const metadata = { name, namespace: 'ns', uid, resourceVersion, creationTimestamp, labels };
    return { apiVersion: 'v1', kind: 'Pod', metadata };
  }

  #record(type: string, object: Stored<KubeObject>): void {
    const line = eventLine(type, object);
    this.#history.push({ version: this.#version, line });
    for (const watch of this.#watches) watch.push(line);
  }

  #bookmarkLine(annotations: Readonly<Record<string, string>> = {}): string {
    const metadata = { resourceVersion: this.resourceVersion, annotations };
    return eventLine('BOOKMARK', { kind: 'Pod', apiVersion: 'v1', metadata });
  }
}

function eventLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function json(value: unknown, status = 200): HttpResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(value)) };
}

function refused(error: ApiStatusError): HttpResponse {
  return json(error.status, error.code);
}

/** The body of one watch: lines that wait come out in one chunk. */
class LineQueue implements AsyncIterable<Uint8Array> {
  #lines: string[] = [];
  #hasEnded = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;

  push(line: string): void {
    this.#lines.push(line);
    this.#wake();
  }

  end(error?: Error): void {
    this.#hasEnded = true;
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      if (this.#lines.length > 0) yield Buffer.from(this.#lines.splice(0).join(''));
      else if (this.#error !== undefined) throw this.#error;
      else if (this.#hasEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
