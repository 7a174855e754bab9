/** An API server in memory, for tests. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpRequest, Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { MemoryStorage } from '../memory/memory-storage.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './api-server.ts';

/** The server runs under a virtual clock; requests are an administrator's. */
export class TestServer {
  readonly clock = new VirtualClock();
  readonly storage: MemoryStorage;
  readonly api: ApiServer;
  readonly transport: Transport;

  private constructor(options: Partial<ApiServerOptions> & { storage?: MemoryStorage }) {
    this.storage = options.storage ?? new MemoryStorage();
    this.api = createApiServer({
      clock: this.clock,
      random: new SeededRandom(7),
      logger: SILENT,
      ...options,
      storage: this.storage,
    });
    const certificate = { commonName: 'admin', organizations: ['system:masters'] };
    this.transport = handlerTransport(this.api.handler, { address: '127.0.0.1', certificate });
  }

  static async start(
    options: Partial<ApiServerOptions> & { storage?: MemoryStorage } = {},
  ): Promise<TestServer> {
    const server = new TestServer(options);
    await server.api.start();
    return server;
  }

  async send(
    method: HttpRequest['method'],
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TestResponse> {
    const response = await this.transport.send({
      method,
      path,
      headers,
      body: body === undefined ? undefined : bytesOf(body),
      signal: new AbortController().signal,
    });
    const chunks: Uint8Array[] = [];
    if (response.body instanceof Uint8Array) chunks.push(response.body);
    else for await (const chunk of response.body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }

  get(path: string, accept?: string): Promise<TestResponse> {
    return this.send('GET', path, undefined, accept === undefined ? {} : { accept });
  }

  post(path: string, body: unknown): Promise<TestResponse> {
    return this.send('POST', path, body);
  }

  put(path: string, body: unknown): Promise<TestResponse> {
    return this.send('PUT', path, body);
  }

  delete(path: string, options?: unknown): Promise<TestResponse> {
    return this.send('DELETE', path, options);
  }

  patch(path: string, type: 'json' | 'merge' | 'strategic', patch: unknown): Promise<TestResponse> {
    return this.send('PATCH', path, patch, { 'content-type': PATCH_TYPES[type] });
  }

  /** Opens a watch. */
  watch(path: string, accept?: string): TestWatch {
    return new TestWatch(this, path, accept);
  }
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; an empty object for anything else. */
  readonly body: JsonObject;
}

export interface TestEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** The events of a watch, as they arrive. */
export class TestWatch {
  readonly events: TestEvent[] = [];
  readonly #abort = new AbortController();
  readonly #clock: VirtualClock;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;

  constructor(server: TestServer, path: string, accept?: string) {
    this.#clock = server.clock;
    this.ended = this.#read(server.transport, path, accept).catch((error: unknown) => {
      if (!this.#abort.signal.aborted) throw error;
    });
  }

  /** Waits for everything under way, and takes the events that have arrived. */
  async take(): Promise<readonly TestEvent[]> {
    await this.#clock.settle();
    return this.events.splice(0);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(transport: Transport, path: string, accept?: string): Promise<void> {
    const response = await transport.send({
      method: 'GET',
      path,
      headers: accept === undefined ? {} : { accept },
      signal: this.#abort.signal,
    });
    if (response.body instanceof Uint8Array) {
      throw new Error(`the watch was refused: ${Buffer.from(response.body).toString()}`);
    }
    for await (const chunk of response.body) {
      for (const line of Buffer.from(chunk).toString().split('\n')) {
        if (line !== '') this.events.push(JSON.parse(line));
      }
    }
  }
}

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
