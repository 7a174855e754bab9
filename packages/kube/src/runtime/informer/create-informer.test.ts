import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../meta.ts';
import { PODS, type Pod } from '../../objects/pod.ts';
import { failure, type StatusReason } from '../../status.ts';
import { createClient } from '../client/http-client.ts';
import { deepFrozen } from '../memory/deep-frozen.ts';
import { MemoryCollection } from '../memory/memory-collection.ts';
import { MemoryLogger } from '../memory/memory-logger.ts';
import { handlerTransport } from '../memory/memory-transport.ts';
import { SeededRandom } from '../memory/seeded-random.ts';
import { eventLoopTurn, VirtualClock } from '../memory/virtual-clock.ts';
import { type HttpResponse, TransportError } from '../ports/transport.ts';
import { createInformer, type InformerOptions } from './create-informer.ts';
import type { Informer } from './informer.ts';

interface Setup {
  readonly server: MemoryCollection;
  readonly clock: VirtualClock;
  readonly logger: MemoryLogger;
  readonly informer: Informer<Pod>;
  /** `added a`, `updated a`, `deleted a`, in order. */
  readonly seen: string[];
}

function setup(
  prepare: (server: MemoryCollection) => void = () => undefined,
  options: Partial<InformerOptions<Pod>> = {},
): Setup {
  const server = new MemoryCollection();
  prepare(server);
  const clock = new VirtualClock();
  const random = new SeededRandom(7);
  const logger = new MemoryLogger();
  const transport = handlerTransport(server.handler);
  const client = createClient({ transport, clock, random, userAgent: 'test/1' });
  const informer = createInformer({ client, resource: PODS, clock, random, logger, ...options });
  const seen: string[] = [];
  informer.subscribe({
    added: (object) => seen.push(`added ${object.metadata.name}`),
    updated: (object) => seen.push(`updated ${object.metadata.name}`),
    deleted: (object) => seen.push(`deleted ${object.metadata.name}`),
  });
  return { server, clock, logger, informer, seen };
}

/** What two copies of a collection must agree on. */
function contents(objects: Iterable<KubeObject>): readonly string[] {
  const line = ({ metadata: { name, uid, resourceVersion } }: KubeObject) =>
    `${name} ${uid} ${resourceVersion}`;
  return [...objects].map(line).sort();
}

function expectInStep({ server, informer }: Setup): void {
  expect(contents(informer.store.values())).toEqual(contents(server.objects.values()));
}

/** Long enough for any back-off. */
const LONG_MS = 120_000;

function answer(reason: StatusReason, code?: number): HttpResponse {
  const { status } = failure(reason, 'as the test wants it');
  const body = Buffer.from(JSON.stringify({ ...status, code: code ?? status.code }));
  return { status: code ?? status.code, headers: {}, body };
}

function streamOf(...chunks: readonly (string | Error)[]): HttpResponse {
  return {
    status: 200,
    headers: {},
    body: {
      async *[Symbol.asyncIterator]() {
        for (const chunk of chunks) {
          if (chunk instanceof Error) throw chunk;
          yield Buffer.from(chunk);
        }
      },
    },
  };
}

const reset = (): TransportError => new TransportError('reset', { code: 'ECONNRESET' });
const isWatch = (query: URLSearchParams): boolean => query.get('watch') === 'true';
const lists = (server: MemoryCollection): URLSearchParams[] =>
  server.requests.filter((query) => !isWatch(query));
const watches = (server: MemoryCollection): URLSearchParams[] => server.requests.filter(isWatch);

describe('an informer', () => {
  it('loads the collection in pages, then follows it with bookmarks on', async () => {
    const at = setup((server) => {
      for (let i = 0; i < 1_200; i++) server.set(`p${i}`);
    });
    expect(at.informer.hasSynced()).toBe(false);
    await at.clock.settle();

    expect(at.informer.hasSynced()).toBe(true);
    expectInStep(at);
    expect(lists(at.server).map((query) => query.get('limit'))).toEqual(['500', '500', '500']);
    const [watch] = watches(at.server);
    expect(watch?.get('resourceVersion')).toBe(at.server.resourceVersion);
    expect(watch?.get('allowWatchBookmarks')).toBe('true');
    expect(Number(watch?.get('timeoutSeconds'))).toBeGreaterThanOrEqual(290);
    expect(Number(watch?.get('timeoutSeconds'))).toBeLessThanOrEqual(319);
    at.seen.length = 0;

    at.server.set('new');
    at.server.set('p1');
    at.server.delete('p2');
    await at.clock.settle();
    expect(at.seen).toEqual(['added new', 'updated p1', 'deleted p2']);
    expectInStep(at);
  });

  it('shows nothing of a collection before all of it is there', async () => {
    let release: () => void = () => undefined;
    const at = setup((server) => {
      for (let i = 0; i < 600; i++) server.set(`p${i}`);
      const released = new Promise<undefined>((resolve) => {
        release = () => resolve(undefined);
      });
      server.fault = (query) => (query.has('continue') ? released : undefined);
    });
    await at.clock.settle();
    expect([at.informer.store.size, at.seen.length]).toEqual([0, 0]);
    release();
    await at.clock.settle();
    expect([at.informer.store.size, at.seen.length]).toEqual([600, 600]);
  });

  it('tells a late subscriber what there is, and keeps going when a handler fails', async () => {
    const at = setup((server) => server.set('a'));
    await at.informer.whenSynced(undefined).then(
      () => undefined,
      () => undefined,
    );
    const late: string[] = [];
    at.informer.subscribe({
      added: (object) => {
        late.push(object.metadata.name);
        throw new Error('a bug');
      },
    });
    at.server.set('b');
    await at.clock.settle();
    expect(late).toEqual(['a', 'b']);
    expect(at.seen).toEqual(['added a', 'added b']);
    expect(at.logger.records.filter((record) => record.level === 'error').length).toBe(2);
  });

  it('drops managed fields', async () => {
    const at = setup((server) => {
      server.set('a');
      const [object] = server.objects.values();
      Object.assign(object?.metadata ?? {}, { managedFields: [{ manager: 'x' }] });
    });
    await at.clock.settle();
    expect(at.informer.store.get('ns/a')?.metadata).not.toHaveProperty('managedFields');
    expect(at.informer.store.get('ns/a')?.metadata.uid).toBe('uid-1');
  });

  it('keeps of an object what it is told to, however the object came', async () => {
    const at = setup((server) => server.set('listed'), { transform: deepFrozen });
    await at.clock.settle();
    at.server.set('watched');
    await at.clock.settle();
    for (const { metadata } of at.informer.store.values()) {
      expect(() => Object.assign(metadata.labels ?? {}, { a: 'b' })).toThrow(TypeError);
    }
    expect(at.informer.store.size).toBe(2);
  });

  it('leaves out objects that do not count, and those that no longer do', async () => {
    const isKept = (name: string): boolean => !name.startsWith('not');
    let hasChanged = false;
    const at = setup(
      (server) => {
        server.set('a');
        server.set('not-b');
      },
      { keeps: ({ metadata: { name } }) => isKept(name) && !(hasChanged && name === 'a') },
    );
    await at.clock.settle();
    at.server.set('c');
    at.server.set('not-d');
    await at.clock.settle();
    hasChanged = true;
    at.server.set('a');
    at.server.set('not-b');
    await at.clock.settle();
    expect(at.seen).toEqual(['added a', 'added c', 'deleted a']);
    expect([...at.informer.store.values()].map(({ metadata }) => metadata.name)).toEqual(['c']);
    expect(at.informer.store.resourceVersion).toBe(at.server.resourceVersion);
  });

  it('asks for its selectors, and for metadata only where it is told to', async () => {
    const accepted: (string | undefined)[] = [];
    const server = new MemoryCollection();
    server.set('a');
    server.fault = (_, request) => {
      accepted.push(request.headers['accept']);
      return undefined;
    };
    const clock = new VirtualClock();
    const random = new SeededRandom(1);
    const informer = createInformer({
      client: createClient({
        transport: handlerTransport(server.handler),
        clock,
        random,
        userAgent: 't',
      }),
      resource: PODS,
      namespace: 'ns',
      labelSelector: 'a=b',
      fieldSelector: 'status.phase!=Failed',
      metadataOnly: true,
      clock,
      random,
      logger: new MemoryLogger(),
    });
    await clock.settle();
    server.set('b');
    await clock.settle();

    for (const query of server.requests) {
      expect(query.get('labelSelector')).toBe('a=b');
      expect(query.get('fieldSelector')).toBe('status.phase!=Failed');
    }
    expect(accepted).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
    expect([...informer.store.values()].map((object) => object.kind)).toEqual([
      'PartialObjectMetadata',
      'PartialObjectMetadata',
    ]);
  });

  it('lets other work have a turn within a burst of events', async () => {
    const at = setup();
    await at.clock.settle();
    for (let i = 0; i < 1_000; i++) at.server.set(`p${i}`);
    await eventLoopTurn();
    expect(at.seen.length).toBe(250);
    await at.clock.settle();
    expect(at.seen.length).toBe(1_000);
  });

  it('ends its request and all its timers when it is stopped, and keeps its objects', async () => {
    const at = setup((server) => server.set('a'));
    await at.clock.settle();
    expect(at.server.openWatches).toBe(1);
    await at.informer.stop();
    await at.clock.settle();
    expect(at.server.openWatches).toBe(0);
    expect(at.clock.pendingTimers).toBe(0);
    expect(at.informer.store.size).toBe(1);
  });

  it('can be stopped while it waits for anything', async () => {
    const silent = setup((server) => {
      server.fault = () => new Promise(() => undefined);
    });
    const refused = setup((server) => {
      server.fault = () => answer('InternalError');
    });
    for (const at of [silent, refused]) {
      const synced = at.informer.whenSynced(AbortSignal.abort(new Error('enough')));
      await expect(synced).rejects.toThrow('enough');
      await at.clock.settle();
      await at.informer.stop();
      expect(at.clock.pendingTimers).toBe(0);
    }
  });
});

describe('after a fault', () => {
  const faults: readonly [string, () => HttpResponse][] = [
    [
      'a refused connection',
      () => {
        throw new TransportError('refused', { code: 'ECONNREFUSED' });
      },
    ],
    ['a connection reset within the answer', () => streamOf('{"kind":"PodList","ite', reset())],
    ['an answer that ends too early', () => streamOf('{"kind":"PodList","ite')],
    ['an answer that is not JSON', () => streamOf('<html>\n')],
    ['500', () => answer('InternalError')],
    ['503', () => answer('ServiceUnavailable')],
    ['429', () => answer('TooManyRequests')],
    ['401', () => answer('Unauthorized')],
    ['403', () => answer('Forbidden')],
    ['404', () => answer('NotFound')],
    ['410', () => answer('Expired')],
    ['400', () => answer('BadRequest')],
    [
      '502 without a Status',
      () => ({ status: 502, headers: {}, body: Buffer.from('Bad Gateway') }),
    ],
    [
      'a version of another history',
      () => {
        const causes = [{ reason: 'ResourceVersionTooLarge' }];
        const { status } = failure('Timeout', 'Too large resource version', { causes });
        return { status: 504, headers: {}, body: Buffer.from(JSON.stringify(status)) };
      },
    ],
  ];

  it.each(faults)('of the list, %s, the collection arrives all the same', async (_, fault) => {
    const at = setup((server) => {
      server.set('a');
      let left = 3;
      server.fault = (query) => (!isWatch(query) && left-- > 0 ? fault() : undefined);
    });
    await at.clock.advance(LONG_MS);
    expect(at.informer.hasSynced()).toBe(true);
    expectInStep(at);
    expect(at.seen).toEqual(['added a']);
  });

  it.each(faults)('of the watch, %s, nothing is missed', async (_, fault) => {
    const at = setup((server) => {
      server.set('a');
      let left = 3;
      server.fault = (query) => (isWatch(query) && left-- > 0 ? fault() : undefined);
    });
    await at.clock.settle();
    at.server.set('b');
    at.server.delete('a');
    await at.clock.advance(LONG_MS);
    expectInStep(at);
    expect(at.seen.toSorted()).toEqual(['added a', 'added b', 'deleted a']);
  });

  it('resumes from the last version, and lists nothing again', async () => {
    const at = setup((server) => server.set('a'));
    await at.clock.settle();
    at.server.set('b');
    await at.clock.settle();
    at.server.set('c');
    at.server.bookmark();
    await at.clock.settle();
    const version = at.server.resourceVersion;
    at.server.endWatches(reset());
    await at.clock.advance(1_000);

    expect(lists(at.server).length).toBe(1);
    expect(watches(at.server).map((query) => query.get('resourceVersion'))).toEqual([
      '101',
      version,
    ]);
    expect(at.seen).toEqual(['added a', 'added b', 'added c']);
  });

  it('resumes from a bookmark, where events were too old to be there still', async () => {
    const at = setup((server) => server.set('a'));
    await at.clock.settle();
    at.server.changeElsewhere();
    at.server.bookmark();
    await at.clock.settle();
    at.server.compact();
    at.server.endWatches();
    await at.clock.advance(1_000);
    expect(lists(at.server).length).toBe(1);
    expect(at.server.openWatches).toBe(1);
  });

  it.each([
    [
      'cut off within an event',
      '{"type":"ADDED","object":{"metadata":{"name":"x","resourc',
      undefined,
    ],
    ['reset within an event', '{"type":"ADDED","object":{"metadata":{"name":"x","resourc', reset()],
    ['broken by nonsense', 'nonsense\n', undefined],
  ])('a watch %s loses nothing and invents nothing', async (_, bytes, error) => {
    const at = setup((server) => server.set('a'));
    await at.clock.settle();
    at.server.sendRaw(bytes);
    await at.clock.settle();
    at.server.endWatches(error);
    at.server.set('b');
    await at.clock.advance(LONG_MS);
    expect(at.seen).toEqual(['added a', 'added b']);
    expect(lists(at.server).length).toBe(1);
  });

  it('lists again after an expired version in the stream, and reports vanished objects', async () => {
    const at = setup((server) => {
      server.set('stays');
      server.set('goes');
      server.set('changes');
      server.set('returns');
    });
    await at.clock.settle();
    at.seen.length = 0;
    const { status } = failure('Expired', 'too old resource version');
    at.server.sendRaw(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    at.server.endWatches();
    at.server.delete('goes');
    at.server.set('changes');
    at.server.delete('returns');
    at.server.set('returns');
    at.server.set('new');
    at.server.compact();
    await at.clock.advance(LONG_MS);

    expectInStep(at);
    expect(lists(at.server).length).toBe(2);
    expect(at.seen.toSorted()).toEqual([
      'added new',
      'added returns',
      'deleted goes',
      'deleted returns',
      'updated changes',
    ]);
    expect(at.seen.indexOf('deleted returns')).toBeLessThan(at.seen.indexOf('added returns'));
  });

  it('takes the whole list at once when its pages expire', async () => {
    const at = setup((server) => {
      for (let i = 0; i < 600; i++) server.set(`p${i}`);
      server.fault = (query) => (query.has('continue') ? answer('Expired') : undefined);
    });
    await at.clock.advance(LONG_MS);
    expectInStep(at);
    expect(lists(at.server).map((query) => query.get('limit'))).toEqual(['500', '500', null]);
  });

  it('takes no harm from events that come again or out of order', async () => {
    const at = setup((server) => server.set('a'));
    await at.clock.settle();
    at.server.set('b');
    at.server.set('b');
    at.server.delete('a');
    await at.clock.settle();
    at.seen.length = 0;
    at.server.replay(3);
    at.server.set('c');
    at.server.replay(5);
    await at.clock.settle();
    expect(at.seen).toEqual(['added c']);
    expectInStep(at);
  });

  it('gives up on a watch that outlives its time, and resumes it', async () => {
    const at = setup((server) => server.set('a'));
    await at.clock.settle();
    // The connection died silently: the server sends on, and nothing arrives.
    at.server.endWatches();
    let silent = true;
    at.server.fault = (query) =>
      silent && isWatch(query)
        ? {
            status: 200,
            headers: {},
            body: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) },
          }
        : undefined;
    await at.clock.advance(2_000);
    at.server.set('b');
    silent = false;
    await at.clock.advance(280_000);
    expect(at.seen).toEqual(['added a']);
    await at.clock.advance(60_000);
    expect(at.seen).toEqual(['added a', 'added b']);
    expect(lists(at.server).length).toBe(1);
    // Only the watch that ended at once counts as a failure; one that grew old does not.
    expect(at.logger.records.map((record) => record.message)).toEqual(['watching failed']);
  });

  it('backs off for a server that is down, and starts short again for its next fault', async () => {
    const at = setup();
    await at.clock.settle();
    at.server.endWatches();
    at.server.fault = () => {
      throw reset();
    };
    await at.clock.advance(10 * 60_000);
    const whileDown = at.server.requests.length;
    // 0.2 s doubling to 30 s, stretched by half on average, for 600 s.
    expect(whileDown).toBeGreaterThan(15);
    expect(whileDown).toBeLessThan(35);

    at.server.fault = () => undefined;
    await at.clock.advance(75_000);
    expect(at.server.openWatches).toBe(1);
    at.server.endWatches(reset());
    at.server.set('a');
    await at.clock.advance(1_000);
    expectInStep(at);
  });

  it('does not hammer a server that ends every watch at once', async () => {
    const at = setup((server) => {
      server.fault = (query) => (isWatch(query) ? streamOf() : undefined);
    });
    await at.clock.advance(10 * 60_000);
    expect(watches(at.server).length).toBeLessThan(40);
    expect(lists(at.server).length).toBe(1);
    at.server.fault = () => undefined;
    at.server.set('a');
    await at.clock.advance(LONG_MS);
    expectInStep(at);
  });

  it('reconnects at once when a watch ends in its time', async () => {
    const at = setup();
    await at.clock.advance(300_000);
    at.server.endWatches();
    at.server.set('a');
    await at.clock.settle();
    expectInStep(at);
  });

  it('asks a server that never answers again', async () => {
    const at = setup((server) => {
      server.set('a');
      let left = 2;
      server.fault = () => (left-- > 0 ? new Promise(() => undefined) : undefined);
    });
    await at.clock.advance(5 * 60_000);
    expectInStep(at);
  });

  it('names the resource, the error and the wait in the log', async () => {
    const at = setup((server) => {
      server.fault = () => answer('Forbidden');
    });
    await at.clock.settle();
    expect(at.logger.records).toEqual([
      {
        level: 'warn',
        message: 'listing failed',
        fields: {
          resource: 'pods',
          err: expect.objectContaining({ code: 403 }),
          retryInMs: expect.any(Number),
        },
      },
    ]);
  });
});

describe('loading as the beginning of the watch', () => {
  const stream = { load: 'stream' } as const;

  it('takes the initial events and continues in the same request', async () => {
    const at = setup((server) => {
      for (let i = 0; i < 600; i++) server.set(`p${i}`);
    }, stream);
    await at.clock.settle();
    expect(at.informer.store.size).toBe(600);
    at.server.set('new');
    await at.clock.settle();
    expectInStep(at);
    expect(at.server.requests.length).toBe(1);
    expect(at.server.requests[0]?.get('resourceVersionMatch')).toBe('NotOlderThan');
  });

  it('shows nothing of initial events that break off', async () => {
    const at = setup((server) => {
      server.set('a');
      let left = 1;
      const line = '{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"5"}}}\n';
      server.fault = () => (left-- > 0 ? streamOf(line, reset()) : undefined);
    }, stream);
    await at.clock.advance(LONG_MS);
    expect(at.seen).toEqual(['added a']);
  });

  it.each<[string, () => HttpResponse]>([
    ['refuses it', () => answer('Invalid')],
    [
      'has never heard of it, and just waits',
      () => ({
        status: 200,
        headers: {},
        body: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) },
      }),
    ],
  ])('turns to pages for a server that %s', async (_, response) => {
    const at = setup((server) => {
      server.set('a');
      server.fault = (query) => (query.has('sendInitialEvents') ? response() : undefined);
    }, stream);
    await at.clock.advance(LONG_MS);
    expectInStep(at);
    expect(lists(at.server).length).toBe(1);
    expect(watches(at.server).length).toBe(2);
  });

  it('streams again when its version is gone, and reports what vanished', async () => {
    const at = setup((server) => server.set('a'), stream);
    await at.clock.settle();
    at.server.endWatches(reset());
    at.server.delete('a');
    at.server.set('b');
    at.server.compact();
    await at.clock.advance(LONG_MS);
    expectInStep(at);
    expect(at.seen).toEqual(['added a', 'deleted a', 'added b']);
  });
});

describe('under any sequence of changes and faults', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const operation = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), name }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(20_000) }) },
    fc.constant({ do: 'bookmark' as const }),
    fc.constant({ do: 'compact' as const }),
    fc.constant({ do: 'end' as const }),
    fc.constant({ do: 'reset' as const }),
    fc.constant({ do: 'replay' as const }),
    fc.record({ do: fc.constant('outage' as const), requests: fc.integer({ min: 1, max: 4 }) }),
  );

  /** Outages in a row end in waits of up to a minute each. */
  const AFTER_OUTAGES_MS = 10 * 60_000;

  it.each(['pages', 'stream'] as const)(
    'it agrees with the server in the end (%s)',
    async (load) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(operation, { maxLength: 40, size: 'max' }),
          async (operations) => {
            const at = setup((server) => server.set('a'), { load });
            const told = new Map<string, string>();
            at.informer.subscribe({
              added: ({ metadata }) => {
                expect(told.has(metadata.name)).toBe(false);
                told.set(metadata.name, metadata.uid);
              },
              updated: ({ metadata }, old) => {
                expect(told.get(metadata.name)).toBe(metadata.uid);
                expect(old.metadata.uid).toBe(metadata.uid);
                expect(Number(metadata.resourceVersion)).toBeGreaterThan(
                  Number(old.metadata.resourceVersion),
                );
              },
              deleted: ({ metadata }) => {
                expect(told.get(metadata.name)).toBe(metadata.uid);
                told.delete(metadata.name);
              },
            });
            for (const step of operations) {
              switch (step.do) {
                case 'set':
                  at.server.set(step.name);
                  break;
                case 'delete':
                  at.server.delete(step.name);
                  break;
                case 'wait':
                  await at.clock.advance(step.ms);
                  break;
                case 'bookmark':
                  at.server.bookmark();
                  break;
                case 'compact':
                  at.server.compact();
                  break;
                case 'end':
                  at.server.endWatches();
                  break;
                case 'reset':
                  at.server.endWatches(reset());
                  break;
                case 'replay':
                  at.server.replay(3);
                  break;
                case 'outage': {
                  let left = step.requests;
                  at.server.fault = () => {
                    if (left-- > 0) throw reset();
                    return undefined;
                  };
                  break;
                }
              }
            }
            await at.clock.advance(AFTER_OUTAGES_MS);
            expectInStep(at);
            expect([...told.keys()].sort()).toEqual([...at.server.objects.keys()].sort());
            expect(at.logger.records.filter((record) => record.level === 'error')).toEqual([]);
            await at.informer.stop();
            expect(at.clock.pendingTimers).toBe(0);
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
