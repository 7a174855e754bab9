import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TestEvent, TestServer } from '../test-server.ts';
import { WATCH_QUEUE_LIMIT } from './watch.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

function map(name: string, data: JsonObject = {}, labels: JsonObject = {}): object {
  return { metadata: { name, labels }, data };
}

function summary({ type, object }: TestEvent): string {
  const { name, resourceVersion } = object['metadata'] as Readonly<Record<string, string>>;
  return type === 'BOOKMARK' ? `BOOKMARK ${resourceVersion}` : `${type} ${name}`;
}

describe('a watch', () => {
  it.each([
    ['without a version', ''],
    ['from any version', '&resourceVersion=0'],
  ])('%s shows what is there, then what happens', async (_, query) => {
    const server = await TestServer.start();
    await server.post(MAPS, map('a'));
    const watch = server.watch(`${MAPS}?watch=1${query}`);
    expect((await watch.take()).map(summary)).toEqual(['ADDED a']);
    await server.post(MAPS, map('b'));
    await server.patch(`${MAPS}/a`, 'merge', { data: { x: '1' } });
    await server.delete(`${MAPS}/b`);
    expect((await watch.take()).map(summary)).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b']);
    watch.close();
  });

  it('from a version shows everything after it, and nothing else', async () => {
    const server = await TestServer.start();
    const { body } = await server.post(MAPS, map('a'));
    await server.post(MAPS, map('b'));
    const { resourceVersion } = body['metadata'] as Readonly<Record<string, string>>;
    const watch = server.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
    expect((await watch.take()).map(summary)).toEqual(['ADDED b']);
    watch.close();
  });

  it('shows objects entering and leaving its selection', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, map('a', {}, { app: 'x' }));
    const watch = server.watch(`${MAPS}?watch=1&labelSelector=app%3Dx`);
    await watch.take();
    const left = await server.patch(`${MAPS}/a`, 'merge', { metadata: { labels: { app: 'y' } } });
    const [deleted] = await watch.take();
    expect(deleted).toMatchObject({
      type: 'DELETED',
      // The last state that was selected, under the version of the change.
      object: {
        metadata: {
          labels: { app: 'x' },
          resourceVersion: (left.body['metadata'] as JsonObject)['resourceVersion'],
        },
      },
    });
    await server.patch(`${MAPS}/a`, 'merge', { data: { still: 'out' } });
    await server.patch(`${MAPS}/a`, 'merge', { metadata: { labels: { app: 'x' } } });
    expect((await watch.take()).map(summary)).toEqual(['ADDED a']);
    watch.close();
  });

  it('of one name does not show names with the same beginning', async () => {
    const server = await TestServer.start();
    const watch = server.watch(`${MAPS}?watch=1&fieldSelector=metadata.name%3Da`);
    await server.post(MAPS, map('a-b'));
    await server.post(MAPS, map('a'));
    expect((await watch.take()).map(summary)).toEqual(['ADDED a']);
    watch.close();
  });

  it('announces the end of its initial events', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, map('a'));
    const query =
      'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = server.watch(`${MAPS}?${query}`);
    const [first, bookmark] = await watch.take();
    expect(first?.type).toBe('ADDED');
    expect(bookmark).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    });
    watch.close();
  });

  it('bookmarks the revision of the server about every minute', async () => {
    const server = await TestServer.start();
    const watch = server.watch(`${MAPS}?watch=1&allowWatchBookmarks=true`);
    const other = await server.post('/api/v1/namespaces', { metadata: { name: 'other' } });
    const { resourceVersion } = other.body['metadata'] as Readonly<Record<string, string>>;
    await server.clock.advance(60_000);
    expect((await watch.take()).map(summary)).toEqual([`BOOKMARK ${resourceVersion}`]);
    watch.close();
  });

  it('ends after its time-out, and with the server', async () => {
    const server = await TestServer.start();
    const short = server.watch(`${MAPS}?watch=1&timeoutSeconds=5`);
    const long = server.watch(`${MAPS}?watch=1`);
    await server.clock.advance(5_000);
    await short.ended;
    await server.api.close();
    await long.ended;
  });

  it('from a version that the history has lost reports it in the stream', async () => {
    const server = await TestServer.start();
    const { body } = await server.post(MAPS, map('a'));
    const { resourceVersion } = body['metadata'] as Readonly<Record<string, string>>;
    for (let i = 0; i < 5_000; i++) {
      await server.patch(`${MAPS}/a`, 'merge', { data: { x: String(i) } });
    }
    const watch = server.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
    expect(await watch.take()).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ]);
    await watch.ended;
  });

  it('that does not read is cut off, without effect on others', async () => {
    const server = await TestServer.start();
    const abort = new AbortController();
    const response = await server.transport.send({
      method: 'GET',
      path: `${MAPS}?watch=1`,
      headers: {},
      signal: abort.signal,
    });
    if (response.body instanceof Uint8Array) throw new Error('no watch');
    const lines = response.body[Symbol.asyncIterator]();
    await server.post(MAPS, map('a'));
    await lines.next();
    for (let i = 0; i <= WATCH_QUEUE_LIMIT + 1; i++) {
      await server.patch(`${MAPS}/a`, 'merge', { data: { x: String(i) } });
    }
    let count = 0;
    while (!(await lines.next()).done) count++;
    expect(count).toBeLessThan(WATCH_QUEUE_LIMIT);
  });

  it('names the columns of a table once', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, map('a', { x: '1' }));
    await server.post(MAPS, map('b'));
    const watch = server.watch(`${MAPS}?watch=1`, TABLE);
    expect(await watch.take()).toMatchObject([
      {
        object: {
          kind: 'Table',
          columnDefinitions: [{ name: 'Name' }, {}, {}],
          rows: [{ cells: ['a', 1, '0s'] }],
        },
      },
      { object: { columnDefinitions: null, rows: [{ cells: ['b', 0, '0s'] }] } },
    ]);
    watch.close();
  });

  it('for metadata shows only that', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, map('a', { x: '1' }));
    const watch = server.watch(`${MAPS}?watch=1`, METADATA);
    const [event] = await watch.take();
    expect(event?.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    expect(event?.object).not.toHaveProperty('data');
    watch.close();
  });

  it.each([
    ['sendInitialEvents=true', 422],
    ['resourceVersionMatch=NotOlderThan', 422],
    ['resourceVersion=abc', 500],
    ['labelSelector=%21%21', 400],
    ['timeoutSeconds=x', 400],
  ])('with %s is refused with %i', async (query, code) => {
    const server = await TestServer.start();
    expect((await server.get(`${MAPS}?watch=1&${query}`)).body).toMatchObject({ code });
  });
});

describe('a list', () => {
  it('in pages shows one moment, even with writes in between', async () => {
    const server = await TestServer.start();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await server.post(MAPS, map(name));
    const first = await server.get(`${MAPS}?limit=2`);
    const token = (first.body['metadata'] as Readonly<Record<string, string>>)['continue'] ?? '';
    expect(first.body['metadata']).toMatchObject({ remainingItemCount: 3 });
    await server.delete(`${MAPS}/d`);
    await server.patch(`${MAPS}/c`, 'merge', { data: { x: '1' } });
    await server.post(MAPS, map('cc'));
    const rest = await server.get(`${MAPS}?limit=9&continue=${encodeURIComponent(token)}`);
    expect(rest.body['items']).toMatchObject([
      { metadata: { name: 'c' } },
      { metadata: { name: 'd' } },
      { metadata: { name: 'e' } },
    ]);
    expect((rest.body['items'] as readonly JsonObject[])[0]).not.toHaveProperty('data.x');
    expect(rest.body['metadata']).toMatchObject({
      resourceVersion: (first.body['metadata'] as JsonObject)['resourceVersion'],
    });
  });

  it.each([
    ['continue=xx', 400],
    ['limit=x', 400],
    ['resourceVersion=999999', 504],
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersionMatch=Foo&resourceVersion=1', 422],
    ['resourceVersionMatch=Exact&resourceVersion=0', 422],
  ])('with %s is refused with %i', async (query, code) => {
    const server = await TestServer.start();
    expect((await server.get(`${MAPS}?${query}`)).body).toMatchObject({ kind: 'Status', code });
  });
});

type Step =
  | { readonly do: 'write'; readonly name: string; readonly label: string }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'reconnect' };

const NAME = fc.constantFrom('a', 'a-b', 'b', 'c');
const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('write' as const),
    name: NAME,
    label: fc.constantFrom('x', 'y'),
  }),
  fc.record({ do: fc.constant('delete' as const), name: NAME }),
  fc.record({ do: fc.constant('reconnect' as const) }),
);

describe('a client that lists and then watches', () => {
  it('knows exactly what is there, with any selector and over any reconnects', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { maxLength: 40, size: 'max' }),
        fc.constantFrom('', '&labelSelector=app%3Dx', '&fieldSelector=metadata.name%3Da'),
        fc.nat(40),
        async (steps, selector, listAt) => {
          const server = await TestServer.start();
          const follower = new Follower(server, selector);
          for (const [at, step] of steps.entries()) {
            if (at === listAt) await follower.list();
            if (step.do === 'write') {
              const labels = { app: step.label };
              const created = await server.post(MAPS, map(step.name, { at: String(at) }, labels));
              if (created.status === 409) {
                const patch = { metadata: { labels }, data: { at: String(at) } };
                await server.patch(`${MAPS}/${step.name}`, 'merge', patch);
              }
            } else if (step.do === 'delete') await server.delete(`${MAPS}/${step.name}`);
            else await follower.reconnect();
          }
          await follower.reconnect();
          const truth = await server.get(`${MAPS}?limit=0${selector}`);
          expect(follower.known()).toEqual(
            (truth.body['items'] as readonly JsonObject[]).map((item) =>
              JSON.stringify(listed(item)),
            ),
          );
          follower.stop();
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** An item of a list as a watch shows it: in a list, only the list names the kind. */
function listed(item: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', ...item };
}

/** A client that keeps a copy, and checks that versions only grow. */
class Follower {
  readonly #server: TestServer;
  readonly #selector: string;
  readonly #objects = new Map<string, JsonObject>();
  #watch: ReturnType<TestServer['watch']> | undefined;
  #version = 0;

  constructor(server: TestServer, selector: string) {
    this.#server = server;
    this.#selector = selector;
  }

  async list(): Promise<void> {
    await this.#absorb();
    this.#watch?.close();
    const { body } = await this.#server.get(`${MAPS}?limit=0${this.#selector}`);
    this.#objects.clear();
    for (const item of body['items'] as readonly JsonObject[]) this.#put(listed(item));
    this.#version = Number((body['metadata'] as JsonObject)['resourceVersion']);
    this.#open();
  }

  async reconnect(): Promise<void> {
    if (this.#watch === undefined) {
      await this.list();
      return;
    }
    await this.#absorb();
    this.#watch.close();
    this.#open();
    await this.#absorb();
  }

  known(): readonly string[] {
    const keys = [...this.#objects.keys()].sort((a, b) => (a < b ? -1 : 1));
    return keys.map((key) => JSON.stringify(this.#objects.get(key)));
  }

  stop(): void {
    this.#watch?.close();
  }

  #open(): void {
    const query = `watch=1&resourceVersion=${this.#version}${this.#selector}`;
    this.#watch = this.#server.watch(`${MAPS}?${query}`);
  }

  async #absorb(): Promise<void> {
    for (const { type, object } of (await this.#watch?.take()) ?? []) {
      const { resourceVersion, name } = object['metadata'] as Readonly<Record<string, string>>;
      expect(Number(resourceVersion)).toBeGreaterThan(this.#version);
      this.#version = Number(resourceVersion);
      if (type === 'DELETED') this.#objects.delete(name ?? '');
      else this.#put(object);
    }
  }

  #put(object: JsonObject): void {
    this.#objects.set(
      (object['metadata'] as Readonly<Record<string, string>>)['name'] ?? '',
      object,
    );
  }
}
