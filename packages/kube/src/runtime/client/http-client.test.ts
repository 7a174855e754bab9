import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../../objects/core.ts';
import { NODES } from '../../objects/node.ts';
import { PODS, type Pod } from '../../objects/pod.ts';
import { failure, type Status } from '../../status.ts';
import type { CredentialSource } from '../credentials/credential-source.ts';
import { DeadlineError, unlessAborted, withDeadline } from '../deadline.ts';
import { handlerTransport } from '../memory/memory-transport.ts';
import { SeededRandom } from '../memory/seeded-random.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { sleep } from '../ports/clock.ts';
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../ports/transport.ts';
import type { Client } from './client.ts';
import { createClient } from './http-client.ts';

interface Setup {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** `VERB path` of all requests so far. */
  readonly requests: string[];
  readonly last: () => HttpRequest;
}

function setup(handler: HttpHandler, token?: () => Promise<string>): Setup {
  const clock = new VirtualClock();
  const all: HttpRequest[] = [];
  const requests: string[] = [];
  const client = createClient({
    transport: handlerTransport((request) => {
      all.push(request);
      requests.push(`${request.method} ${request.path}`);
      return handler(request);
    }),
    clock,
    random: new SeededRandom(1),
    userAgent: 'test/1',
    ...(token === undefined
      ? {}
      : { credentials: { current: async () => ({ token: await token() }) } }),
  });
  const last = (): HttpRequest => {
    const request = all.at(-1);
    if (request === undefined) throw new Error('no request was sent');
    return request;
  };
  return { client, clock, requests, last };
}

function json(value: unknown, status = 200, headers: Record<string, string> = {}): HttpResponse {
  return { status, headers, body: Buffer.from(JSON.stringify(value)) };
}

function refused(error: { readonly status: Status }, headers: Record<string, string> = {}) {
  return json(error.status, error.status.code, headers);
}

const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'ns' },
  spec: { containers: [] },
};
const STORED = { ...POD, metadata: { ...POD.metadata, uid: 'u', resourceVersion: '7' } };
const AT = { namespace: 'ns', name: 'a' };

async function bodyOf(request: HttpRequest): Promise<unknown> {
  return JSON.parse(Buffer.from(request.body ?? []).toString());
}

describe('a token that the server refuses', () => {
  const answer = (request: HttpRequest): Promise<HttpResponse> =>
    Promise.resolve(
      request.headers['authorization'] === 'Bearer second'
        ? json(STORED)
        : refused(failure('Unauthorized', 'Unauthorized')),
    );

  it('is replaced by the one that came in its place, for writes too', async () => {
    const tokens = ['first', 'second'];
    const { client, requests } = setup(answer, () => Promise.resolve(tokens.shift() ?? 'second'));
    expect(await client.create(PODS, POD)).toEqual(STORED);
    expect(requests).toHaveLength(2);
  });

  it('is reported at once where there is no other', async () => {
    const { client, requests } = setup(answer, () => Promise.resolve('first'));
    await expect(client.get(PODS, AT)).rejects.toMatchObject({ code: 401 });
    expect(requests).toHaveLength(1);
  });
});

describe('credentials', () => {
  const withSource = (credentials: CredentialSource) => {
    const requests: HttpRequest[] = [];
    const clock = new VirtualClock();
    const client = createClient({
      transport: handlerTransport(async (request) => {
        requests.push(request);
        return json(STORED);
      }),
      clock,
      random: new SeededRandom(1),
      userAgent: 'test/1',
      credentials,
    });
    return { client, clock, requests };
  };

  it('may take longer than a request, so that a user can log in', async () => {
    const hour = 3_600_000;
    const { client, clock, requests } = withSource({
      current: async (signal) => {
        await sleep(clock, hour, signal);
        return { token: 'late' };
      },
    });
    const answered = client.create(PODS, POD);
    await clock.advance(hour);
    expect(await answered).toEqual(STORED);
    expect(requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer late']);
  });

  it('are given up with the last request that waits for them', async () => {
    const { client, requests } = withSource({
      current: (signal) => unlessAborted(new Promise(() => undefined), signal),
    });
    const ended = new AbortController();
    const asked = client.get(PODS, AT, { signal: ended.signal });
    ended.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect(requests).toEqual([]);
  });

  it('may be a certificate, for which the connection is to speak', async () => {
    const clientCertificate = { certificate: 'C', key: 'K' };
    const { client, requests } = withSource({
      current: () => Promise.resolve({ clientCertificate }),
    });
    await client.get(PODS, AT);
    expect(requests[0]).toMatchObject({ clientCertificate });
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('requests', () => {
  it.each<[string, (client: Client) => Promise<unknown>, string, unknown, string | undefined]>([
    ['get', (c) => c.get(PODS, AT), 'GET /api/v1/namespaces/ns/pods/a', undefined, undefined],
    [
      'get, cluster-scoped',
      (c) => c.get(NODES, { name: 'n' }),
      'GET /api/v1/nodes/n',
      undefined,
      undefined,
    ],
    [
      'create',
      (c) => c.create(PODS, POD),
      'POST /api/v1/namespaces/ns/pods',
      POD,
      'application/json',
    ],
    [
      'update',
      (c) => c.update(PODS, POD),
      'PUT /api/v1/namespaces/ns/pods/a',
      POD,
      'application/json',
    ],
    [
      'update of a status',
      (c) => c.update(PODS, POD, { subresource: 'status' }),
      'PUT /api/v1/namespaces/ns/pods/a/status',
      POD,
      'application/json',
    ],
    [
      'JSON patch',
      (c) => c.patch(PODS, AT, { type: 'json', operations: [{ op: 'remove', path: '/x' }] }),
      'PATCH /api/v1/namespaces/ns/pods/a',
      [{ op: 'remove', path: '/x' }],
      'application/json-patch+json',
    ],
    [
      'merge patch of a status',
      (c) => c.patch(PODS, AT, { type: 'merge', patch: { a: 1 } }, { subresource: 'status' }),
      'PATCH /api/v1/namespaces/ns/pods/a/status',
      { a: 1 },
      'application/merge-patch+json',
    ],
    [
      'strategic merge patch',
      (c) => c.patch(PODS, AT, { type: 'strategic', patch: { a: 1 } }),
      'PATCH /api/v1/namespaces/ns/pods/a',
      { a: 1 },
      'application/strategic-merge-patch+json',
    ],
    [
      'server-side apply',
      (c) =>
        c.patch(PODS, AT, {
          type: 'apply',
          patch: POD,
          fieldManager: 'me',
          force: true,
          dryRun: 'All',
        }),
      'PATCH /api/v1/namespaces/ns/pods/a?fieldManager=me&force=true&dryRun=All',
      POD,
      'application/apply-patch+yaml',
    ],
    [
      'delete',
      (c) => c.delete(PODS, AT, { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } }),
      'DELETE /api/v1/namespaces/ns/pods/a',
      {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Foreground',
        preconditions: { uid: 'u' },
      },
      'application/json',
    ],
    [
      'create of a subresource',
      (c) => c.createSubresource(PODS, AT, 'binding', POD),
      'POST /api/v1/namespaces/ns/pods/a/binding',
      POD,
      'application/json',
    ],
    ['discovery', (c) => c.getPath('/apis'), 'GET /apis', undefined, undefined],
  ])('%s', async (_, act, request, body, contentType) => {
    const { client, requests, last } = setup(async () => json(STORED));
    await act(client);
    expect(requests).toEqual([request]);
    expect(last().headers['content-type']).toBe(contentType);
    expect(last().headers['user-agent']).toBe('test/1');
    if (body !== undefined) expect(await bodyOf(last())).toEqual(body);
  });

  it('asks for pages, selectors and versions in the query', async () => {
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [] };
    const { client, requests } = setup(async () => json(list));
    await client.list(PODS, {
      namespace: 'ns',
      labelSelector: 'a in (b, c)',
      fieldSelector: 'status.phase!=Failed',
      limit: 500,
      continue: 'a+b/c==',
      signal: new AbortController().signal,
    });
    await client.list(PODS);
    expect(requests).toEqual([
      'GET /api/v1/namespaces/ns/pods?labelSelector=a+in+%28b%2C+c%29' +
        '&fieldSelector=status.phase%21%3DFailed&limit=500&continue=a%2Bb%2Fc%3D%3D',
      'GET /api/v1/pods',
    ]);
  });

  it('sends the token that is valid now', async () => {
    const tokens = ['first', 'second'];
    const { client, last } = setup(
      async () => json(STORED),
      async () => tokens.shift() ?? '',
    );
    await client.get(PODS, AT);
    expect(last().headers['authorization']).toBe('Bearer first');
    await client.get(PODS, AT);
    expect(last().headers['authorization']).toBe('Bearer second');
  });

  it('streams the logs of a container', async () => {
    const { client, requests } = setup(async () => ({
      status: 200,
      headers: {},
      body: {
        async *[Symbol.asyncIterator]() {
          yield Buffer.from('one\n');
          yield Buffer.from([0xff, 0x0a]);
        },
      },
    }));
    const chunks: Uint8Array[] = [];
    const logs = client.logs(AT, { container: 'c', follow: true, tailLines: 5 });
    for await (const chunk of logs) chunks.push(chunk);
    expect(requests).toEqual([
      'GET /api/v1/namespaces/ns/pods/a/log?container=c&follow=true&tailLines=5',
    ]);
    expect(Buffer.concat(chunks)).toEqual(Buffer.from('one\n\xff\n', 'latin1'));
  });
});

describe('lists', () => {
  it('gives items the type that the server leaves out', async () => {
    const item = { metadata: { name: 'a' } };
    const { client } = setup(async () =>
      json({
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9' },
        items: [item],
      }),
    );
    const list = await client.list(CONFIG_MAPS);
    expect(list.items).toEqual([{ ...item, apiVersion: 'v1', kind: 'ConfigMap' }]);
    expect(list.metadata.resourceVersion).toBe('9');
  });

  it('takes null for an empty list', async () => {
    const { client } = setup(async () => json({ kind: 'PodList', metadata: {}, items: null }));
    expect((await client.list(PODS)).items).toEqual([]);
  });

  it('asks for metadata only, and takes it out of whole objects where the server does not', async () => {
    const { client, last } = setup(async () =>
      json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [STORED] }),
    );
    const list = await client.listMetadata(PODS);
    expect(last().headers['accept']).toBe(
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    );
    expect(list.items).toEqual([
      { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: STORED.metadata },
    ]);
  });
});

describe('refusals', () => {
  it.each<[string, HttpResponse, object]>([
    [
      'a Status',
      refused(failure('NotFound', 'pods "a" not found', { name: 'a', kind: 'pods' })),
      { code: 404, reason: 'NotFound', message: 'pods "a" not found' },
    ],
    [
      'a Status without reason and code',
      json({ kind: 'Status', status: 'Failure', message: 'no' }, 403),
      { code: 403, reason: 'Forbidden', message: 'no' },
    ],
    [
      'a plain text',
      { status: 404, headers: {}, body: Buffer.from('404 page not found\n') },
      { code: 404, reason: 'NotFound', message: '404 page not found' },
    ],
    [
      'some other JSON',
      json({ error: 'quota' }, 409),
      { code: 409, reason: 'Conflict', message: '{"error":"quota"}' },
    ],
    [
      'text that begins like JSON',
      { status: 502, headers: {}, body: Buffer.from('{oops') },
      { code: 502, reason: undefined, message: '{oops' },
    ],
    [
      'nothing',
      { status: 500, headers: {}, body: new Uint8Array() },
      { code: 500, reason: 'InternalError', message: 'the server answered 500 without saying why' },
    ],
  ])('%s', async (_, response, expected) => {
    const { client, requests } = setup(async () => response);
    await expect(client.get(PODS, AT)).rejects.toMatchObject({
      name: 'ApiStatusError',
      ...expected,
    });
    expect(requests.length).toBe(1);
  });

  it.each<[string, HttpResponse]>([
    ['HTML', { status: 200, headers: {}, body: Buffer.from('<html>log in</html>') }],
    ['JSON that is no object', json([])],
  ])('%s with code 200 is a failure too', async (_, response) => {
    const { client, clock } = setup(async () => response);
    const updating = client.update(PODS, POD).catch((error: unknown) => error);
    await clock.advance(1_000_000);
    expect(await updating).toMatchObject({ name: 'TransportError', code: 'EBADMSG' });
  });
});

describe('retries', () => {
  const busy = failure('TooManyRequests', 'slow down', { retryAfterSeconds: 1 });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['get', (c) => c.get(PODS, AT)],
    ['create', (c) => c.create(PODS, POD)],
    ['patch', (c) => c.patch(PODS, AT, { type: 'merge', patch: {} })],
    ['delete', (c) => c.delete(PODS, AT)],
  ])('%s is repeated after 429, when the server wants it', async (_, act) => {
    let answers = 0;
    const { client, clock, requests } = setup(async () =>
      ++answers <= 2 ? refused(busy, { 'retry-after': '1' }) : json(STORED),
    );
    const acting = act(client);
    await clock.advance(999);
    expect(requests.length).toBe(1);
    await clock.advance(60_000);
    await acting;
    expect(requests.length).toBe(3);
  });

  it('spreads those that were turned away together, and caps what the server asks for', async () => {
    const random = new SeededRandom(3);
    const clock = new VirtualClock();
    const returns: number[] = [];
    const seen = new Set<string>();
    const transport = handlerTransport(async (request) => {
      if (!seen.has(request.path)) {
        seen.add(request.path);
        return refused(failure('TooManyRequests', 'x'), { 'retry-after': '32' });
      }
      returns.push(clock.monotonic());
      return json(STORED);
    });
    const client = createClient({ transport, clock, random, userAgent: 'test/1' });
    const all = Array.from({ length: 100 }, (_, i) => client.get(PODS, { name: `p${i}` }));
    await clock.advance(100_000);
    await Promise.all(all);

    expect(Math.min(...returns)).toBeGreaterThanOrEqual(8_000);
    expect(Math.max(...returns)).toBeLessThanOrEqual(16_000);
    // No tenth of the time has more than a third of them.
    const perTenth = Array.from({ length: 10 }, () => 0);
    for (const at of returns) {
      const tenth = Math.min(9, Math.floor((at - 8_000) / 800));
      perTenth[tenth] = (perTenth[tenth] ?? 0) + 1;
    }
    expect(Math.max(...perTenth)).toBeLessThan(33);
  });

  it('repeats 503 only with Retry-After', async () => {
    const response = (retryAfter?: string) =>
      refused(
        failure('ServiceUnavailable', 'later'),
        retryAfter === undefined ? {} : { 'retry-after': retryAfter },
      );
    const without = setup(async () => response());
    await expect(without.client.create(PODS, POD)).rejects.toMatchObject({ code: 503 });
    expect(without.requests.length).toBe(1);

    let answers = 0;
    const withIt = setup(async () => (++answers === 1 ? response('1') : json(STORED)));
    const creating = withIt.client.create(PODS, POD);
    await withIt.clock.advance(10_000);
    await creating;
    expect(withIt.requests.length).toBe(2);
  });

  it('repeats a read whose connection broke, and never a write', async () => {
    let answers = 0;
    const broken = async (): Promise<HttpResponse> => {
      if (++answers % 2 === 1) throw new TransportError('reset', { code: 'ECONNRESET' });
      return json(STORED);
    };
    const reading = setup(broken);
    const getting = reading.client.get(PODS, AT);
    await reading.clock.advance(10_000);
    await getting;
    expect(reading.requests.length).toBe(2);

    const writing = setup(broken);
    await expect(writing.client.create(PODS, POD)).rejects.toMatchObject({
      name: 'TransportError',
    });
    expect(writing.requests.length).toBe(1);
  });

  it('gives up after a bounded number of retries, with the last refusal', async () => {
    const { client, clock, requests } = setup(async () => refused(busy));
    const getting = client.get(PODS, AT).catch((error: unknown) => error);
    await clock.advance(1_000_000);
    expect(await getting).toMatchObject({ code: 429, message: 'slow down' });
    expect(requests.length).toBe(11);
  });

  it('stops waiting for a retry when the caller gives up', async () => {
    const { client, clock } = setup(async () => refused(busy));
    const controller = new AbortController();
    const getting = client.get(PODS, AT, { signal: controller.signal }).catch((e: unknown) => e);
    await clock.settle();
    controller.abort(new Error('enough'));
    expect(await getting).toMatchObject({ message: 'enough' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('says why it was still trying when the time of the caller is up', async () => {
    const { client, clock } = setup(() => Promise.reject(new Error('no way there')));
    const getting = withDeadline(clock, 5_000, undefined, (signal) =>
      client.get(PODS, AT, { signal }),
    ).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await getting).toMatchObject({
      name: 'DeadlineError',
      message: 'not done within 5000 ms',
      cause: { name: 'TransportError', code: 'ECONNRESET' },
    });
  });
});

describe('time', () => {
  it('gives up on a server that never answers, for any verb', async () => {
    const { client, clock, requests } = setup(() => new Promise(() => undefined));
    const creating = client.create(PODS, POD).catch((error: unknown) => error);
    await clock.advance(65_000);
    expect(await creating).toMatchObject({ name: 'TransportError', code: 'ETIMEDOUT' });
    expect(requests.length).toBe(1);

    const watching = client
      .watch(PODS, {})
      [Symbol.asyncIterator]()
      .next()
      .catch((e: unknown) => e);
    await clock.advance(65_000);
    expect(await watching).toMatchObject({ name: 'TransportError', code: 'ETIMEDOUT' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends for the deadline of its caller with that, also before there is an answer', async () => {
    const { client } = setup(() => new Promise(() => undefined));
    const caller = new AbortController();
    const { signal } = caller;
    const watching = client.watch(PODS, { signal })[Symbol.asyncIterator]().next();
    const getting = client.get(PODS, AT, { signal });
    const reason = new DeadlineError('another watch is wanted');
    caller.abort(reason);
    await expect(watching).rejects.toBe(reason);
    await expect(getting).rejects.toBe(reason);
  });

  it('gives up on a body that does not end', async () => {
    const { client, clock } = setup(async () => ({
      status: 200,
      headers: {},
      body: {
        async *[Symbol.asyncIterator]() {
          yield Buffer.from('{');
          await new Promise(() => undefined);
        },
      },
    }));
    const creating = client.create(PODS, POD).catch((error: unknown) => error);
    await clock.advance(65_000);
    expect(await creating).toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('sends nothing for a caller that gave up before', async () => {
    const { client, requests } = setup(async () => json(STORED));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.get(PODS, AT, { signal })).rejects.toThrow('enough');
    await expect(client.watch(PODS, { signal })[Symbol.asyncIterator]().next()).rejects.toThrow(
      'enough',
    );
    expect(requests).toEqual([]);
  });
});
